"""The memory without its screens: interprets, searches, evaluates and maintains the recorded prompts and calls."""

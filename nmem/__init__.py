"""The headless memory: interprets, searches, evaluates and maintains recorded facts."""

"""Calls the person when a session waits for them or failed: how, for what, and each thing once."""

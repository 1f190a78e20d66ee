"""Capture: turns a client's hook events into redacted rows. Standard library only."""

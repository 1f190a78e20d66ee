"""Writes facts: a client's hook event in, redacted rows out. Standard library only."""

"""Reads a conversation with patterns alone: which words ask, agree, correct or settle something."""

"""Finds questions, agreements, corrections and decisions in a conversation, by regular expressions alone."""

"""Decisions made in conversation: what a person settles with an agent, found in recorded prompts."""

"""Decisions said in passing: what a person settles while talking to an agent, found in the recorded conversation."""

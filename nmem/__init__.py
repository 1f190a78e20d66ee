"""Interprets facts: reads, searches, evaluates and maintains the memory. Headless."""

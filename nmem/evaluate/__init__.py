"""Evaluations: each prints its figures next to a named baseline."""

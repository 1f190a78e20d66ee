"""The extractive narrator: turns an episode's records into its story without a model; quotes and counts only."""

from __future__ import annotations

WORDING = 21
"""Raised by hand when stories read otherwise: those that were told with a lower number are worded anew, once."""

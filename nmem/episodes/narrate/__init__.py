"""The extractive narrator: an episode's records -> its Narrative. It quotes and counts, it never makes up."""

from __future__ import annotations

WORDING = 13
"""Raised by hand when stories read otherwise: those that were told with a lower number are worded anew, once."""

"""The extractive narrator: an episode's records -> its Narrative. It quotes and counts, it never makes up."""

from __future__ import annotations

"""Constants shared by folding and ranking. On the hook's path."""

from __future__ import annotations

POSTINGS = 128
"""Turns, and files, remembered a word: the newest."""
SHORT, LONG = 5.0, 20.0
"""Half-lives of heat, in sessions."""
PLAIN = frozenset(("main", "master", "next", "develop", "dev", "trunk", "head", ""))
"""Branches whose name says nothing of the work, in lower case."""

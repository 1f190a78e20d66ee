"""What linking reads in a text beside its tokens: symbols and issue numbers; tokens are those of episodes."""

from __future__ import annotations

from nmem.episodes.text import MAX_CHARS, file_mentions, is_cjk, path_key, runs, split_identifier, tokens

__all__ = ["MAX_CHARS", "file_mentions", "issue_refs", "path_key", "symbols", "tokens"]

_ISSUE_MARKS = ("#", "/pull/", "/issues/", "pr ", "issue ")
_DIGITS = 6


def symbols(text: str) -> set[str]:
    """Identifiers of several parts that a text names: camelCase, snake_case."""
    return {
        run.lower()
        for run in runs(text[:MAX_CHARS])
        if len(run) > 4 and not is_cjk(run[0]) and len(split_identifier(run)) > 1
    }


def issue_refs(text: str) -> set[str]:
    """The numbers in #123, PR 123, issue 123, /pull/123 and /issues/123."""
    low = text[:MAX_CHARS].lower()
    return {number for mark in _ISSUE_MARKS for number in _after(low, mark) if 1 <= len(number) <= _DIGITS}


def _after(text: str, mark: str) -> list[str]:
    """The digits that follow a mark, at each place where it stands."""
    found = []
    at = text.find(mark)
    while at >= 0:
        start = end = at + len(mark)
        while end < len(text) and text[end] in "0123456789":
            end += 1
        found.append(text[start:end])
        at = text.find(mark, end)
    return found

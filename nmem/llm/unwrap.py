"""Extracts answer and cost from a client's output: one JSON object, a line per event, or bare text."""

from __future__ import annotations

import json
from collections.abc import Iterator

Usage = tuple[int, int] | None
"""Tokens of the question and of the answer as the client tells them, None when it does not."""
_MOST = 10**7


def unwrap(form: str, out: str) -> tuple[str, Usage]:
    """The text of the answer (empty when it is elsewhere or there is none) and what it cost."""
    if form == "codex":
        return "", _last_usage(out)
    if form == "text":
        return out, None
    value = _object(out)
    if value is None or value.get("is_error") is True:
        return "", None
    text = value.get("result" if form == "claude" else "response")
    usage = _claude_usage(value) if form == "claude" else _gemini_usage(value)
    return text if isinstance(text, str) else "", usage


def _object(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _claude_usage(value: dict[str, object]) -> Usage:
    told = value.get("usage")
    if not isinstance(told, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return _pair(sum(_whole(told.get(name)) for name in names), _whole(told.get("output_tokens")))


def _gemini_usage(value: dict[str, object]) -> Usage:
    asked = answered = 0
    for model in _children(_child(_child(value, "stats"), "models")):
        told = _child(model, "tokens")
        prompt, total = _whole(told.get("prompt")), _whole(told.get("total"))
        asked, answered = asked + prompt, answered + max(0, total - prompt)
    return _pair(asked, answered)


def _last_usage(out: str) -> Usage:
    usage: Usage = None
    for line in out.splitlines():
        if '"turn.completed"' in line and (value := _object(line)):
            told = _child(value, "usage")
            usage = _pair(_whole(told.get("input_tokens")), _whole(told.get("output_tokens"))) or usage
    return usage


def _child(value: dict[str, object], name: str) -> dict[str, object]:
    child = value.get(name)
    return child if isinstance(child, dict) else {}


def _children(value: dict[str, object]) -> Iterator[dict[str, object]]:
    return (child for child in value.values() if isinstance(child, dict))


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else 0


def _pair(asked: int, answered: int) -> Usage:
    return (asked, answered) if asked and answered else None

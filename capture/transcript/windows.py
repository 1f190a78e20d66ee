"""How much context a model has, where the client does not say: a few names that differ from their family."""

from __future__ import annotations

_DEFAULT = 200_000
_MILLION = 1_000_000

_WINDOWS = (
    ("[1m]", _MILLION),
    ("claude-opus-5", _MILLION),
    ("claude-sonnet-5", _MILLION),
    ("gemini", 1_048_576),
    ("gpt-5", 258_400),
)


def window(model: str, tokens: int | None = None) -> int:
    """Tokens that fit; never less than were already in use."""
    name = model.lower()
    size = next((size for part, size in _WINDOWS if part in name), _DEFAULT)
    return max(size, _MILLION) if tokens and tokens > size else size

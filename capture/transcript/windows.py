"""Context window sizes of models, by family, for clients that do not report them."""

from __future__ import annotations

_MILLION = 1_000_000
_OLD = 200_000

_WINDOWS = (
    ("[1m]", _MILLION),
    ("claude-opus-5", _MILLION),
    ("claude-sonnet-5", _MILLION),
    ("claude-opus-4", _OLD),
    ("claude-sonnet-4", _OLD),
    ("claude-haiku-4", _OLD),
    ("claude-3", _OLD),
    ("gemini", 1_048_576),
    ("gpt-5", 258_400),
)


def window(model: str, tokens: int | None = None) -> int | None:
    """Tokens that fit, never less than were already in use; None for a model that nobody told of."""
    name = model.lower()
    size = next((size for part, size in _WINDOWS if part in name), None)
    return max(size, _MILLION) if size and tokens and tokens > size else size

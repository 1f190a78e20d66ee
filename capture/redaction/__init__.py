"""Secrets out: what a text may hold of keys, tokens and passwords becomes `[REDACTED:kind]`.

Finders read the text side by side, each behind a substring test; what they find is merged and replaced once.
"""

from __future__ import annotations

from capture import settings
from capture.redaction import finders, verdict
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]


def redact(text: str, counts: dict[str, int] | None = None) -> str:
    """The text with each secret replaced by `[REDACTED:kind]`; `counts` gains how many of each kind."""
    if len(text) < 6:
        return text
    spans = find(text)
    if not spans:
        return text
    parts, start = [], 0
    for begin, end, kind in spans:
        parts.append(text[start:begin])
        parts.append(f"[REDACTED:{kind}]")
        start = end
        if counts is not None:
            counts[kind] = counts.get(kind, 0) + 1
    parts.append(text[start:])
    return "".join(parts)


def redact_tree(value: object, counts: dict[str, int] | None = None, name: str = "") -> object:
    """Redact every string in a JSON-like value, keys too; a key that names a secret condemns its value."""
    if isinstance(value, str):
        if name and verdict.named(name, value) and not settings.load().allows(value):
            kind = verdict.kind_of(name)
            if counts is not None:
                counts[kind] = counts.get(kind, 0) + 1
            return f"[REDACTED:{kind}]"
        return redact(value, counts)
    if isinstance(value, dict):
        return {redact(str(key), counts): redact_tree(item, counts, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_tree(item, counts, name) for item in value]
    return value


def find(text: str) -> list[Span]:
    """(start, end, kind) of every secret, in order, not overlapping."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(char.lower() if char.isascii() else char for char in text)
    known = settings.load()
    spans: list[Span] = []
    for finder in finders.FINDERS if len(text) >= finders.SHORT else finders.NAMED:
        spans += finder(text, low)
    for name, source in known.patterns:
        spans += _own(text, name, source)
    if not spans:
        return spans
    if known.allow or known.allow_patterns:
        spans = [span for span in spans if not known.allows(text[span[0] : span[1]])]
    return _merged(spans)


def _merged(spans: list[Span]) -> list[Span]:
    """Overlapping spans become one, of the kind of the more specific finder, which is the earlier one."""
    ranked = sorted(enumerate(spans), key=lambda item: (item[1][0], item[0]))
    out: list[tuple[int, Span]] = []
    for rank, (begin, end, kind) in ranked:
        if out and begin < out[-1][1][1]:
            best, (first, last, named) = out[-1]
            out[-1] = (min(best, rank), (first, max(last, end), named if best < rank else kind))
        else:
            out.append((rank, (begin, end, kind)))
    return [span for _, span in out]


def _own(text: str, name: str, source: str) -> list[Span]:
    """A pattern of the user's: its first group, if it has one, is the secret."""
    spans = []
    for matched in pattern(source).finditer(text):
        begin, end = matched.span(1 if matched.re.groups and matched.start(1) >= 0 else 0)
        if end > begin:
            spans.append((begin, end, name))
    return spans

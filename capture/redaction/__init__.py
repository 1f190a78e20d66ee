"""Redaction: replaces keys, tokens and passwords in a text by `[REDACTED:kind]`.

Finders read the text side by side, each behind a substring test; what they find is merged and replaced once.
"""

from __future__ import annotations

from capture.redaction import finders, settings, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]

WITHHELD = "withheld"
"""The kind of a text that goes whole: a pattern of the user's takes too long for it, so nobody knows what it holds."""


PLACES = frozenset((
    "cwd", "file", "file_path", "filePath", "files", "files_edited", "files_read", "folder", "gitBranch", "hot_files",
    "model", "moved_from", "path", "place", "root", "tool_name", "transcript_path", "worktree_path",
))  # fmt: skip
"""Keys and columns of what is a path or a name."""


def redact(text: str, counts: dict[str, int] | None = None, *, own: bool = True, place: bool = False) -> str:
    """The text with each secret replaced by `[REDACTED:kind]`; `counts` gains how many of each kind.

    `own`: by the user's patterns as well as by the built-in detectors. `place`: it is a path or a name, of which also
    sensitivity "strict" takes secrets alone.
    """
    if len(text) < 6:
        return text
    spans = find(text, own=own, place=place)
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


def outward(text: str, *, place: bool = False) -> str:
    """`redact` for what leaves the memory: it may be older than the rules in force.

    By the rules of the project that the thread is within (`settings.Within`), else by those of every project.
    """
    if settings.named():
        return redact(text, place=place)
    with settings.everywhere():
        return redact(text, place=place)


def redact_tree(value: object, counts: dict[str, int] | None = None, name: str = "") -> object:
    """Redact every string in a JSON-like value, keys too; a key that names a secret condemns its value."""
    if isinstance(value, str):
        if name.startswith(_COOKIE):
            out = redact(name + value, counts)
            return out.removeprefix(name)
        if name and verdict.named(name, value) and not settings.load().allows(value):
            kind = verdict.kind_of(name)
            if counts is not None:
                counts[kind] = counts.get(kind, 0) + 1
            return f"[REDACTED:{kind}]"
        return redact(value, counts, place=name in PLACES)
    if isinstance(value, dict):
        return {
            redact(str(key), counts): redact_tree(item, counts, _name_of(str(key), value, name))
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_tree(item, counts, name) for item in value]
    return value


def _name_of(key: str, value: dict[object, object], name: str) -> str:
    """What names a member: its key; of one called `value`, what stands beside it or above; of a cookie, its line."""
    if key.lower() in ("cookie", "cookies", "set-cookie"):
        return _COOKIE
    found = key
    if key in ("value", "Value"):
        beside = value.get("name") or value.get("Name") or value.get("key")
        found = beside if isinstance(beside, str) else name or key
    return f"{_COOKIE}{found}=" if name == _COOKIE and "\n" not in found else found


_COOKIE = "cookie: "
"""What a cookie's own text is read behind."""


def find(text: str, *, own: bool = True, place: bool = False) -> list[Span]:
    """(start, end, kind) of every secret, in order, not overlapping; see `redact`."""
    known = settings.load()
    spans = finders.found(text)
    if own and known.patterns:
        found = _own(text, known.patterns)
        if found is None:
            return [(0, len(text), WITHHELD)]
        spans += found
    if known.strict and own and not place:
        from capture.redaction import strict  # on use: few are that strict

        spans += strict.find(text, finders.lowered(text))
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


def _own(text: str, patterns: list[tuple[str, str]]) -> list[Span] | None:
    """What the user's patterns find: the first group, if there is one, is the secret. None: that takes too long."""
    from capture.redaction import deadline  # on use: start-up stays short

    found = deadline.matches([source for _, source in patterns], text)
    return None if found is None else [(begin, end, patterns[number][0]) for number, begin, end in found]

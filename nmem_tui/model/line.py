"""Lines of styled text, the form in which everything is drawn: cuts, spreads, joins and wraps them to a width.

A span is (text, tone); a tone is a word of `TONES`, to which a style sheet gives a look. All text is printable.
"""

from __future__ import annotations

from collections.abc import Iterable

from nmem.text import fit, width

Span = tuple[str, str]
Line = list[Span]

TONES = frozenset(
    [
        "text", "strong", "quiet", "accent", "good", "bad", "warn", "user", "agent", "change", "run", "look",
        "bar", "rest", "off", "line", "cursor", "title", "tab", "key", "phase", "scope", "explore", "reason",
        "scaffold", "finish", "pill",
    ]
)  # fmt: skip


def length(line: Line) -> int:
    """Cells that a line takes."""
    return sum(width(text) for text, _ in line)


def cut(line: Line, cells: int) -> Line:
    """At most `cells` cells of a line."""
    out: Line = []
    for text, tone in line:
        room = cells
        cells -= width(text)
        if cells >= 0:
            out.append((text, tone))
            continue
        out.append((fit(text, room), tone))
        break
    return out


def spread(left: Line, right: Line, cells: int) -> Line:
    """`left` and `right` at the two ends of `cells` cells; the left one gives way."""
    room = cells - length(right) - (1 if right else 0)
    if room < 8:
        return cut(left, cells)
    left = cut(left, room)
    return [*left, (" " * (cells - length(left) - length(right)), "text"), *right]


def joined(parts: Iterable[Line], between: str = "  ") -> Line:
    """Lines side by side."""
    out: Line = []
    for part in parts:
        if part:
            out += [(between, "quiet"), *part] if out else part
    return out


def fitting(parts: list[tuple[int, Line]], cells: int, between: str = "  ") -> Line:
    """As many whole parts as fit, in their order; the lowest rank (first number) goes last."""
    kept = sorted(range(len(parts)), key=lambda place: parts[place][0])
    while len(kept) > 1:
        line = joined((parts[place][1] for place in sorted(kept)), between)
        if length(line) <= cells:
            return line
        kept.pop()
    return cut(parts[kept[0]][1], cells) if kept else []


def section(name: str, cells: int, more: str = "", *, free: int = 1) -> Line:
    """The heading of a part, with what more is said of it and a rule up to `free` cells before the edge."""
    tail = f"  {more}" if more else ""
    rest = "─" * max(0, cells - free - width(name) - width(tail) - 4)
    return [(f"── {name}", "title"), (tail + " ", "quiet"), (rest, "line")]


def wrap(text: str, cells: int, limit: int) -> list[str]:
    """A printable text over at most `limit` lines, broken at blanks; an ellipsis ends what was cut.

    What has no blank for a whole line (Chinese, Japanese, long paths) is broken where the line ends.
    """
    room = max(1, cells)
    out: list[str] = []
    used = 0
    for whole in text.split():
        size = width(whole)
        for word in (whole,) if size <= room else _pieces(whole, room):
            taken = size if size <= room else width(word)
            if out and used + 1 + taken <= cells:
                out[-1] += " " + word
                used += 1 + taken
            else:
                out.append(word)
                used = taken
        if len(out) > limit:
            break
    cut_off = len(out) > limit
    out = out[:limit]
    if cut_off:
        out[-1] = fit(out[-1], cells - 1).removesuffix("…") + "…"
    return [fit(row, cells) for row in out]


def _pieces(word: str, cells: int) -> Iterable[str]:
    while width(word) > cells:
        head = fitting_head(word, cells)
        yield head
        word = word[len(head) :]
    yield word


def fitting_head(word: str, cells: int) -> str:
    """So much of a word as stands in `cells` cells; one character at least."""
    if word.isascii():
        return word[: max(1, cells)]
    taken = 0
    for place, char in enumerate(word):
        taken += width(char)
        if taken > cells and place:
            return word[:place]
    return word


def fit_words(text: str, cells: int) -> str:
    """At most `cells` cells of a printable text, cut between two words where that leaves half of it."""
    cut_off = fit(text, cells)
    head = cut_off.removesuffix("…")
    if cut_off == text or not text.startswith(head) or text[len(head) : len(head) + 1] == " ":
        return cut_off
    words = head.rpartition(" ")[0].rstrip(" ,;:–-")
    return words + "…" if 2 * width(words) >= cells else cut_off


def plain(lines: Iterable[Line]) -> str:
    """The lines as text."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)

"""Markdown that an agent or a person wrote -> sentences, each with the heading or label it stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nmem.names import cited, reads_as_sentence

_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")
_MARKS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|`+|^[ \t]*>[ \t]?", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*])\*([^*\n]{1,200})\*(?![\w*])")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦➤→✅✔✓☑❌⚠]\ufe0f?|\d{1,2}[.)])[ \t]+(?:\[([ xX>-])\][ \t]+)?")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.{1,200})")
_LABEL = re.compile(r"\*\*([^*\n]{2,60}?)(?::\*\*|\*\*[ \t]*[:—–-])[ \t]*|([A-Z][A-Za-z' ]{2,30}):[ \t]+(?=\S)")
_BOLD_LINE = re.compile(r"\*\*([^*\n]{2,90})\*\*:?\s*$")
_SPLIT = re.compile(r"(?<=[.!?])[)\"'”]?\s+(?=[\"'“(\[A-Z0-9À-Ý가-힣ぁ-んァ-ヶ一-龯/@])|(?<=[。！？])\s*")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|[A-Z])\.|\.\.\.|^\d{1,2}\.)$", re.IGNORECASE)
_EMOJI = re.compile("[\U0001f300-\U0001faff☀-➿️⬀-⯿]+ ?")
_COUNT = re.compile(r"(?<=\w)(?<! to)(?<! of)(?<! at)(?<! by)(?<! is)(?<! in)(?<!than)(?<!from) \d{1,2}\.$")
_CUT = re.compile(r"\s*…\[\+\d+\]")
_RULE = frozenset("|-: ")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence in plain words. `label`: the heading or bold label above it, lower case. `item`: of a list."""

    text: str
    label: str = ""
    item: bool = False
    done: str = ""
    """The box of a list item: "x", " " or ""; "|" for a row of a table."""
    raw: str = ""


def plain(text: str) -> str:
    """Text without markdown's marks, on one line."""
    text = uncut(text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "*" in text or "_" in text or "`" in text or ">" in text:
        text = _MARKS.sub("", text)
    if not text.isascii():
        text = _EMOJI.sub("", text)
    if "*" in text:
        text = _EMPHASIS.sub(r"\1", text)
    text = " ".join(text.split())
    return _COUNT.sub("", text) if text.endswith(".") else text


def uncut(text: str) -> str:
    """A text without the count of characters that were not kept of it: an ellipsis says as much."""
    return _CUT.sub("…", text) if "…[+" in text else text


def clip(text: str, size: int = 200) -> str:
    """A text of at most `size` characters, cut after a sentence, else at a word, with an ellipsis when it is cut."""
    text = text.strip()
    if len(text) <= size:
        return text
    cut = text[: size - 1]
    if size >= _PROSE:
        ends = [found.end() for found in _STOP.finditer(cut, size // 2) if not _ABBREVIATION.search(cut[: found.end()])]
        if ends:
            return f"{cut[: ends[-1]]} …"
    space = cut.rfind(" ")
    return (cut[:space] if space > size // 2 else cut).rstrip(" ,;:—-(") + "…"


def clause(text: str, size: int) -> str:
    """A text of at most `size` characters that ends with a whole clause where there is one, else at a word."""
    if len(text.strip()) <= size:
        return text.strip()
    ends = [found.start() for found in _CLAUSE.finditer(text[: size - 1]) if found.start() >= size // 3]
    return text[: ends[-1]].rstrip(" ,;:—-(") + "…" if ends else clip(text, size)


def some(names: Sequence[str], most: int, mark: str = ", ", *, newest: bool = False) -> str:
    """The first or the last of some names, and how many more there are."""
    told = mark.join(names[-most:] if newest else names[:most])
    return told + (f" and {len(names) - most} more" if len(names) > most else "")


_PROSE = 120
"""Characters from which on a text may be cut after a sentence."""
_STOP = re.compile(r"(?<=\w[\w)\]”\"'])[.!?](?= [A-Z“\"(])|[。！？]")
_CLAUSE = re.compile(r"[,;.:](?= )| \(| [-–—] |[。、，]")


def split(text: str) -> list[str]:
    """The sentences of one paragraph."""
    out: list[str] = []
    for part in _SPLIT.split(text):
        if out and _ABBREVIATION.search(out[-1][-8:]):
            out[-1] += " " + part
        elif part.strip():
            out.append(part.strip())
    return out


def sentences(text: str, limit: int = 20_000) -> list[Sentence]:
    """All sentences outside code blocks, a table's row as one, in order; of long texts the beginning and the end."""
    if len(text) > limit:
        text = text[: limit // 2] + "\n\n" + text[-limit // 2 :]
    return list(_sentences(text))


@lru_cache(maxsize=64)
def _sentences(text: str) -> tuple[Sentence, ...]:
    """The same texts are read for the intent, for what was learned and for what was done."""
    out: list[Sentence] = []
    heading = ""
    for kind, block, mark in _blocks(text):
        if kind == "heading":
            heading = plain(block).rstrip(":").lower()
            continue
        label, body = _labelled(block, heading)
        for part in [body] if kind == "row" else split(body):
            clean = plain(part)
            if clean:
                out.append(Sentence(clean, label, kind in ("item", "row"), mark, part))
    return tuple(out)


def _labelled(block: str, heading: str) -> tuple[str, str]:
    """`**Cause:** text` is text under "cause"."""
    found = _LABEL.match(block)
    if not found or not block[found.end() :].strip():
        return heading, block
    own = plain(found[1] or found[2]).lower()
    return (f"{heading} / {own}" if heading else own), block[found.end() :] if len(own) < 28 else block


def _blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """(heading | item | row | text, its words, the box of an item); the first two lines of a table are its head."""
    held: list[str] = []
    rows: list[list[str]] = []
    kind, mark, fenced = "text", "", False
    for line in text.split("\n"):
        bare = line.strip()
        fence = bare.startswith(("```", "~~~"))
        heading = "" if fenced or fence else _title(line, bare)
        bullet = None if fenced or fence or heading else _BULLET.match(line)
        if bare.startswith("|") and not fenced:
            row = [cell.strip() for cell in bare.strip("|").split("|")]
            rows.append(row)
            if held:
                yield kind, " ".join(held), mark
                held, kind, mark = [], "text", ""
            if len(rows) > 2 and not set(bare) <= _RULE:
                yield "row", " — ".join(cell for cell in row if cell), "|"
            continue
        rows = []
        ends = fence or not bare or heading or bullet or bare in ("---", "***")
        if ends and held:
            yield kind, " ".join(held), mark
            held, kind, mark = [], "text", ""
        fenced ^= fence
        if heading:
            yield from _headed(heading, bare)
        elif bullet:
            kind, mark, held = "item", (bullet[1] or "").lower(), [line[bullet.end() :].strip()]
        elif not ends and not fenced:
            held.append(bare)
    if held:
        yield kind, " ".join(held), mark


def _headed(heading: str, bare: str) -> Iterator[tuple[str, str, str]]:
    """A heading; of a short line that ends in a colon its last sentence, those before it are text."""
    before, _, last = heading.rpartition(". ") if bare.endswith(":") else ("", "", heading)
    if " " in before:
        yield "text", f"{before}.", ""
    yield "heading", last if " " in before else heading, ""


def _title(line: str, bare: str) -> str:
    """The heading that a line is: `## Cause`, a bold line, or a short line that ends in a colon."""
    found = _HEADING.match(line) or _BOLD_LINE.match(bare)
    if found:
        return found[1]
    short = bare.endswith((":", "：")) and 3 < len(bare) < 60 and not bare.startswith(("-", "*", "|", ">"))
    return bare[:-1] if short else ""


def short(path: str) -> str:
    """A path for reading: of one outside the project, the last three parts; one that reads as a sentence is marked."""
    if reads_as_sentence(path):
        return cited(path)
    parts = path.replace("\\", "/").split("/")
    outside = path.startswith(("/", "~")) or path[1:2] == ":"
    return "…/" + "/".join(parts[-3:]) if outside and len(parts) > 4 else path

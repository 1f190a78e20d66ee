"""Splits Markdown into sentences with their heading or label, and texts into words for comparing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from nmem.conversation.cues import lazy
from nmem.names import cited, reads_as_sentence

_LINK = lazy(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")
_MARKS = lazy(r"\*\*|`+|^[ \t]*>[ \t]?", re.MULTILINE)
_BOLD = lazy(r"(?<!\w)__([^\s_]+(?: [^\n_]{1,200}|(?<=:)))__(?!\w)")  # `__init__` is a name
_EMPHASIS = lazy(r"(?<![\w*])\*([^*\n]{1,200})\*(?![\w*])")
_BULLET = lazy(r"[ \t]*(?:[-*+•‣◦➤→✅✔✓☑❌⚠]\ufe0f?|\d{1,2}[.)])[ \t]+(?:\[([ xX>-])\][ \t]+)?")
_HEADING = lazy(r"[ \t]{0,3}#{1,6}[ \t]+(.{1,200})")
_LABEL = lazy(r"\*\*([^*\n]{2,60}?)(?::\*\*|\*\*[ \t]*[:—–-])[ \t]*|([A-Z][A-Za-z' ]{2,30}):[ \t]+(?=\S)")
_BOLD_LINE = lazy(r"\*\*([^*\n]{2,90})\*\*:?\s*$")
_SPLIT = lazy(r"(?<=[.!?])[)\"'”]?\s+(?=[\"'“(\[A-Z0-9À-Ý가-힣ぁ-んァ-ヶ一-龯/@])|(?<=[。！？])\s*")
_ABBREVIATION = lazy(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|[A-Z])\.|\.\.\.|^\d{1,2}\.)$", re.IGNORECASE)
_EMOJI = lazy("[\U0001f300-\U0001faff☀-➿️⬀-⯿]+ ?")
_COUNT = lazy(r"(?<=\w)(?<! to)(?<! of)(?<! at)(?<! by)(?<! is)(?<! in)(?<!than)(?<!from) \d{1,2}\.$")
_CUT = lazy(r"\s*…\[\+\d+\]")
_RULE = frozenset("|-: ")


class Sentence(NamedTuple):
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
        text = _MARKS.sub("", _BOLD.sub(r"\1", text) if "__" in text else text)
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


LATER, NEXT = " Later: ", "; "
"""The text in a goal before the later requests, and between two of them."""
AT_THE_END = "the agent at the end: "
"""What leads the agent's last words in an outcome."""
_LAST_WORDS = lazy(rf"{AT_THE_END}“(.*?)”(?=; |$)", re.IGNORECASE | re.DOTALL)


def without_last_words(outcome: str) -> tuple[str, str]:
    """An outcome without the agent's last words, and these words; "" where there are none."""
    found = _LAST_WORDS.search(outcome)
    if found is None:
        return outcome, ""
    parts = outcome[: found.start()].removesuffix("; "), outcome[found.end() :].removeprefix("; ")
    rest = "; ".join(part for part in parts if part)
    return rest[:1].upper() + rest[1:], found[1]


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
_STOP = lazy(r"(?<=\w[\w)\]”\"'])[.!?](?= [A-Z“\"(])|[。！？]")
_CLAUSE = lazy(r"[,;.:](?= )| \(| [-–—] |[。、，]")


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
    """Yields a heading; of a line that ends in a colon only the last sentence is one, the earlier ones are text."""
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


@lru_cache(maxsize=2_000)
def short(path: str) -> str:
    """A path for reading: of one outside the project, the last three parts; one that reads as a sentence is marked."""
    if reads_as_sentence(path):
        return cited(path)
    parts = path.replace("\\", "/").split("/")
    outside = path.startswith(("/", "~")) or path[1:2] == ":"
    return "…/" + "/".join(parts[-3:]) if outside and len(parts) > 4 else path


_PART = lazy(r"[A-Z]?[a-z]+|[A-Z]{2,}|[À-ÿ]+|[가-힣]+|[ァ-ヶー]+|[一-龯]+|\d+(?:\.\d+)+")
_ENDLESS_FROM = 200
_ENDLESS = lazy(r"\S{200,}")
"""What no name is as long as; _CODE would take its length squared, or worse, to find that out."""
_CODE = lazy(r"[\w./~-]*[A-Za-z]\w*(?:[._/\\-]\w+)+|\w*[a-z][A-Z]\w*|--?[a-z][\w-]+|\w+\(\)|`[^`\n]{2,60}`")
COMMON = frozenset(
    [
        "the", "a", "an", "and", "or", "of", "to", "in", "on", "for", "with", "that", "this", "these", "those",
        "is", "are", "was", "were", "be", "been", "it", "its", "as", "at", "by", "from", "not", "now", "all",
        "will", "can", "could", "should", "would", "has", "have", "had", "do", "does", "did", "done", "use",
        "used", "using", "also", "just", "then", "than", "there", "here", "when", "what", "which", "who", "how",
        "why", "you", "your", "i", "we", "our", "they", "their", "them", "he", "she", "into", "out", "up", "about",
        "more", "most", "some", "any", "each", "only", "both", "make", "made", "get", "got", "let", "need",
        "needs", "want", "wants", "please", "file", "files", "code", "change", "changes", "changed", "add",
        "added", "update", "updated", "test", "tests", "new", "one", "two", "first", "user", "run", "running",
        "works", "work", "working", "like", "so", "if", "but", "no", "yes",
    ]
)  # fmt: skip


@lru_cache(maxsize=64)
def words(text: str) -> set[str]:
    """The telling words of a text, lower case: parts of identifiers, no common words; not to be changed."""
    return {part for one in set(_PART.findall(text)) if len(part := one.lower()) > 1 and part not in COMMON}


@lru_cache(maxsize=32)
def codes(text: str) -> set[str]:
    """Names in a text that look like code: paths, identifiers, options, what stands in backticks; not to be changed."""
    if "`" in text:
        found = _CODE.findall(_ENDLESS.sub(" ", text))
    else:  # most of what stands between blanks is a plain word, which takes the pattern long to see
        found = []
        for run in text.split():
            word = run.rstrip(".,;:!?)").lstrip("(\"'“*")
            if not (word.isalpha() and (word[1:].islower() or word.isupper())) and len(run) < _ENDLESS_FROM:
                found += _CODE.findall(run)
    return {one.strip("`").rstrip(".,:;").removesuffix("()").lower() for one in found}


def alike(one: set[str], other: set[str]) -> float:
    """The share of the smaller text's words that the other has too; 0 for texts without words."""
    small = min(len(one), len(other))
    return len(one & other) / small if small else 0.0


def within(one: set[str], other: set[str]) -> float:
    """The share of the first text's words that the other has too; 0 for a text without words."""
    return len(one & other) / len(one) if one else 0.0


def size(text: str) -> int:
    """How many words a text has; scripts without spaces count two characters as a word."""
    dense = 0 if text.isascii() else sum(1 for char in text[:2000] if "぀" <= char <= "鿿")
    return len(text[:4000].split()) + dense // 2

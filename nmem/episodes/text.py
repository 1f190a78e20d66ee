"""Splits text into tokens, words and paths: any language, no regular expressions, one pass.

Words of plain ASCII, nearly all there are, are looked up once and remembered: a hook reads twenty turns in a
millisecond or two.
"""

from __future__ import annotations

from nmem.episodes.lexicon import STOP, STOP_BIGRAMS

MAX_CHARS = 6000
_REMEMBERED = 20_000
_EXTENSION = 6
_DEPTH = 4
_NO_EXTENSIONS = ("e", "g", "com", "io", "org")
_SPACED = bytes(32 if code < 128 and not (chr(code).isalnum() or chr(code) == "_") else code for code in range(256))
"""Bytes of UTF-8: what is ASCII and neither letter, digit nor underscore parts words. Of bytes it takes a fifth of the
time that it takes of text that is not ASCII."""
_PLURALS: tuple[tuple[str, int], ...] = (("ies", 3), ("es", 4), ("s", 3))
_PAST_AND_GOING: tuple[tuple[str, int], ...] = (("ing", 4), ("ed", 4))
_known: dict[str, tuple[str, ...]] = {}


def is_cjk(char: str) -> bool:
    """Han, kana or Hangul: scripts whose words are compared by character bigrams."""
    code = ord(char)
    return 0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7AF or 0xF900 <= code <= 0xFAFF


def runs(text: str) -> list[str]:
    """Maximal runs of letters, digits and underscores; CJK and other letters never share a run."""
    spaced = text.encode("utf-8", "surrogatepass").translate(_SPACED).decode("utf-8", "surrogatepass").split()
    if text.isascii():
        return spaced
    out: list[str] = []
    for word in spaced:
        if word.isascii():
            out.append(word)
        else:
            _mixed(word, out)
    return out


def _mixed(text: str, out: list[str]) -> None:
    start, kind = -1, 0
    for at, char in enumerate(text):
        now = (2 if char > "\u2fff" and is_cjk(char) else 1) if (char.isalnum() or char == "_") else 0
        if now != kind:
            if kind:
                out.append(text[start:at])
            start, kind = at, now
    if kind:
        out.append(text[start:])


def split_identifier(run: str) -> list[str]:
    """fooBar_baz2 -> foo, bar, baz2. Acronyms stay together (HTTPServer -> http, server)."""
    parts: list[str] = []
    for piece in run.split("_"):
        start = 0
        for at in range(1, len(piece)):
            if piece[at].isupper() and not piece[at - 1].isupper():
                parts.append(piece[start:at])
                start = at
            elif piece[at].islower() and piece[at - 1].isupper() and at - start > 1:
                parts.append(piece[start : at - 1])
                start = at - 1
        parts.append(piece[start:])
    return [part.lower() for part in parts if part]


def stem(word: str) -> str:
    """Light English plural, -ing and -ed stripping, enough for test, tests and testing to meet."""
    last = word[-1:]
    if last == "s":
        if word.endswith("ss"):
            return word
        ends = _PLURALS
    elif last in {"g", "d"}:
        ends = _PAST_AND_GOING
    else:
        return word
    for end, keep in ends:
        if word.endswith(end) and len(word) - len(end) >= keep:
            return word[: -len(end)]
    return word


def _parts(run: str) -> tuple[str, ...]:
    """The content tokens of one run."""
    if run.isascii():
        if run.islower():
            return _joined(run) if "_" in run else _part(run)
        if run[1:].islower() and "_" not in run:
            return _part(run.lower())
    elif is_cjk(run[0]):
        pairs = (run[at : at + 2] for at in range(max(1, len(run) - 1)))
        return tuple(pair for pair in pairs if pair not in STOP_BIGRAMS)
    out: list[str] = []
    for part in split_identifier(run):
        out += _part(part)
    return tuple(out)


def _part(part: str) -> tuple[str, ...]:
    """The token of one word in lower case, unless it says nothing."""
    if part in STOP or len(part) < 2 or (len(part) < 3 and part.isdigit()):
        return ()
    return (stem(part) if part[-1] in "sgd" else part,)


def _joined(run: str) -> tuple[str, ...]:
    """The tokens of lower-case words joined by underscores; each is remembered by itself too, for it comes again."""
    out: list[str] = []
    for piece in run.split("_"):
        parts = _known.get(piece)
        if parts is None:
            parts = _known[piece] = _part(piece)
        out += parts
    return tuple(out)


def tokens(text: str) -> list[str]:
    """Content tokens: identifier parts stemmed, stop words out, CJK runs as character bigrams."""
    out: list[str] = []
    for run in runs(text[:MAX_CHARS]):
        parts = _known.get(run)
        if parts is None:
            if len(_known) >= _REMEMBERED:
                _known.clear()
            parts = _known[run] = _parts(run)
        out += parts
    return out


def words(text: str) -> list[str]:
    """Lower-case words as written, apostrophes kept; CJK runs stay whole."""
    out: list[str] = []
    for raw in text[:MAX_CHARS].lower().replace("\u2019", "'").split():
        word = raw.strip('.,;:!?()[]{}<>"`*#-~。、！？，：；）（「」')
        if word:
            out.append(word)
    return out


def word_count(text: str) -> float:
    """Words; an unspaced CJK run counts as half its characters."""
    if text.isascii():
        return float(len(runs(text[:MAX_CHARS])))
    count = 0.0
    for run in runs(text[:MAX_CHARS]):
        count += max(1.0, len(run) / 2) if is_cjk(run[0]) else 1.0
    return count


def checkout_path(path: str) -> str:
    """A path in a worktree as a path of any checkout: .worktrees/1/src/a.py -> src/a.py; any other as it is.

    `.claude/worktrees/NAME`, `PROJECT-worktrees/NAME` and their like are worktrees as well.
    """
    if "worktrees/" not in path:
        return path
    parts = path.replace("\\", "/").split("/")
    for place in range(len(parts) - 3, -1, -1):
        part = parts[place]
        among = part == "worktrees" and place > 0 and parts[place - 1].startswith(".")
        if among or (part != "worktrees" and part.endswith(("-worktrees", "_worktrees", ".worktrees"))):
            return "/".join(parts[place + 2 :])
    return path


def path_ends(path: str) -> tuple[str, str]:
    """The key and the folder of a path."""
    parts = [part for part in path.replace("\\", "/").lower().split("/")[-_DEPTH:] if part]
    if len(parts) < 3:  # empty components may have crowded out others
        parts = [part for part in path.replace("\\", "/").lower().split("/") if part]
    return "/".join(parts[-2:]), "/".join(parts[-3:-1])


def path_key(path: str) -> str:
    """The last two components of a path, so that two checkouts of one file agree."""
    return path_ends(path)[0]


def file_mentions(text: str) -> set[str]:
    """Base names of files that a prompt names: a dotted last component with a short extension of letters."""
    out: set[str] = set()
    for word in words(text) if "." in text else ():
        if "." not in word:
            continue
        base = word.lstrip("@").replace("\\", "/").rsplit("/", 1)[-1].split(":", 1)[0].split("#", 1)[0]
        name, dot, extension = base.rpartition(".")
        is_file = dot and name and 1 <= len(extension) <= _EXTENSION and extension.isalpha()
        if is_file and extension not in _NO_EXTENSIONS:
            out.add(base)
    return out


def outside(path: str) -> bool:
    """Whether a path is not in the project: absolute, or in the home folder."""
    return path.startswith(("/", "~", "../")) or path[1:3] in (":\\", ":/")

"""Removes from a text what changes between runs: paths, numbers, addresses, hashes, times, ports, quoted values."""

from __future__ import annotations

import re

_PASSES = (
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d{1,4}[-/]\d{1,2}[-/]\d{2,4}\b"), "<time>"),
    (re.compile(r"\b\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<addr>"),
    (re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b"), "<hash>"),
    (re.compile(r"\b(https?|wss?|ftp)://([^\s/:'\"<>]+)[^\s'\"<>)]*"), r"\1://\2"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "<ip>"),
)
_PATH = re.compile(r"(?<![:/\w])(?:(?:[A-Za-z]:|~|\.{1,2})?[\\/])(?:[^\s\\/:'\"`<>|,;()\[\]]+[\\/])*[^\s\\/:'\"`<>|,;()\[\]]*"
                   r"|(?:[\w.@+-]+[\\/])+[\w.@+-]+")  # fmt: skip
_PLACE = re.compile(r"(\.\w{1,6})(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))")
_TEMP = re.compile(r"\b(?:tmp|temp)[._-]?(?=\w*\d)[\w-]{4,}\b|\btmp\.\w{6,}\b", re.IGNORECASE)
_TIMES = re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|secs?|seconds?|mins?|minutes?|hours?|[smh])\b"
                    r"(?:\s?\d+(?:\.\d+)?\s?(?:ms|s|m)\b)*")  # fmt: skip
_NUMBER = re.compile(r"(?<![A-Za-z_<])\d+(?:[.,:]\d+)*")
_QUOTED = re.compile(r"\"[^\"\n]{0,300}\"|(?<![A-Za-z])'[^'\n]{0,300}'|`[^`\n]{0,300}[`']")
_BLANK = re.compile(r"\s+")
_RELATIVE = re.compile(r"(?!/|~|\.\.|[A-Za-z]:)")
LONGEST = 600


def plain(line: str) -> str:
    """A line without colours, frames and needless blanks, at most LONGEST characters."""
    return _BLANK.sub(" ", _PASSES[0][0].sub("", line[: 2 * LONGEST])).strip(" │┃|╭╰─━\t")[:LONGEST]


def normal(text: str, quotes: bool = True) -> str:
    """The text with placeholders; a path becomes its last part. `quotes`: quoted values go, too."""
    text = text[:LONGEST]
    for pattern, instead in _PASSES:
        text = pattern.sub(instead, text)
    if quotes:
        text = _QUOTED.sub("<value>", text)
    text = _TEMP.sub("<temp>", _PATH.sub(_last, text))
    text = _PLACE.sub(r"\1", text)
    return _BLANK.sub(" ", _NUMBER.sub("<n>", _TIMES.sub("<n>", text))).strip()


def name(text: str) -> str:
    """A name that is the cause itself, without the folder it is in, and without numbers that count."""
    text = _last_part(text.strip().strip("'\"`"))
    for pattern, instead in _PASSES[4:7]:
        text = pattern.sub(instead, text)
    return _NUMBER.sub("<n>", _TEMP.sub("<temp>", text))


def tail(path: str) -> str:
    """The last two parts of a path: the same in every checkout, and seldom another file's."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    return "/".join(name(part) for part in parts[-2:])


def within(path: str, root: str) -> str:
    """A path relative to a project's folder, empty for the folder itself; one elsewhere by its last two parts.

    A folder of the same name is another checkout of it.
    """
    path, root = path.replace("\\", "/").rstrip("/"), root.replace("\\", "/").rstrip("/")
    if root and path == root:
        return ""
    if root and path.startswith(f"{root}/"):
        return "/".join(name(part) for part in path[len(root) + 1 :].split("/") if part not in ("", "."))
    if _RELATIVE.match(path):
        return path.removeprefix("./")
    _, here, rest = f"{path}/".partition(f"/{root.rpartition('/')[2]}/")
    return within(f"{root}/{rest}", root) if root and here else tail(path)


def _last(found: re.Match[str]) -> str:
    text = found.group()
    if text.startswith("//"):
        return text
    return _last_part(text)


def _last_part(path: str) -> str:
    """The last part of a path; of a folder in a place for temporary files, only that it is one."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    if not parts:
        return path if len(path) < 3 else "<path>"
    return parts[-1]

"""Hands work on as files for a person or as a brief for a client; here what makes a recorded text fit to leave.

It redacts a text again, makes paths relative to the project, hides homes, and cuts it last. What `learn` found to be a
secret is replaced wherever else it stands: in a title, a quotation or a command that does not say what it is, and as
the beginning that a cut left of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from capture.redaction import find, redact, settings
from capture.text import clean
from nmem.llm.outgoing import without_hidden
from nmem.text import ELLIPSIS

PLACEHOLDER = "[REDACTED:"
_LEAST, _HEAD = 8, 6
"""Characters of a value that is looked for everywhere, and of its beginning at the end of a text that was cut."""
_SLASH = r"(?:\\{1,2}|/)"
_NOT_WITHIN = r"(?:(?<![\w.~@/\\-])|(?<=-[A-Za-z])|(?<=file://))"
"""A slash, also escaped; where an absolute path begins: not inside another path, but behind an option such as -I."""
_DRIVE = r"(?:/mnt/[a-z](?=[\\/])|/cygdrive/[a-z]|/[A-Za-z](?::|%3[Aa])?(?=[\\/])|[A-Za-z]:)?"
_LEAD = (
    r"(?:/(?:var|usr|export|exports|srv|data|private|host|hostfs|rootfs|opt)"
    r"|/(?:mnt|media|Volumes|System|run|net|nfs|backups?|data|srv|export)(?:/[^\s/'\"`:;,]+){1,3}?)?"
)
"""Folders in which homes lie elsewhere: of a mounted disk, a copy, a system that has them below /var. Not any folder:
/app/src/home/index.ts is nobody's."""
_NAME = r"[^\s\\/'\"`:;,()<>|*?&$\[\]{}]+"
_NAMED = rf"{_NAME}(?:\\{{0,2}} {_NAME}(?={_SLASH}))?"
"""Of a home: a blank in it is one where the path goes on."""
_HOST = (
    r"(?:(?<![\w+.-])[A-Za-z][\w+.-]{1,30}://[^\s/\\'\"<>]+"
    rf"|(?<![\w:/\\.])(?:\\{{2,4}}|//)[\w.$-]+(?:{_SLASH}[\w.$-]+)??)"
)
"""The machine that an address or a network path names before the path."""
_SOMEONES = re.compile(
    r"(?P<url>https?://[^\s\"'<>]+)"
    rf"|(?:(?P<host>{_HOST})|{_NOT_WITHIN}){_DRIVE}{_LEAD}{_SLASH}(?:home|Users){_SLASH}{_NAMED}"
    rf"|{_NOT_WITHIN}/root(?=[\\/\s'\"`:;,)]|$)"
    r"|(?P<dashed>(?<!\w)(?:[A-Z]-)?(?:-(?:var|usr|export|srv|data|private|(?:mnt|media|Volumes)-\w+))?"
    r"-(?:home|Users)-\w+)"
)
"""Homes of anybody, also as clients write them into the name of a folder; addresses of the web are left alone."""
_HOME = re.compile(rf"^({_DRIVE}{_LEAD}[\\/](?:home|Users)[\\/][^\\/]+)")
_ENDS = r"(?![\w-]|\.\w)"
_LETTER = re.compile(r"[A-Za-z]:")
_TREE = rf"(?:{_SLASH}(?:\.[\w-]+{_SLASH}worktrees|\.worktrees){_SLASH}[^\s\\/'\"`:;,()<>|]+)?"


class Outward:
    """Makes texts fit to leave, and counts what it took out of them."""

    def __init__(self, roots: Iterable[str], names: tuple[str, ...] = ()) -> None:
        """`roots`: folders of the project, as the session knew them; `names`: what it is called."""
        self.names = names
        """By the rules of the project of these names its texts are redacted: what is stored may be older than they."""
        known = {one.rstrip("\\/") for one in roots}
        known = {one for one in known if one and not _LETTER.fullmatch(one)}
        places = [one for one in known if not any(one.startswith(f"{other}/") for other in known)]
        homes = {found[1] for one in places if (found := _HOME.match(one))}
        own = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - a string is what is compared
        homes |= {own} if len(own) > 1 else set()
        self._roots = [_pattern(one, within=False, trees=True) for one in sorted(places) if one not in homes]
        self._homes = [_pattern(one, within=one.count("/") > 1) for one in sorted(homes, key=len, reverse=True)]
        self._values: dict[str, str] = {}
        self.fresh = 0
        """Secrets replaced now, that were stored as they were."""
        self.placeholders = 0
        """Places in all texts given that hold a placeholder."""
        self.shortened = 0
        """Texts that were cut."""

    def learn(self, text: str) -> None:
        """Note the secrets of a whole text, as they are replaced in every other one."""
        text = clean(text)
        with settings.Within(self.names):
            found = find(text)
        for begin, end, kind in found:
            value = text[begin:end]
            if len(value) >= _LEAST and not value.isalpha() and not value.startswith(PLACEHOLDER):
                self._values[value] = kind

    def forget(self) -> None:
        """Know none of these secrets any more: the next text has nothing to do with them."""
        self._values.clear()

    def text(self, text: str, limit: int = 0) -> str:
        """At most `limit` characters of a text with its lines, fit to leave; 0: all of it."""
        counts: dict[str, int] = {}
        with settings.Within(self.names):
            text = redact(without_hidden(text), counts)
        text = self._without_known(text)
        self.fresh += sum(counts.values())
        text = self._placed(text)
        if limit and len(text) > limit:
            self.shortened += 1
            cut = text[: limit - 1]
            at = cut.rfind(PLACEHOLDER)
            cut = cut[:at] if at >= 0 and "]" not in cut[at:] else cut
            space = max(cut.rfind(" "), cut.rfind("\n")) if not text[len(cut)].isspace() else -1
            text = (cut[:space] if space > len(cut) // 2 else cut).rstrip(" \n,;:([{“") + ELLIPSIS
        self.placeholders += text.count(PLACEHOLDER)
        return text

    def line(self, text: str, limit: int = 0) -> str:
        """The same on one line."""
        return " ".join(self.text(text, limit).split())

    def path(self, path: str) -> str:
        """A path relative to the project."""
        return self.line(path, 300) or "."

    def _without_known(self, text: str) -> str:
        for value, kind in self._values.items():
            if value in text:
                self.fresh += text.count(value)
                text = text.replace(value, f"[REDACTED:{kind}]")
            text = self._without_head(text, value, kind)
        return text

    def _without_head(self, text: str, value: str, kind: str) -> str:
        """Without the beginning of a secret that a cut left at the end of a text, or before an ellipsis in it."""
        head = value[:_HEAD]
        at = text.find(head)
        while at >= 0:
            size = len(head)
            while size < len(value) and text[at + size : at + size + 1] == value[size]:
                size += 1
            rest = text[at + size : at + size + 3]
            if not rest or rest.startswith((ELLIPSIS, "...", "”")):
                self.fresh += 1
                text = f"{text[:at]}[REDACTED:{kind}]{text[at + size :]}"
            at = text.find(head, at + 1)
        return text

    def _placed(self, text: str) -> str:
        if "/" not in text and "\\" not in text and "-" not in text:
            return text
        for root in self._roots:
            text = root.sub(lambda found: "" if found[1] else ".", text)
        for home in self._homes:
            text = home.sub(lambda found: "~/" if found[1] else "~", text)
        return _SOMEONES.sub(lambda at: at["url"] or ("-~" if at["dashed"] else f"{at['host'] or ''}~"), text)


def _pattern(folder: str, *, within: bool, trees: bool = False) -> re.Pattern[str]:
    """A folder with either slash or escaped ones; group 1: the slash before what goes on below it.

    `within`: also inside a longer path. `trees`: a worktree that lies in it is the folder as well. A drive is also
    what shells on Windows call it.
    """
    drive, rest = (folder[0], folder[2:]) if _LETTER.match(folder) else ("", folder)
    plain = _SLASH.join(re.escape(part) for part in re.split(r"[\\/]+", rest))
    plain = f"(?:{drive}:|(?:/mnt|/cygdrive)?/{drive}){plain}" if drive else plain
    goes_on = rf"(?:({_SLASH})(?=[^\s\\/])|[\\/]?{_ENDS})"
    begins = "" if within else _NOT_WITHIN
    return re.compile(begins + plain + (_TREE if trees else "") + goes_on, re.IGNORECASE if drive else 0)

"""What an episode's own records bear out: a sentence of the agent counts as fact only when they do."""

from __future__ import annotations

import re

from nmem.episodes.narrate.ledger import Change, Ledger
from nmem.episodes.narrate.records import FAILED, Episode
from nmem.episodes.narrate.words import alike, codes, words

_DID = frozenset(
    (
        "command", "git_other", "git_push", "github", "install", "build", "test", "lint", "mcp_call", "file_edit",
        "file_write", "git_commit",
    )
)  # fmt: skip
_CLAIMS_TESTS = re.compile(
    r"\b(?:tests?|lint|build|checks?|suite)\b.{0,40}\b(?:pass(?:es|ed|ing)?|green|clean|succe\w+)\b"
    r"|\ball (?:tests? )?pass",
    re.IGNORECASE,
)
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_FILE = re.compile(r"[\w./~-]*\w\.[A-Za-z]{1,6}\b")
_ROOM = 60_000


class Grounds:
    """Names and words of the work that stands, and names of what was undone."""

    __slots__ = ("_bags", "_did", "_gone", "_hashes", "_names", "_stems", "checked")

    def __init__(self, episode: Episode, ledger: Ledger, *, checked: bool | None) -> None:
        standing = ledger.standing()
        self._names = {_base(change.path) for change in standing}
        self._stems = {name.rsplit(".", 1)[0] for name in self._names if len(name.rsplit(".", 1)[0]) > 4}
        self._gone = {_base(one.path) for one in ledger.changes.values() if not one.live} - self._names
        self._hashes = {one.hash for one in ledger.kept_commits() if one.hash}
        self._did = episode, standing
        self._bags: tuple[str, set[str]] | None = None
        self.checked = checked
        """Whether the newest checks passed; None when there were none."""

    def denies(self, sentence: str) -> bool:
        """Whether a claim names what was undone, a commit that is not there, or checks that did not pass."""
        low = sentence.lower()
        if any(name in low for name in self._gone) or (_CLAIMS_TESTS.search(sentence) and not self.checked):
            return True
        hashes = _HASH.findall(low)
        return bool(hashes) and not any(
            one.startswith(known) or known.startswith(one) for one in hashes for known in self._hashes
        )

    def supports(self, sentence: str) -> bool:
        """Whether a claim of work names what was changed or run, and nothing that was undone."""
        low = sentence.lower()
        if self.denies(sentence):
            return False
        hashes = _HASH.findall(low)
        named = {_base(one) for one in _FILE.findall(low)}
        if named & self._names or hashes:
            return True
        if any(stem in low for stem in self._stems):
            return True
        if self._bags is None:  # few stories ask: most claims name a file
            self._bags = _bags(*self._did)
        edited, ran = self._bags
        told = codes(sentence)
        if told and any(one in edited for one in told if len(one) > 3):
            return True
        bag = words(sentence)
        return len(bag) >= 3 and (alike(bag, ran) >= 0.55 or len(bag & ran) >= 4)

    def names(self, sentence: str) -> int:
        """How many changed files a sentence names."""
        low = sentence.lower()
        return sum(name in low for name in self._names) + sum(stem in low for stem in self._stems)


def _base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1].lower()


def _bags(episode: Episode, standing: list[Change]) -> tuple[str, set[str]]:
    """The text of the edits that stand, and the words of all that was done."""
    live = {change.path for change in standing}
    edited: list[str] = []
    room = _ROOM
    for action in reversed(episode.actions):
        if action.outcome == FAILED or action.obs_type not in _DID:
            continue
        if action.obs_type in ("file_edit", "file_write") and action.file_path not in live:
            continue
        said = action.metadata.get("description")
        text = f"{action.content[:2400]} {said if isinstance(said, str) else ''} {action.file_path}"
        edited.append(text)
        room -= len(text)
        if room < 0:
            break
    whole = "\n".join(edited)
    return whole.lower(), words(whole)

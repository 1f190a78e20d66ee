"""Detects prompts that need no context: how to run something, a switch of branch. On the hook's path.

What is asked so is answered by the project's files; a list of what was edited lately only costs attention. Such a
prompt is told what it goes on with, and what a person pinned, but nothing that was searched for it.
"""

from __future__ import annotations

from nmem.episodes.text import words

_ASKED = 7
"""Words after "how do I" that name no more than a thing one does; more say what is to be worked on."""
_LONGEST = 24
"""Words; a longer prompt says more than that."""
_ASKS = (
    ("how", "do", "i"), ("how", "do", "we"), ("how", "can", "i"), ("how", "can", "we"), ("how", "to"),
    ("how", "would", "i"), ("what", "is", "the", "command"), ("what's", "the", "command"),
    ("which", "command"), ("what", "command"), ("remind", "me", "how", "to"), ("wie", "kann", "ich"),
)  # fmt: skip
_DOES = frozenset(
    """run start stop restart launch open install uninstall build rebuild compile test execute serve deploy use login
    log see view check update upgrade format lint clone set setup configure enable disable connect attach quit exit
    runs starts builds installs ausführen starten bauen installieren""".split()  # noqa: SIM905 - a list of words
)
"""What one does with a project, not in it."""
_SWITCHES = (
    ("switch", "to"), ("switch", "back"), ("switch", "branch"), ("switch", "the", "branch"), ("checkout",),
    ("check", "out"), ("git", "checkout"), ("git", "switch"), ("git", "pull"), ("git", "fetch"), ("go", "to"),
    ("go", "back", "to"), ("change", "to"), ("move", "to"), ("pull",), ("pull", "the", "latest"), ("create",),
    ("create", "a"), ("make", "a"), ("open", "a"), ("start", "a"), ("use", "the"), ("enter",),
)  # fmt: skip
_PLACES = frozenset(("branch", "worktree", "main", "master", "develop", "trunk"))
_POLITE = frozenset(("please", "can", "could", "you", "now", "ok", "okay", "let's", "lets", "we", "hey", "hi", "so"))
_MORE = frozenset(
    """and then fix add implement because so since but write review change refactor update investigate why
    continue""".split()  # noqa: SIM905
)
"""Words by which a switch goes on to work."""
_SWITCH = 12
"""Words of a prompt that only switches."""


def quiet(prompt: str) -> str:
    """Why nothing is searched for a prompt, in words; empty for one that is about the project's work."""
    said = words(prompt)
    while said and said[0] in _POLITE:
        said = said[1:]
    if not said or len(said) > _LONGEST or "\n" in prompt.strip():
        return ""
    for opening in _ASKS:
        if _begins(said, opening):
            rest = said[len(opening) :]
            done = next((word for word in rest[:2] if word in _DOES), "")
            return "the prompt asks how to do something" if done and len(rest) <= _ASKED else ""
    if len(said) <= _SWITCH and any(_begins(said, opening) for opening in _SWITCHES):
        others = set(said[1:])
        if others & _PLACES and not others & _MORE:
            return "the prompt only switches the branch or the worktree"
    return ""


def _begins(said: list[str], opening: tuple[str, ...]) -> bool:
    return tuple(said[: len(opening)]) == opening

"""The keys that a text names: of the registry, or the person's own. No text names the key of an action by itself."""

from __future__ import annotations

import re

from nmem_tui.actions import BY_ID, Keys

_own: Keys = {}
_PLACE = re.compile(r"\{([a-z_]+)\}")


def use(keys: Keys) -> None:
    """The person's own keys from now on."""
    global _own  # noqa: PLW0603 -- one person, one set of keys; drawings are functions that know no app
    _own = keys


def of(action_id: str) -> str:
    """The key of an action as a person reads it: its first."""
    return BY_ID[action_id].with_keys(_own).shown_key.partition(" ")[0]


def filled(text: str) -> str:
    """A text of ours with a key for each `{action_id}`: never one from outside."""
    return _PLACE.sub(lambda found: of(found[1]), text)

"""Reads and checks the person's own keys from `[tui.keys]`, binds them, lists all keys for `nmem tui --keys`.

What cannot be is said in one line each, and the default stands there. Dialogs and boxes have keys of their own, which
are not in the registry: nothing here reaches them. Esc always goes back, and ctrl+q always leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingsMap
from textual.keys import Keys as Named
from textual.keys import _character_to_key

from nmem.text import to_json
from nmem_tui.model.actions import ACTIONS, BY_ID, EVERYWHERE, Action, Keys, bindings, key_name

if TYPE_CHECKING:
    from textual.dom import DOMNode

ALWAYS = {"back": "escape", "quit": "ctrl+q"}
"""Keys that an action keeps whatever is said: without them one could be caught in a box."""
DECKS = {"review"}
"""A deck of cards lies over the screens."""
_SAME = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+left_square_bracket": "esc"}
"""Keys that a terminal cannot tell from others."""
_ALIASES = {"esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "del": "delete"}
_NAMED = {key.value for key in Named if not key.value.startswith(("<", "ctrl+", "control"))}
_FORMS = "write it as a, G, ?, f5, space, ctrl+x or alt+x"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the keys of one action."""

    action: str
    said: str
    """The rest of a sentence that begins with the name of the setting."""


def read(given: Mapping[str, object]) -> tuple[Keys, list[Fault]]:
    """The keys that count, by action, and what is wrong with the rest."""
    wanted: dict[str, tuple[str, ...]] = {}
    faults: list[Fault] = []
    for action, value in given.items():
        if action not in BY_ID:
            faults.append(Fault(action, f"is not an action{_meant(action)}"))
            continue
        try:
            wanted[action] = _keys(action, value)
        except ValueError as error:
            faults.append(Fault(action, str(error)))
    while clash := _clash(wanted):
        action, said = clash
        wanted.pop(action)
        faults.append(Fault(action, said))
    return wanted, faults


def said(given: Mapping[str, object]) -> list[tuple[str, str]]:
    """What is wrong, for `nmem config`: the action, and the rest of a sentence."""
    return [(fault.action, fault.said) for fault in read(given)[1]]


def _meant(action: str) -> str:
    from difflib import get_close_matches  # on use: start-up stays short

    found = get_close_matches(action.lower().replace("-", "_"), BY_ID, 1, 0.5)
    return f": did you mean {found[0]}?" if found else "; `nmem tui --keys` lists them"


def _keys(action: str, value: object) -> tuple[str, ...]:
    """Raises ValueError with the rest of the sentence."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise ValueError('must be a key or a list of keys: "x" or ["x", "ctrl+x"]; "" removes its keys')
    found = [_key(each) for each in listed if each.strip() or each == " "]
    for key in found:
        for owner, kept in ALWAYS.items():
            if key == kept and owner != action:
                raise ValueError(f"cannot have {key_name(key)}: that key is always {owner}")
    if action in ALWAYS and ALWAYS[action] not in found:
        found.append(ALWAYS[action])
    return tuple(dict.fromkeys(found))


def _key(given: str) -> str:
    """A key by the name that Textual has for it."""
    if given == " ":
        return "space"
    *modifiers, last = given.strip().split("+") if len(given.strip()) > 1 and not given.endswith("++") else [given]
    modifiers = [each.strip().lower() for each in modifiers]
    last = last.strip()
    if len(last) == 1:
        if modifiers == ["shift"]:
            modifiers, last = [], last.upper()
        last = _character_to_key(last.lower() if "ctrl" in modifiers else last)
    else:
        last = _ALIASES.get(last.lower(), last.lower())
        if last not in _NAMED and last not in _CHARACTERS:
            raise ValueError(f"has no key {given!r}: {_FORMS}")
    if any(each not in ("ctrl", "alt", "shift") for each in modifiers) or not last.isprintable() or not last:
        raise ValueError(f"has no key {given!r}: {_FORMS}")
    key = "+".join([*sorted(modifiers), last])
    if key in _SAME:
        raise ValueError(f"cannot have {given}: a terminal sends it as {_SAME[key]}")
    if key == "ctrl+c":
        raise ValueError("cannot have ctrl+c: ctrl+c copies marked text")
    return key


_CHARACTERS = {_character_to_key(chr(code)) for code in range(0x21, 0x7F)}


def _clash(wanted: Keys) -> tuple[str, str] | None:
    """The action, of those that a person gave keys, that takes another one's key; the last of two in the file."""
    for name in reversed(list(wanted)):
        mine = BY_ID[name]
        for other in ACTIONS:
            if other.id == name or not meet(mine, other):
                continue
            theirs = wanted.get(other.id, other.keys)
            for key in wanted[name]:
                if key in theirs:
                    where = _where(mine, other)
                    stays = " ".join(map(key_name, mine.keys))
                    return name, f"cannot have {key_name(key)}: that is {other.id} {where}; {stays} stays"
    return None


def meet(one: Action, other: Action) -> bool:
    """Whether two actions are to be had at one place; a deck's own keys go before those that lead to other screens."""
    for deck, way in ((one, other), (other, one)):
        if way.group == "Screens" and set(deck.context.split()) <= DECKS:
            return False
    return EVERYWHERE in (one.context, other.context) or not set(one.context.split()).isdisjoint(other.context.split())


def _where(one: Action, other: Action) -> str:
    if other.context == EVERYWHERE:
        return EVERYWHERE
    shared = [each for each in other.context.split() if one.context == EVERYWHERE or one.works_in(each)]
    return f"on the screen {shared[0].capitalize()}" if len(shared) == 1 else f"on {len(shared)} screens"


def bind(node: DOMNode, context: str, keys: Keys) -> None:
    """Give a screen, or the app, these keys instead of those it has; what is not of the registry stays."""
    own: list[Binding] = [binding for binding in _all(node._bindings) if binding.id not in BY_ID]
    made = BindingsMap(bindings(context, keys))
    for binding in own:
        made.key_to_bindings.setdefault(binding.key, []).append(binding)
    node._bindings = made


def _all(known: BindingsMap) -> Iterable[Binding]:
    return (binding for found in known.key_to_bindings.values() for binding in found)


def say(own: Keys, faults: Iterable[str], *, as_json: bool) -> None:
    """Print all actions with the keys that they have; errors of the config file go to standard error."""
    import click  # on use: start-up stays short

    from nmem.commands import terminal  # on use: start-up stays short

    for wrong in faults:
        click.echo(f"nmem: {wrong}", err=True)
    if as_json:
        click.echo(to_json({"actions": [_object(one, own) for one in ACTIONS]}))
        return
    rows = []
    for one in (each.with_keys(own) for each in ACTIONS):
        keys, places = " ".join(map(key_name, one.keys)) or "–", ", ".join(one.context.split())
        rows.append((one.id, f"{keys}{' (yours)' if one.id in own else ''}  {places}: {one.help}"))
    terminal.say("Actions of the cockpit: change their keys under [tui.keys] in config.toml", [("", rows)])


def _object(one: Action, keys: Keys) -> dict[str, object]:
    mine = one.with_keys(keys)
    return {"id": one.id, "keys": list(mine.keys), "default": list(one.keys), "screens": one.context.split(),
            "group": one.group, "writes": one.writes, "help": one.help}  # fmt: skip

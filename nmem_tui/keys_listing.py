"""Every action with its keys, for `nmem tui --keys` and for docs/keys.md."""

from __future__ import annotations

import click

from nmem.text import to_json
from nmem_tui import config
from nmem_tui.actions import ACTIONS, EVERYWHERE, Action, Keys, key_name

BEGIN, END = "<!-- keys -->", "<!-- end of keys -->"
_PLACES = (EVERYWHERE, "now", "episodes", "stance", "learnings", "context", "search", "tasks", "health", "review")


def say(*, as_json: bool) -> None:
    """The person's own keys counted in; what is wrong with them on standard error."""
    from capture import paths
    from nmem.commands import terminal

    own = config.read(paths.config())
    for wrong in own.wrong:
        click.echo(f"nmem: {wrong}", err=True)
    if as_json:
        click.echo(to_json({"actions": [_object(one, own.keys) for one in ACTIONS]}))
        return
    rows = [
        (one.id, f"{_keys(one) or '–'}{' (yours)' if one.id in own.keys else ''}  {_places(one)}: {one.help}")
        for one in (each.with_keys(own.keys) for each in ACTIONS)
    ]
    terminal.say("Actions of the cockpit: [tui.keys] in config.toml gives them other keys", [("", rows)])


def _object(one: Action, keys: Keys) -> dict[str, object]:
    mine = one.with_keys(keys)
    return {"id": one.id, "keys": list(mine.keys), "default": list(one.keys), "screens": one.context.split(),
            "group": one.group, "writes": one.writes, "help": one.help}  # fmt: skip


def _keys(one: Action) -> str:
    return " ".join(key_name(key) for key in one.keys)


def _places(one: Action) -> str:
    return ", ".join(one.context.split())


def markdown() -> str:
    """A table for all screens, then one for each of what it has beside that."""
    out = []
    for place in _PLACES:
        found = [one for one in ACTIONS if place in one.context.split()]
        if not found:
            continue
        out += [f"### {place.capitalize()}", "", "| keys | id | what it does |", "|---|---|---|"]
        out += [f"| {_cells(one)} | `{one.id}` | {one.help}{' (writes)' if one.writes else ''} |" for one in found]
        out.append("")
    return "\n".join(out)


def _cells(one: Action) -> str:
    named = (f"`` {key_name(key)} ``" if "`" in key_name(key) else f"`{key_name(key)}`" for key in one.keys)
    return " ".join(named).replace("|", "\\|")


def renewed(text: str) -> str:
    """A document with the tables as they are now. Raises ValueError where it has no place for them."""
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError("the marks between which the keys stand are gone")
    return f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}"

"""The generated parts of docs/: keys, settings, commands, tables; the table of completion; the plugin's hooks.

`python -m tests.reference` writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import click

import nmem_tui.app  # noqa: F401 - screens that are found where they lie add their actions
from capture.clients import ASYNC, CLIENTS, claude
from capture.clients.plugged import WORD
from nmem.commands.complete import FILE, FLAG, FOLDER, PROJECT, SESSION, TABLE, Words
from nmem.commands.main import COMMANDS, imported, nmem
from nmem.commands.terminal import Default
from nmem.settings.declared import TABLES as SETTINGS
from nmem.settings.listing import allowed
from nmem.store.registry import ALWAYS, BORN, TABLES, Table
from nmem_tui.model.actions import ACTIONS, EVERYWHERE, NUMBERED, Action, key_name
from nmem_tui.model.screens import MODES
from tests.house import ROOT, written

DOCS = ROOT / "docs"
HOOKS = ROOT / "plugin" / "hooks" / "hooks.json"
SESSIONS = {"SESSION", "SESSION...", "session", "--session"}
"""How arguments and options are called whose value is a session."""
KEYS = "<!-- keys -->", "<!-- end of keys -->"
MARKS = "<!-- settings -->", "<!-- end of settings -->"
BEGIN, END = "<!-- generated: python -m tests.reference -->", "<!-- end -->"


def commands() -> str:
    """A row for each command and each of its own commands."""
    lines = ["| command | what it does | options |", "|---|---|---|"]
    for name, help_ in COMMANDS.items():
        lines += rows(f"nmem {name}", imported(name), help_)
    return "\n".join(lines)


def shortened(command: click.Command, limit: int) -> str:
    """The first sentence of a command's help; whoever asked for help before may have made another one of it."""
    made, command.short_help = command.short_help, None
    try:
        return command.get_short_help_str(limit)
    finally:
        command.short_help = made


def rows(path: str, command: click.Command, help_: str = "") -> Iterator[str]:
    """The row of a command, then those of its own commands."""
    context = click.Context(command, info_name=path)
    arguments = [each.make_metavar(context) for each in command.params if isinstance(each, click.Argument)]
    options = [each.opts[0] for each in command.params if isinstance(each, click.Option) and not each.hidden]
    cells = (f"`{' '.join([path, *arguments])}`", help_ or shortened(command, 200), " ".join(options))
    yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (own := command.get_command(context, name)) and not own.hidden:
                yield from rows(f"{path} {name}", own)


def tables() -> str:
    """A row for each table of the registry."""
    lines = ["| table | kind | of | text | in an export | as of a moment |", "|---|---|---|---|---|---|"]
    for each in TABLES:
        export = f"with {each.export.part}" if each.export else ""
        texts = " ".join(f"`{name}`" for name in each.texts.split())
        lines.append(f"| `{each.name}` | {each.kind} | {each.of} | {texts} | {export} | {asof(each)} |")
    return "\n".join(lines)


def settings() -> str:
    """A section for each table of config.toml."""
    out = [""]
    for table in SETTINGS:
        out += [f"### [{table[0].parts[0]}]", "", "| setting | default | may be | meaning |", "|---|---|---|---|"]
        for one in table:
            default = "none" if one.default is None else f"`{json.dumps(one.default)}`"
            parts = f" (`*`: {', '.join(one.choices)})" if "*" in one.parts and one.choices else ""
            out.append(f"| `{one.name}` | {default} | {allowed(one)} | {one.meaning}{parts} |")
        out.append("")
    return "\n".join(out)


def keys() -> str:
    """A row for each action: first those of every screen, then by the screens that have them."""
    ranks = {place: rank for rank, place in enumerate((EVERYWHERE, *MODES, "review"))}
    lines = ["| keys | id | where | what it does |", "|---|---|---|---|"]
    for one in sorted(ACTIONS, key=lambda one: ranks[first_place(one)]):
        where = first_place(one) if first_place(one) == EVERYWHERE else ", ".join(one.context.split())
        lines.append(f"| {cells(one)} | `{one.id}` | {where} | {one.help}{' *(writes)*' if one.writes else ''} |")
    return "\n".join(lines)


def first_place(one: Action) -> str:
    return EVERYWHERE if one.context == NUMBERED else one.context.split()[0]


def cells(one: Action) -> str:
    named = (f"`` {key_name(key)} ``" if "`" in key_name(key) else f"`{key_name(key)}`" for key in one.keys)
    return " ".join(named).replace("|", "\\|")


def asof(table: Table) -> str:
    """Which rows a view as of a moment shows."""
    return {"": "", ALWAYS: "all rows", BORN: "rows that came before"}.get(table.asof, "rows known by then")


def words() -> str:
    """The table of the command line that completion reads (nmem.commands.complete): a line for each command."""
    lines = (f"{json.dumps(path)}: {json.dumps(row, ensure_ascii=False)}" for path, row in of_command("", nmem))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def of_command(path: str, command: click.Command) -> Iterator[tuple[str, Words]]:
    """The row of a command, then those of its own commands."""
    context = click.Context(command)
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    yield (
        path,
        {
            "help": COMMANDS.get(path) or shortened(command, 90),
            "options": [([*each.opts, *each.secondary_opts], kind(path, each), short(each.help)) for each in options],
            "arguments": [
                (str(each.name), kind(path, each), each.nargs)
                for each in command.params
                if isinstance(each, click.Argument)
            ],
            "alone": "list" if isinstance(command, Default) else "",
        },
    )
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (own := command.get_command(context, name)) and not own.hidden:
                yield from of_command(f"{path} {name}".strip(), own)


def plugin_hooks() -> str:
    """The hooks of the Claude Code plugin: those that `nmem init` registers, by the command that is on the PATH."""
    out: dict[str, list[object]] = {}
    for event, how in claude.EVENTS.items():
        line = f"command -v nmem-hook >/dev/null 2>&1 && exec nmem-hook claude {event} {WORD} || exit 0"
        handler: dict[str, object] = {"type": "command", "command": line, "timeout": how.timeout}
        handler |= {"async": True} if how.mode == ASYNC else {}
        out[event] = [({"matcher": how.matcher} if how.matcher else {}) | {"hooks": [handler]}]
    said = "Records sessions, and tells them what is remembered. Rests where nmem init registered the same hooks."
    return json.dumps({"description": said, "hooks": out}, indent=2) + "\n"


def short(help_: str | None) -> str:
    """The first sentence of an option's help."""
    return (help_ or "").partition(". ")[0].rstrip(".")[:90]


def kind(path: str, param: click.Parameter) -> str:
    """What completes the value of a parameter."""
    if isinstance(param, click.Option) and (param.is_flag or param.count):
        return FLAG
    if isinstance(param.type, click.Choice):
        return "|".join(map(str, param.type.choices))
    if isinstance(param.type, click.Path | click.File):
        return FOLDER if isinstance(param.type, click.Path) and not param.type.file_okay else FILE
    if path.startswith("config ") and param.name == "name":
        return "|".join(sorted(one.name for table in SETTINGS for one in table if "*" not in one.parts))
    if param.metavar in ("DIR", "FILE"):
        return FILE if param.metavar == "FILE" else FOLDER
    if param.name == "project":
        return PROJECT
    if param.name == "client":
        return "|".join(CLIENTS)
    if param.name in ("file", "path"):
        return FILE
    return SESSION if {param.name, param.metavar, *param.opts} & SESSIONS else ""


GENERATED: dict[str, Callable[[str], str]] = {
    "keys.md": lambda page: written(page, keys(), *KEYS),
    "config.md": lambda page: written(page, settings(), *MARKS),
    "commands.md": lambda page: written(page, commands(), BEGIN, END),
    "tables.md": lambda page: written(page, tables(), BEGIN, END),
}
"""Page -> the page as it should be, of the page as it is."""


def main() -> None:
    """Write every page anew."""
    for name, renewed in GENERATED.items():
        file = DOCS / name
        file.write_text(renewed(file.read_text("utf-8")), "utf-8")
    TABLE.write_text(words(), "utf-8")
    HOOKS.write_text(plugin_hooks(), "utf-8")


if __name__ == "__main__":
    main()

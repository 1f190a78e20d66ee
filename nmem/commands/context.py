"""`nmem context`: the exact text that a session would be told now, or would have been told, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from nmem.commands import terminal

if TYPE_CHECKING:
    from nmem.context.items import Item
    from nmem.context.preview import Preview


@click.command()
@click.option("--preview", is_flag=True, help="As if the prompt were sent now; the same without it.")
@click.option("--prompt", default="", metavar="TEXT", help="What is asked; else what a session is told at its start.")
@click.option("--explain", is_flag=True, help="Each thing with its score, reason and tokens, and what was left out.")
@click.option("--as-of", "as_of", metavar="TIME", help="As it was then, and no later: 2026-01-31T10:00, 7d, 12h.")
@click.option("--session", default="", metavar="ID", help="In this session: without what it has been told already.")
@click.option("--project", default="", help="Of this project (name, key or root); else of the folder you are in.")
@click.option("--branch", default="", help="On this branch; else on the one that is checked out.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="At most so long; else as configured.")
@click.option("--report", is_flag=True, help="Whether telling helps: sessions told beside those kept without.")
@click.option("--off", is_flag=True, help="From now on, tell the sessions of this project nothing.")
@click.option("--on", "again", is_flag=True, help="Tell them something again.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def command(
    *, preview: bool, prompt: str, explain: bool, as_of: str | None, session: str, project: str, branch: str,
    budget: int | None, report: bool, off: bool, again: bool, as_json: bool,
) -> None:  # fmt: skip
    """What the next session is told, exactly.

    What became of what sessions were told is shown by --report.
    """
    from capture import paths
    from nmem.context.preview import Asked
    from nmem.context.preview import preview as made

    if report or off or again:
        from nmem.commands import context_told

        if report:
            context_told.report(project, as_json=as_json)
        else:
            context_told.switch(project or _here()[0], off=off)
        return
    if preview and not prompt:
        raise click.UsageError("--preview asks what a prompt would bring: give it with --prompt TEXT")
    if not project and not session:
        project, here = _here()
        branch = branch or here
    asked = Asked(project, session, prompt, branch, terminal.now(), terminal.when(as_of) if as_of else None)
    found = made(paths.database(), asked, budget or _budget(prompt))
    if as_json:
        click.echo(json.dumps(_object(found), ensure_ascii=False))
    elif explain:
        _explain(found)
    else:
        click.echo(found.text or f"nothing: {found.why_silent}", err=not found.text)


def _here() -> tuple[str, str]:
    """The project of the folder this runs in, and its branch."""
    from pathlib import Path

    from capture.project import resolve

    found = resolve(str(Path.cwd()))
    return found.key, found.branch or ""


def _budget(prompt: str) -> int:
    from nmem.context.config import load

    config = load()
    return config.prompt_tokens if prompt else config.start_tokens


def _object(found: Preview) -> dict[str, object]:
    return {
        "project": found.project, "session": found.session_id or None, "prompt": found.prompt, "at": found.at,
        "budget": found.budget, "tokens": found.tokens, "text": found.text, "why_silent": found.why_silent or None,
        "items": [_item(each) for each in found.items], "left_out": [_item(each) for each in found.left_out],
    }  # fmt: skip


def _item(item: Item) -> dict[str, object]:
    return {"id": item.id, "kind": item.kind, "score": round(item.score, 4), "reason": item.reason,
            "tokens": item.tokens, "files": list(item.files), "text": item.text}  # fmt: skip


def _explain(found: Preview) -> None:
    when = "at a prompt" if found.prompt else "when a session starts"
    heading = f"context of {found.project}, {when}: {found.tokens} of {found.budget} tokens"
    text = [("", line) for line in (found.text or f"nothing: {found.why_silent}").split("\n")]
    told = [(each.id, _why(each)) for each in found.items]
    left = [(each.id, f"{_why(each)}: {each.text}") for each in found.left_out]
    terminal.say(heading, [("", text), ("Told", told), ("Left out", left)])


def _why(item: Item) -> str:
    return f"{item.score:.2f}  {terminal.count(item.tokens, 'token'):>10}  {item.reason}"

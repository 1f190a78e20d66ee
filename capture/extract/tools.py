"""Turns a call of any tool but the shell into observations (an edit: one for each file): type, text, facts."""

from __future__ import annotations

from capture.event import Event, Observation, names_episode
from capture.extract.relative import relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from capture.event import Project

_TEXT = 24_000  # characters handed on; the door to the store keeps fewer


def text(value: object) -> str:
    """A string as it is, nothing for anything else."""
    return value if isinstance(value, str) else ""


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def describe(event: Event, project: Project) -> list[Observation]:
    """The observations of one call: one, or one for each file of an edit."""
    if event.tool in ("edit", "write"):
        files = _dicts(event.tool_input.get("files"))
        return [_changed(event, project, file) for file in files] or [
            _new(event, _FILE_TYPES[event.tool], event.tool_name)
        ]
    tell = _TELL.get(event.tool, _other)
    return [tell(event, project)]


def _new(event: Event, obs_type: str, content: str) -> Observation:
    return Observation(event.at, obs_type, content[:_TEXT], dedup_key="")


def _place(event: Event, project: Project, path: object) -> str | None:
    return relative(text(path), project.root, event.cwd, event.home)


def _changed(event: Event, project: Project, file: dict[str, object]) -> Observation:
    from capture.extract.diff import compact  # on use: start-up stays short

    seen = _new(event, _FILE_TYPES[event.tool], "")
    seen.file_path = _place(event, project, file.get("path"))
    added, removed = file.get("added"), file.get("removed")
    seen.lines_added = added if isinstance(added, int) else None
    seen.lines_removed = removed if isinstance(removed, int) else None
    if file.get("created") is True:
        seen.metadata["created"] = True
        seen.obs_type = "file_write"
    if file.get("deleted") is True:
        seen.metadata["deleted"] = True
    if moved := _place(event, project, file.get("moved_from")):
        seen.metadata["moved_from"] = moved
    seen.content = "deleted" if file.get("deleted") is True else compact(file) or seen.file_path or event.tool_name
    return seen


def _read(event: Event, project: Project) -> Observation:
    path = _place(event, project, event.tool_input.get("path"))
    offset, limit = event.tool_input.get("offset"), event.tool_input.get("limit")
    lines = ""
    if isinstance(offset, int) or isinstance(limit, int):
        first = offset if isinstance(offset, int) else 1
        lines = f":{first}-{first + limit - 1}" if isinstance(limit, int) else f":{first}-"
    seen = _new(event, "file_read", (path or text(event.tool_input.get("path")) or event.tool_name) + lines)
    seen.file_path = path
    return seen


def _search(event: Event, project: Project) -> Observation:
    given = event.tool_input
    what = text(given.get("pattern")) or text(given.get("glob")) or event.tool_name
    where = _place(event, project, given.get("path"))
    content = f"{what} in {where}" if where and where != "." else what
    if text(given.get("glob")) and what != given["glob"]:
        content += f" ({given['glob']})"
    return _new(event, "search", content)


def _web_fetch(event: Event, _: Project) -> Observation:
    seen = _new(event, "web_fetch", text(event.tool_input.get("url")) or event.tool_name)
    if asked := text(event.tool_input.get("prompt")):
        seen.metadata["prompt"] = asked[:_TEXT]
    return seen


def _web_search(event: Event, _: Project) -> Observation:
    return _new(event, "web_search", text(event.tool_input.get("query")) or event.tool_name)


def _agent(event: Event, _: Project) -> Observation:
    given = event.tool_input
    prompt = text(given.get("prompt"))
    what = text(given.get("description")) or prompt.strip().partition("\n")[0] or event.tool_name
    seen = _new(event, "task_spawn", what)
    if prompt and prompt != what:
        seen.metadata["prompt"] = prompt[:_TEXT]
    output = event.output if isinstance(event.output, dict) else {}
    if kind := text(given.get("subagent_type")) or text(output.get("agentType")):
        seen.metadata["subagent_type"] = kind
    if spawned := text(output.get("agentId")):
        seen.metadata["spawned_agent"] = spawned
    for name, key in (("totalTokens", "tokens"), ("totalToolUseCount", "tool_calls")):
        if isinstance(output.get(name), int):
            seen.metadata[key] = output[name]
    return seen


def _todo(event: Event, _: Project) -> Observation:
    marks = {"completed": "[x]", "done": "[x]", "in_progress": "[>]", "cancelled": "[-]", "deleted": "[-]"}
    lines = []
    for item in _dicts(event.tool_input.get("items")):
        what = text(item.get("content")) or (f"#{item['id']}" if "id" in item else "")
        lines.append(f"{marks.get(text(item.get('status')), '[ ]')} {what}")
    return _new(event, "todo", "\n".join(lines) or event.tool_name)


def _ask(event: Event, _: Project) -> Observation:
    lines = []
    asked: list[dict[str, object]] = []
    for one in _dicts(event.tool_input.get("questions")):
        question, answer = text(one.get("question")), text(one.get("answer"))
        lines.append(f"{question} -> {answer}" if answer else question)
        asked.append({key: one[key] for key in ("question", "options", "answer") if one.get(key)})
    seen = _new(event, "question", "\n".join(lines) or event.tool_name)
    seen.metadata["decision"] = True
    seen.metadata["questions"] = asked[:20]
    return seen


def _plan(event: Event, _: Project) -> Observation:
    plan = text(event.tool_input.get("plan"))
    if not plan and isinstance(event.output, dict):
        plan = text(event.output.get("plan"))
    seen = _new(event, "plan", plan or event.tool_name)
    seen.metadata["decision"] = True
    return seen


def _skill(event: Event, _: Project) -> Observation:
    name, args = text(event.tool_input.get("skill")), text(event.tool_input.get("args"))
    seen = _new(event, "skill", f"{name} {args}".strip() or event.tool_name)
    if name:
        seen.metadata["skill"] = name
    return seen


def _mcp(event: Event, _: Project) -> Observation:
    given = event.tool_input
    server, tool = text(given.get("server")), text(given.get("tool"))
    name = f"{server}/{tool}" if server else tool or event.tool_name
    seen = _new(event, "mcp_call", f"{name} {arguments(given.get('arguments'))}".rstrip())
    seen.metadata["server"] = server
    if names_episode(event):
        own = _dicts([given.get("arguments")])[0]
        # Cut by `seal` alone, which redacts first: half of a secret is known to nobody.
        seen.metadata["episode"] = {key: text(own.get(key)) for key in ("title", "resumes")}
    return seen


def _other(event: Event, project: Project) -> Observation:
    path = event.tool_input.get("file_path") or event.tool_input.get("path")
    seen = _new(event, "tool_other", f"{event.tool_name} {arguments(event.tool_input)}".strip())
    seen.file_path = _place(event, project, path)
    return seen


def arguments(value: object, depth: int = 0) -> str:
    """Arguments on one line, `key=value`; long texts are told by their first line, deep ones by their size."""
    if isinstance(value, dict):
        if depth > 2:
            return f"{{{len(value)}}}"
        pairs = [
            f"{key}={arguments(item, depth + 1)}"
            for key, item in list(value.items())[:20]
            if item not in (None, "", [], {})
        ]
        return " ".join(pairs) if not depth else "{" + " ".join(pairs) + "}"
    if isinstance(value, list):
        if depth > 2:
            return f"[{len(value)}]"
        return "[" + ", ".join(arguments(item, depth + 1) for item in value[:10]) + (", …]" if len(value) > 10 else "]")
    if isinstance(value, str):
        first, newline, _ = value.partition("\n")
        if len(first) > 1_000:
            return f"({len(value)} characters)"
        return f"{first} …" if newline else first
    return str(value)


_FILE_TYPES = {"edit": "file_edit", "write": "file_write"}
_TELL: dict[str, Callable[[Event, Project], Observation]] = {
    "read": _read, "search": _search, "web_fetch": _web_fetch, "web_search": _web_search, "agent": _agent,
    "todo": _todo, "ask": _ask, "plan": _plan, "skill": _skill, "mcp": _mcp,
}  # fmt: skip

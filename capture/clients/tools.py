"""Maps each client's tool names and arguments to common tools (shell, edit, read, mcp ...) and keys."""

from __future__ import annotations

from capture.clients.fields import arguments, first, items, mapping, text, whole
from capture.clients.said import strip_tree
from capture.event import Event

_PATH = ("file_path", "path", "filePath", "notebook_path", "absolute_path", "target_file", "filename", "file")
_OLD = ("old_string", "old_str", "oldString", "old_text", "old_source")
_NEW = ("new_string", "new_str", "newString", "new_text", "new_source")
_CONTENT = ("content", "contents", "file_text", "text", "new_source", *_NEW[:3])
_PATCH = ("command", "patch", "input", "patchText", "diff")


def canonical(name: str, given: object, names: dict[str, str]) -> tuple[str, dict[str, object]]:
    """The canonical tool and its canonical input; `names` is the client's own table of tools."""
    native = mapping(strip_tree(arguments(given)))
    server, tool = mcp_name(name)
    if server or tool:
        return "mcp", {"server": server, "tool": tool, "arguments": native}
    kind = _really(names.get(name, "other"), native)
    build = _BUILD.get(kind)
    return "edit" if kind == "delete" else kind, build(native) if build else native


def mcp_name(name: str) -> tuple[str, str]:
    """Server and tool of `mcp__server__tool`, `mcp_server_tool` and `MCP:tool`; two empty texts for any other tool."""
    if name.startswith("mcp__"):
        server, _, tool = name[5:].partition("__")
    elif name.startswith("mcp_"):
        server, _, tool = name[4:].partition("_")
    elif name.startswith("MCP:"):
        server, tool = "", name[4:].strip()
    else:
        return "", ""
    return server, tool


def _really(kind: str, native: dict[str, object]) -> str:
    """Some tools do several things: their arguments say which."""
    if kind == "write" and any(key in native for key in _OLD):
        return "edit"
    if kind == "editor":
        return {"view": "read", "create": "write"}.get(text(native.get("command")), "edit")
    return kind


def _shell(native: dict[str, object]) -> dict[str, object]:
    command: object = native.get("command") or native.get("cmd") or native.get("input")
    if isinstance(command, list):
        command = _joined(command)
    background = native.get("run_in_background") or native.get("is_background") or native.get("background")
    return {
        "command": text(command),
        "description": first(native, "description", "justification"),
        "background": background is True,
        "cwd": first(native, "cwd", "workdir", "working_directory", "dir_path", "directory"),
    }


def _joined(words: list[object]) -> str:
    """An argument vector as one command; `bash -lc SCRIPT` is the script."""
    argv = [text(word) for word in words]
    if len(argv) == 3 and argv[1] in ("-c", "-lc") and argv[0].endswith("sh"):
        return argv[2]
    plain = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")
    return " ".join(
        word if word and plain.issuperset(word) else "'" + word.replace("'", "'\\''") + "'" for word in argv
    )


def _edit(native: dict[str, object]) -> dict[str, object]:
    from capture.clients.patch import apply_patch, change  # on use: start-up stays short

    for key in _PATCH:
        value = native.get(key)
        if isinstance(value, str) and "*** Begin Patch" in value:
            return {"files": apply_patch(value)}
    path = first(native, *_PATH)
    edits = [mapping(edit) for edit in items(native.get("edits"))]
    if not edits:
        return {
            "files": [change(path, first(native, *_OLD), first(native, *_NEW, "content", "insert_text", "code_edit"))]
        }
    parts = [change(path, first(edit, *_OLD), first(edit, *_NEW)) for edit in edits]
    file = change(path)
    file["old"] = "\n".join(text(part["old"]) for part in parts)
    file["new"] = "\n".join(text(part["new"]) for part in parts)
    file["added"] = sum(whole(part["added"]) or 0 for part in parts)
    file["removed"] = sum(whole(part["removed"]) or 0 for part in parts)
    return {"files": [file]}


def _write(native: dict[str, object]) -> dict[str, object]:
    from capture.clients.patch import change  # on use: start-up stays short

    file = change(first(native, *_PATH), "", first(native, *_CONTENT))
    # until the client says what stood there before, nobody knows what went
    file["removed"] = None
    return {"files": [file]}


def _delete(native: dict[str, object]) -> dict[str, object]:
    from capture.clients.patch import change  # on use: start-up stays short

    file = change(first(native, *_PATH), created=False)
    file["deleted"], file["removed"] = True, None
    return {"files": [file]}


def _read(native: dict[str, object]) -> dict[str, object]:
    path = first(native, *_PATH, "paths", "uri")
    several = native.get("paths") or native.get("include")
    if not path and isinstance(several, list):
        path = " ".join(text(each) for each in several).strip()
    return {"path": path, "offset": whole(native.get("offset")), "limit": whole(native.get("limit"))}


def _search(native: dict[str, object]) -> dict[str, object]:
    return {
        "pattern": first(native, "pattern", "query", "regex", "glob_pattern"),
        "path": first(native, "path", "dir_path", "directory_path", "target_directory", "directory"),
        "glob": first(native, "glob", "include_pattern", "include", "globPattern"),
    }


def _web_fetch(native: dict[str, object]) -> dict[str, object]:
    return {"url": first(native, "url", "uri"), "prompt": text(native.get("prompt"))}


def _web_search(native: dict[str, object]) -> dict[str, object]:
    return {"query": first(native, "query", "search_term", "q")}


def _agent(native: dict[str, object]) -> dict[str, object]:
    return {
        "description": first(native, "description", "name", "title"),
        "prompt": first(native, "prompt", "task", "message", "objective"),
        "subagent_type": first(native, "subagent_type", "agent_type", "agent_name", "agent"),
        "background": native.get("run_in_background") is True,
    }


def _todo(native: dict[str, object]) -> dict[str, object]:
    listed = native.get("todos") or native.get("plan") or native.get("items")
    if isinstance(listed, str):
        return {"items": [_ticked(line) for line in listed.split("\n") if line.strip()]}
    if isinstance(listed, list):
        return {"items": [_item(mapping(each)) for each in listed]}
    return {"items": [_item(native)] if native else []}


def _item(native: dict[str, object]) -> dict[str, object]:
    item: dict[str, object] = {
        "content": first(native, "content", "subject", "step", "title", "description", "text"),
        "status": text(native.get("status")) or "pending",
    }
    number = native.get("taskId") or native.get("id")
    if isinstance(number, str | int):
        item["id"] = str(number)
    return item


def _ticked(line: str) -> dict[str, object]:
    """An item of a list written as text: `- [x] done`, `1. [in_progress] doing`."""
    words = line.strip().lstrip("-*0123456789. ")
    if words.startswith("[") and "]" in words:
        mark, _, words = words[1:].partition("]")
        done = {"x": "completed", "": "pending", "~": "in_progress"}
        return {"content": words.strip(), "status": done.get(mark.strip().lower(), mark.strip())}
    return {"content": words, "status": "pending"}


def _ask(native: dict[str, object]) -> dict[str, object]:
    listed = items(native.get("questions")) or [native]
    given = mapping(native.get("answers"))
    asked: list[dict[str, object]] = []
    for number, each in enumerate(listed):
        one = mapping(each)
        question = first(one, "question", "prompt", "text", "message")
        answer = given.get(question, given.get(str(number)))
        asked.append({"question": question, "options": _options(one), "answer": _answer(answer)})
    return {"questions": asked}


def answered(event: Event, given: dict[str, object]) -> str:
    """Put the answers to their questions and say them as text."""
    said: list[str] = []
    for number, each in enumerate(items(event.tool_input.get("questions"))):
        one = mapping(each)
        question = text(one.get("question"))
        one["answer"] = _answer(given.get(question, given.get(str(number)))) or text(one.get("answer"))
        if one["answer"]:
            said.append(f"{question} {one['answer']}".strip())
    return "\n".join(said)


def _options(one: dict[str, object]) -> list[str]:
    listed = items(one.get("options")) or items(one.get("choices"))
    return [each if isinstance(each, str) else first(mapping(each), "label", "value", "name") for each in listed]


def _answer(answer: object) -> str:
    if isinstance(answer, list):
        return ", ".join(text(each) for each in answer)
    return text(answer)


def _plan(native: dict[str, object]) -> dict[str, object]:
    return {"plan": first(native, "plan", "overview", "summary"), "path": first(native, "planFilePath", "plan_path")}


def _skill(native: dict[str, object]) -> dict[str, object]:
    given = first(native, "skill", "name", "command", "skill_name").removeprefix("/")
    skill, _, args = given.partition(" ")
    return {"skill": skill, "args": first(native, "args", "arguments") or args}


def _resource(native: dict[str, object]) -> dict[str, object]:
    return {"server": first(native, "server", "server_name"), "tool": "resource", "arguments": native}


_BUILD = {
    "shell": _shell, "edit": _edit, "write": _write, "read": _read, "search": _search, "web_fetch": _web_fetch,
    "web_search": _web_search, "agent": _agent, "todo": _todo, "ask": _ask, "plan": _plan, "skill": _skill,
    "mcp": _resource, "delete": _delete,
}  # fmt: skip

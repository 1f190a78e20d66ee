"""Maps Claude Code's tools to common kinds, lists their response fields, and fills Events from responses."""

from __future__ import annotations

from capture.clients.fields import first, items, mapping, text, whole, words
from capture.clients.output import exit_code, failed_flag, flat, number_in, without_blobs
from capture.clients.said import strip_own
from capture.event import STOPPED, TOOL_ERROR, Event

NAMES = {
    "Bash": "shell", "PowerShell": "shell", "Monitor": "shell",
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit", "Write": "write",
    "Read": "read", "NotebookRead": "read",
    "Glob": "search", "Grep": "search", "LS": "search", "LSP": "search",
    "WebFetch": "web_fetch", "WebSearch": "web_search",
    "Agent": "agent", "Task": "agent",
    "TodoWrite": "todo", "TaskCreate": "todo", "TaskUpdate": "todo",
    "AskUserQuestion": "ask", "ExitPlanMode": "plan", "exit_plan_mode": "plan",
    "Skill": "skill", "SlashCommand": "skill",
    "ListMcpResourcesTool": "mcp", "ReadMcpResourceTool": "mcp",
}  # fmt: skip

EDITOR = "mcp__acp__"
"""Prefix of tools that an editor provides in place of Claude Code's own: `mcp__acp__Bash` takes what Bash takes."""
_COMMAND = words(
    "stdout stderr interrupted isImage noOutputExpected backgroundTaskId backgroundedByUser timedOutAfterMs sandbox"
    " returnCodeInterpretation persistedOutputPath persistedOutputSize gitOperation staleReadFileStateHint is_error"
    " assistantAutoBackgrounded rawOutputPath structuredContent summary dangerouslyDisableSandbox exitCode"
)
_FILE = words(
    "type filePath content structuredPatch originalFile originalFileContents userModified gitDiff staged oldString"
    " newString replaceAll edits"
)
_AGENT = words(
    "status prompt agentId agentType content totalDurationMs totalTokens totalToolUseCount usage toolStats toolsUsed"
    " resolvedModel worktreePath worktreeBranch isAsync description outputFile canReadOutputFile canContinueAgent"
    " harnessNoteCount harnessTailCount harnessSectionHash taskId sessionUrl name teamName team_name teammate_id"
    " agent_id agent_type model color tmux_session_name tmux_window_name tmux_pane_id is_splitpane"
    " plan_mode_required"
)

# What each tool's response has held, in some version; a tool that is not here is not checked.
RESPONSES = {
    "Bash": _COMMAND,
    "PowerShell": _COMMAND,
    "BashOutput": words(
        "shellId command status exitCode stdout stderr stdoutLines stderrLines timestamp filterPattern"
    ),
    "Read": frozenset(("type", "file", "parts")),
    "Write": _FILE,
    "Edit": _FILE,
    "MultiEdit": _FILE,
    "NotebookEdit": words(
        "new_source old_source cell_id cell_type language edit_mode error notebook_path original_file updated_file"
    ),
    "Glob": words("filenames durationMs numFiles truncated totalMatches countIsComplete"),
    "Grep": words(
        "mode filenames numFiles content numLines numMatches appliedLimit appliedOffset totalLines totalFiles"
        " durationMs truncated"
    ),
    "Agent": _AGENT,
    "Task": _AGENT,
    "SendMessage": words("success message pin recipients routing request_id target"),
    "TaskStop": words("message task_id task_type command"),
    "Monitor": words("taskId timeoutMs persistent"),
    "WebFetch": words("bytes code codeText result durationMs url"),
    "WebSearch": words("query results durationSeconds searchCount"),
    "TodoWrite": words("oldTodos newTodos verificationNudgeNeeded"),
    "TaskCreate": frozenset(("task",)),
    "TaskUpdate": words("success taskId updatedFields statusChange error verificationNudgeNeeded"),
    "Skill": words("success commandName allowedTools model status agentId result forkedFrom"),
    "AskUserQuestion": words("questions answers annotations metadata"),
    "ExitPlanMode": words("plan isAgent filePath planWasEdited hasTaskTool awaitingLeaderApproval requestId"),
    "EnterWorktree": words("worktreePath worktreeBranch message"),
    "ExitWorktree": words(
        "action originalCwd worktreePath worktreeBranch restoredCwd originalCwdMissing message discardedFiles"
        " discardedCommits tmuxSessionName"
    ),
    "ToolSearch": words("matches query total_deferred_tools pending_mcp_servers"),
}


# The user stopped the call, or never let it run.
_REFUSED = ("[Request interrupted by user for tool use]", "User rejected tool use", "The user doesn't want to",
            "User declined")  # fmt: skip
_NOT_ALLOWED = ("Claude requested permissions to ", "This command requires approval", "Permission to use ",
                "This Bash command contains multiple operations.")  # fmt: skip
"""What the rules of a client that cannot ask (`claude -p`) let no call do."""
_SIBLING = ("Sibling tool call errored", "Cancelled: parallel tool call")


def answer(event: Event, response: object) -> None:
    """Fill an event from a successful call's response, or from a failure's text."""
    event.output = response
    if isinstance(response, str):
        return _answer_text(event, response)
    given = mapping(response)
    event.duration_ms = _duration(event.duration_ms, given)
    event.ok = not failed_flag(given) and event.kind != TOOL_ERROR
    by_editor = event.tool_name.startswith(EDITOR)  # it answers as an MCP server does
    read = None if by_editor else _READERS.get(event.tool_name) or _READERS.get(event.tool)
    said = read(event, given) if read and given else flat(response)
    event.output_text = strip_own(said)
    if by_editor and event.tool == "shell":
        _answer_terminal(event, said)
    return None


def _answer_terminal(event: Event, said: str) -> None:
    """An editor's terminal states the end first: "Exited with code 1.Final output:" or "Timed out. New output:"."""
    head, _, rest = said.partition("output:\n")
    if head == "Timed out. New ":
        event.ok = False
    elif head.startswith("Exited with code "):
        event.exit_code = number_in(head.removeprefix("Exited with code ").removesuffix(".Final "))
        event.ok, event.output_text = not event.exit_code, strip_own(rest.lstrip("\n"))


def _answer_text(event: Event, response: str) -> None:
    """A text: a failure's error, a resource's content, an MCP server's JSON."""
    said = response.removeprefix("Error: ")
    broken = said.startswith("<tool_use_error>")
    if broken:
        said = said.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    failed = event.kind == TOOL_ERROR or broken or said is not response
    event.exit_code, said = exit_code(said, "Exit code ", "Command failed with exit code ")
    event.ok = not failed and not event.exit_code
    if said.startswith((STOPPED, *_REFUSED)):
        event.interrupted, event.ok = True, False
    if said.startswith(_REFUSED):
        event.refused = "user"
    elif failed and said.startswith(_NOT_ALLOWED):
        event.refused, event.ok = "rules", False
    elif said.startswith(_SIBLING):
        event.refused = "sibling"
    event.output_text = strip_own(without_blobs(said))


def _duration(known: int | None, given: dict[str, object]) -> int | None:
    """The call's duration in milliseconds, from the response when the payload had none."""
    if known is not None:
        return known
    for key in ("durationMs", "totalDurationMs"):
        if key in given:
            return whole(given[key])
    seconds = given.get("durationSeconds")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
        return whole(seconds * 1000)
    return None


def _shell(event: Event, given: dict[str, object]) -> str:
    if given.get("isImage") is True:
        event.exit_code = 0 if event.ok else None
        return "[image]"
    stdout, stderr = without_blobs(text(given.get("stdout"))), without_blobs(text(given.get("stderr")))
    event.exit_code, stderr = exit_code(stderr, "Exit code ", "Error: Exit code ")
    event.exit_code = _code(given, event.exit_code)
    event.interrupted = event.interrupted or given.get("interrupted") is True
    if event.interrupted or event.exit_code:
        event.ok = False
    elif first(given, "backgroundTaskId", "taskId"):
        # it was only launched: how it ends is not known yet
        event.ok = None
        event.tool_input["background"] = True
    elif event.ok and event.exit_code is None and not given.get("returnCodeInterpretation"):
        event.exit_code = 0
    return "\n".join(part for part in (stdout.rstrip("\n"), stderr.rstrip("\n")) if part)


def _code(given: dict[str, object], otherwise: int | None) -> int | None:
    for key in ("exitCode", "exit_code", "returnCode"):
        if key in given:
            return whole(given[key])
    return otherwise


def _polled(event: Event, given: dict[str, object]) -> str:
    """A background command that was looked at: once it has ended, this is how it ended."""
    task = mapping(given.get("task")) or given
    event.exit_code = _code(task, None)
    command = text(task.get("command"))
    event.ok = None if event.exit_code is None else event.exit_code == 0
    if event.exit_code is not None and command:
        event.tool = "shell"
        event.tool_input = {"command": command, "description": "", "background": True, "cwd": ""}
    parts = [flat(task.get(key)) for key in ("stdout", "stderr", "output")]
    return "\n".join(part for part in parts if part)


def _file(event: Event, given: dict[str, object]) -> str:
    files = items(event.tool_input.get("files"))
    path = text(given.get("filePath"))
    if not files and path:
        # a transcript's record may carry the response alone
        from capture.clients.patch import change  # on use: start-up stays short

        files = [change(path, text(given.get("oldString")), first(given, "newString", "content"))]
        event.tool_input["files"] = files
    if files:
        file = mapping(files[0])
        file["path"] = file.get("path") or path
        _counted(file, given)
    return ""


def _counted(file: dict[str, object], given: dict[str, object]) -> None:
    """What the response knows of a file beyond the input: whether it is new, and its lines as a diff counts them."""
    from capture.clients.patch import change, take_hunks  # on use: start-up stays short

    original = given.get("originalFile", given.get("originalFileContents"))
    kind = given.get("type")
    file["created"] = kind == "create" if kind in ("create", "update") else original == "" and not file.get("old")
    if take_hunks(file, given.get("structuredPatch")):
        return
    if kind == "create":
        file["removed"] = 0
    elif kind == "update" and isinstance(original, str):
        counted = change("", original, text(file.get("new")))
        file["added"], file["removed"] = counted["added"], counted["removed"]


def _notebook(event: Event, given: dict[str, object]) -> str:
    files = items(event.tool_input.get("files"))
    mode, old = text(given.get("edit_mode")), text(given.get("old_source"))
    if files:
        file = mapping(files[0])
        new = "" if mode == "delete" else text(file.get("new"))
        from capture.clients.patch import change  # on use: start-up stays short

        file.update(change(text(file.get("path")) or text(given.get("notebook_path")), old, new, created=False))
    return text(given.get("error"))


def _read(_event: Event, given: dict[str, object]) -> str:
    file = mapping(given.get("file"))
    kind = text(given.get("type"))
    if kind == "text":
        return without_blobs(text(file.get("content")))
    if kind == "notebook":
        return flat([mapping(cell).get("source") for cell in items(file.get("cells"))])
    return f"[{kind or 'file'}]"


def _found(_event: Event, given: dict[str, object]) -> str:
    names = "\n".join(text(name) for name in items(given.get("filenames")))
    return flat(given.get("content")) or names


def _agent(event: Event, given: dict[str, object]) -> str:
    status = text(given.get("status"))
    if status.endswith("_launched") or status == "teammate_spawned" or given.get("isAsync") is True:
        event.ok = None
        event.tool_input["background"] = True
        return ""
    if status in ("failed", "killed", "error"):
        event.ok = False
    return flat(given.get("content"))


def _fetched(event: Event, given: dict[str, object]) -> str:
    code = whole(given.get("code"))
    if code is not None and code >= 400:
        event.ok = False
    return flat(given.get("result"))


def _searched(_event: Event, given: dict[str, object]) -> str:
    lines: list[str] = []
    for result in items(given.get("results")):
        if isinstance(result, str):
            lines.append(result)
        for hit in items(mapping(result).get("content")):
            one = mapping(hit)
            lines.append(f"{text(one.get('title'))} {text(one.get('url'))}".strip())
    return "\n".join(lines)


def _asked(event: Event, given: dict[str, object]) -> str:
    from capture.clients.tools import answered  # on use: start-up stays short

    return answered(event, mapping(given.get("answers")))


def _planned(event: Event, given: dict[str, object]) -> str:
    plan = text(given.get("plan"))
    if plan:
        event.tool_input["plan"] = plan
    return ""


def _todo(event: Event, given: dict[str, object]) -> str:
    """Task tools answer with the task's number; the list itself is in the input."""
    number = mapping(given.get("task")).get("id")
    listed = items(event.tool_input.get("items"))
    if isinstance(number, str | int) and len(listed) == 1:
        mapping(listed[0])["id"] = str(number)
    return text(given.get("error"))


_READERS = {
    "shell": _shell, "BashOutput": _polled, "TaskOutput": _polled, "edit": _file, "write": _file,
    "NotebookEdit": _notebook, "read": _read, "search": _found, "agent": _agent, "web_fetch": _fetched,
    "web_search": _searched, "ask": _asked, "plan": _planned, "todo": _todo,
}  # fmt: skip

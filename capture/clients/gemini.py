"""Gemini CLI: parses its hook payloads into Events."""

from __future__ import annotations

from capture.clients import SYNC, Client, Registration, vocabulary
from capture.clients.fields import begin, first, items, mapping, text, whole, words
from capture.clients.stamps import stamp
from capture.event import PROMPT, SESSION_END, SESSION_START, TOOL_RESULT, TURN_END, Event

CLIENT = Client(
    "Gemini CLI", ".gemini", "settings.json", ".gemini/settings.json", comments=True, experimental=False,
    listens=("SessionStart", "BeforeAgent", "AfterTool"), most=8_000,
    project_dirs=("GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), shell_tool="run_shell_command",
)  # fmt: skip

# Milliseconds. PreCompress fires before every call of the model, compressing or not: it says nothing.
EVENTS = {
    "SessionStart": Registration(SYNC, 8000),
    "BeforeAgent": Registration(SYNC, 3000),
    "AfterTool": Registration(SYNC, 5000, "*"),
    "AfterAgent": Registration(SYNC, 5000),
    "SessionEnd": Registration(SYNC, 5000),
}

_KINDS = {
    "SessionStart": SESSION_START,
    "BeforeAgent": PROMPT,
    "AfterTool": TOOL_RESULT,
    "AfterAgent": TURN_END,
    "SessionEnd": SESSION_END,
}
# What a registration copied from Claude Code's settings calls them.
_ALIASES = {"UserPromptSubmit": "BeforeAgent", "PostToolUse": "AfterTool", "Stop": "AfterAgent"}

KNOWN = words(
    "session_id transcript_path cwd hook_event_name timestamp source reason prompt prompt_response stop_hook_active"
    " tool_name tool_input tool_response mcp_context original_request_name trigger llm_request llm_response"
    " notification_type message details"
)
RESPONSE = words("llmContent returnDisplay error data tailToolCallRequest")

NAMES = {
    "run_shell_command": "shell", "replace": "edit", "edit": "edit", "write_file": "write",
    "read_file": "read", "read_many_files": "read",
    "list_directory": "search", "glob": "search", "grep_search": "search", "search_file_content": "search",
    "web_fetch": "web_fetch", "google_web_search": "web_search",
    "invoke_agent": "agent", "delegate_to_agent": "agent", "codebase_investigator": "agent", "generalist": "agent",
    "write_todos": "todo", "ask_user": "ask", "exit_plan_mode": "plan", "activate_skill": "skill",
}  # fmt: skip

_TRAILER = ("Exit Code:", "Signal:", "Error:", "Background PIDs:", "Process Group PGID:")
_NOTHING = ("", "(none)", "0", "null")
_CANCELLED = ("Command was cancelled", "Command was automatically cancelled", "[Operation Cancelled]")
_BEHIND = ("Command is running in background", "Command moved to background")

drift, response_fields, canonical = vocabulary(KNOWN, NAMES, RESPONSE)


def parse(native_event: str, payload: object, now: int) -> Event | None:
    """What happened, in nmem's words; None for events that are not kept and for payloads without a session."""
    native = _ALIASES.get(native_event, native_event)
    kind = _KINDS.get(native)
    if kind is None or not isinstance(payload, dict):
        return None
    event = begin("gemini", kind, payload, now, native)
    if event is None or not _fill(event, payload):
        return None
    event.at = stamp(payload.get("timestamp"), now)
    event.drift = drift(native, payload)
    return event


def answer(event: Event, response: object) -> None:
    """Fill the event's outcome and text from `{llmContent, returnDisplay, error}`, or from a chat record's parts."""
    from capture.clients import output, said  # on use: start-up stays short

    event.output = response
    given = mapping(response)
    content = output.flat(given.get("llmContent")) if "llmContent" in given else output.flat(response)
    content = content.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")
    display = given.get("returnDisplay")
    event.ok = True
    if event.tool == "shell":
        content = _shell(event, content, text(display))
    elif event.tool in ("edit", "write"):
        _file(event, mapping(display))
        content = ""
    error = given.get("error")
    if error:
        event.ok = False
        event.exit_code = event.exit_code or None
        content = first(mapping(error), "message") or text(error) or content
        event.interrupted = event.interrupted or content.startswith(_CANCELLED)
        event.refused = "user" if content.startswith("[Operation Cancelled]") else ""
    event.output_text = said.strip_own(content)


def _fill(event: Event, payload: dict[str, object]) -> bool:
    """Fill in what this kind of event carries; False when there is nothing to keep."""
    from capture.clients import common  # on use: start-up stays short

    if event.kind == TOOL_RESULT:
        kept = common.tool(event, payload, canonical, answer)
        _from_server(event, payload)
        return kept
    if event.kind == PROMPT:
        return common.prompt(event, payload.get("prompt"))
    if event.kind == TURN_END:
        from capture.clients import said  # on use: start-up stays short

        event.text = said.strip_own(text(payload.get("prompt_response")))
    event.source = text(payload.get("source"))
    event.reason = text(payload.get("reason"))
    return True


def _from_server(event: Event, payload: dict[str, object]) -> None:
    """An MCP call's server and tool as the client knows them: its tool's name cannot be taken apart for sure."""
    context = mapping(payload.get("mcp_context"))
    if not context:
        return
    from capture.clients.said import strip_tree  # on use: start-up stays short

    given = strip_tree(payload.get("tool_input"))
    event.tool = "mcp"
    event.tool_input = {
        "server": text(context.get("server_name")),
        "tool": first(context, "tool_name") or event.tool_name,
        "arguments": mapping(given),
    }


def _shell(event: Event, content: str, display: str) -> str:
    """A command's output; its exit code stands in the lines behind it, and is left out when it is zero."""
    from capture.clients.output import number_in  # on use: start-up stays short

    display = display.strip()
    shown = f"Output: {display}"
    # what the command itself printed is no trailer, whatever it looks like
    lines = content[len(shown) :].split("\n") if display and content.startswith(shown) else _trailer(content)
    found = dict(line.split(":", 1) for line in lines if line.startswith(_TRAILER))
    code = number_in(found.get("Exit Code", ""))
    stopped = code is None and any(found.get(key, "").strip() not in _NOTHING for key in ("Error", "Signal"))
    event.interrupted = content.startswith(_CANCELLED)
    if event.interrupted or code or stopped:
        event.ok = False
        event.exit_code = code
    elif content.startswith(_BEHIND) or event.tool_input.get("background") is True:
        event.ok = None
        event.tool_input["background"] = True
    else:
        event.exit_code = 0
    # the display says something even when the command printed nothing
    return display if display and not display.startswith("Command exited with code") else _body(content)


def _trailer(content: str) -> list[str]:
    """The lines at the end of a response that are not the command's own."""
    lines = content.rstrip("\n").rsplit("\n", len(_TRAILER))
    kept: list[str] = []
    for line in reversed(lines):
        if not line.startswith(_TRAILER):
            break
        kept.append(line)
    return kept


def _body(content: str) -> str:
    """What a response says between `Output:` and the lines that are not the command's own."""
    for line in _trailer(content):
        content = content.rstrip("\n").removesuffix(line)
    content = content.rstrip("\n")
    if content.startswith("Command: "):
        # older versions say first what was run and where
        content = content.partition("\nDirectory: ")[2].partition("\n")[2]
    content = content.removeprefix("Output: ").removeprefix("Stdout: ").partition("\nStderr: (empty)")[0]
    return "" if content in ("(empty)", "Output:") else content


def _file(event: Event, display: dict[str, object]) -> None:
    """What an edit's display knows beyond the arguments: the absolute path, the diff and whether the file is new."""
    from capture.clients.patch import take_unified  # on use: start-up stays short

    files = items(event.tool_input.get("files"))
    if not files or not display:
        return
    file = mapping(files[0])
    file["path"] = first(display, "filePath") or file.get("path")
    if isinstance(display.get("isNewFile"), bool):
        file["created"] = display["isNewFile"]
    if take_unified(file, text(display.get("fileDiff"))):
        return
    counts = mapping(display.get("diffStat"))
    if counts:
        for key, name in (("added", "added_lines"), ("removed", "removed_lines")):
            file[key] = (whole(counts.get("model_" + name)) or 0) + (whole(counts.get("user_" + name)) or 0)

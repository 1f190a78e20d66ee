"""OpenCode: the plugin inside it, run by node with a stand-in for the hook, and what its payloads become."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from capture.clients import opencode
from capture.event import Event

NOW = 2_000_000_000_000
DRIVER = """
const { Nmem } = await import(process.argv[2])
const hooks = await Nmem({ directory: "/p/sub", worktree: "/p" })
const bus = (type, properties) => hooks.event({ event: { type, properties } })
const pause = () => new Promise((done) => setTimeout(done, 20))
await bus("session.created", { info: { id: "s", version: "1.18.33" } })
await bus("session.created", { info: { id: "child", parentID: "s" } })
await pause()
await hooks["chat.message"](
  { sessionID: "s", model: { modelID: "m-1" } },
  { message: { id: "msg1" },
    parts: [{ type: "text", text: "fix it" }, { type: "text", text: "hidden", synthetic: true }] })
await pause()
await hooks["tool.execute.after"](
  { tool: "bash", sessionID: "s", callID: "c1", args: { command: "make" } },
  { title: "make", output: "done", metadata: { exit: 0 } })
await pause()
await hooks["tool.execute.after"](
  { tool: "edit", sessionID: "child", callID: "c2", args: { filePath: "/p/a", oldString: "x", newString: "y" } },
  { title: "a", output: "", metadata: { filediff: { additions: 1, deletions: 1 } } })
await pause()
await bus("message.part.updated", { part: { type: "tool", sessionID: "s", tool: "read", callID: "c3",
  state: { status: "error", input: { filePath: "/no" }, error: "no such file", time: { start: 5, end: 9 } } } })
await bus("message.part.updated", { part: { type: "text", sessionID: "s", messageID: "msg2", text: "All done.",
  time: { start: 1, end: 2 } } })
await pause()
await bus("session.idle", { sessionID: "s" })
await pause()
await bus("session.idle", { sessionID: "child" })
await bus("nobody.knows", undefined)
await bus("session.created", undefined)
await pause()
await bus("session.deleted", { info: { id: "s" } })
await pause()
const later = { message: { id: "msg3" }, parts: [{ type: "text", id: "prt1", messageID: "msg3", text: "go on" }] }
await hooks["chat.message"]({ sessionID: "old" }, later)
await hooks.dispose()
process.exitCode = later.parts[1]?.text === "told" && later.parts[1].synthetic ? 7 : 0
"""
STAND_IN = """
import json, pathlib, sys, time
payload = json.loads(sys.stdin.read())
part = pathlib.Path(sys.argv[1], f"{time.monotonic_ns():020}.part")
part.write_text(json.dumps([sys.argv[2:], payload]))
part.rename(part.with_suffix(".json"))
if sys.argv[-1] == "chat.message" and payload["session_id"] == "old":
    print(json.dumps({"additionalContext": "told"}), end="")
"""


HANGS = """
const { Nmem } = await import(process.argv[2])
const hooks = await Nmem({ directory: "/p", worktree: "/p", client: { session: { get: () => new Promise(() => {}) } } })
const begun = Date.now()
const said = { message: { id: "msg1" }, parts: [{ type: "text", id: "prt1", messageID: "msg1", text: "go on" }] }
await Promise.race([hooks["chat.message"]({ sessionID: "old" }, said), new Promise((done) => setTimeout(done, 8000))])
process.exit(Date.now() - begun < 6000 ? 7 : 0)
"""


def _play(folder: Path, command: list[str], driver: str = DRIVER) -> subprocess.CompletedProcess[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is absent: nothing to run the plugin with")
    (folder / "plugin.mjs").write_text(opencode.plugin(command))
    (folder / "driver.mjs").write_text(driver)
    arguments = [node, str(folder / "driver.mjs"), str(folder / "plugin.mjs")]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)


def _arrived(folder: Path, count: int) -> list[tuple[list[str], dict[str, Any]]]:
    """What the stand-in was told, in the order of the events: the plugin itself waits for nobody."""
    until = time.monotonic() + 120
    while len(paths := list(folder.glob("*.json"))) < count and time.monotonic() < until:
        time.sleep(0.05)
    told = [json.loads(path.read_text()) for path in paths]
    return sorted(told, key=lambda one: str(one[1]["timestamp"]))


def test_a_session_arrives_event_by_event(tmp_path: Path) -> None:
    out = tmp_path / 'it\'s a "folder"'
    out.mkdir()
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(STAND_IN)
    run = _play(tmp_path, [sys.executable, "-I", "-S", str(stand_in), str(out)])
    assert (run.returncode, run.stdout, run.stderr) == (7, "", ""), "what the hook says is a part of the prompt"
    events = []
    for (client, native), payload in _arrived(out, 11):
        assert client == "opencode"
        event = opencode.parse(native, payload, NOW)
        assert isinstance(event, Event)
        assert event.drift == ()
        assert event.session_id in ("s", "old")
        assert (event.cwd, event.project_dir) == ("/p/sub", "/p")
        events.append(event)
    assert [event.native for event in events] == [
        "session.created", "chat.message", "tool.execute.after", "tool.execute.after", "tool.execute.error",
        "session.idle", "subagent.idle", "session.deleted", "session.created", "chat.message", "dispose",
    ]  # fmt: skip
    start, asked, made, edited, failed, ended, agent, _gone, resumed, _more, over = events
    assert (start.source, start.client_version) == ("startup", "1.18.33")
    assert (asked.text, asked.source, asked.model, asked.turn_id) == ("fix it", "user", "m-1", "msg1")
    assert (made.tool, made.ok, made.exit_code, made.output_text, made.tool_use_id) == ("shell", True, 0, "done", "c1")
    files: Any = edited.tool_input["files"]
    assert (edited.agent_id, files[0]["path"], files[0]["added"], files[0]["removed"]) == ("child", "/p/a", 1, 1)
    assert (failed.ok, failed.output_text, failed.duration_ms) == (False, "no such file", 4)
    assert (ended.kind, ended.text) == ("turn_end", "All done.")
    assert (resumed.source, over.kind, over.reason) == ("resume", "session_end", "exit")
    assert (agent.kind, agent.agent_id) == ("subagent_end", "child")


def test_a_client_that_does_not_answer_holds_no_prompt(tmp_path: Path) -> None:
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(STAND_IN)
    run = _play(tmp_path, [sys.executable, "-I", "-S", str(stand_in), str(tmp_path)], HANGS)
    assert (run.returncode, run.stderr) == (7, "")
    told = [words[1] for words, _ in _arrived(tmp_path, 2)]
    assert told == ["session.created", "chat.message"]


@pytest.mark.parametrize(("sent", "typed"), [
    ('"why does it fail"', "why does it fail"), ('"say \\"yes\\" now"', 'say "yes" now'),
    ('"a" or "b"', '"a" or "b"'), ("plain", "plain"),
])  # fmt: skip
def test_what_opencode_run_puts_into_quotes_is_taken_out(sent: str, typed: str) -> None:
    event = opencode.parse("chat.message", {"session_id": "s", "prompt": sent}, NOW)
    assert event is not None and event.text == typed


def test_a_hook_that_cannot_start_disturbs_nobody(tmp_path: Path) -> None:
    run = _play(tmp_path, [str(tmp_path / "absent"), "x"])
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_failed_command_and_an_aborted_turn() -> None:
    payload = {"session_id": "s", "tool_name": "bash", "tool_input": {"command": "x"},
               "tool_response": {"title": "", "output": "bad", "metadata": {"exit": 2}}}  # fmt: skip
    event = opencode.parse("tool.execute.after", payload, NOW)
    assert event is not None
    assert (event.ok, event.exit_code, event.output_text) == (False, 2, "bad")
    aborted = opencode.parse("session.error", {"session_id": "s", "reason": "MessageAbortedError"}, NOW)
    assert aborted is not None
    assert (aborted.kind, aborted.interrupted, aborted.ok) == ("turn_end", True, False)

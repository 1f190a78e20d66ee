"""Sessions of three clients in the forms of their hooks: what each is told, event by event.

The forms are those that were recorded from Claude Code 2.1, Codex 0.169 and Gemini CLI 0.61.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

CLIENTS = ("claude", "codex", "gemini")
Payload = dict[str, object]
Told = tuple[str, Payload, str]
"""A hook's event, what is told to it, and the mark by which its row is found; "" for one without a row of its own."""


class Client:
    """One client: a session at a time, an event when it is asked for one."""

    def __init__(self, name: str, project: Path, mark: Callable[[], str], now: Callable[[], datetime]) -> None:
        self.name, self.project, self.mark, self.now = name, project, mark, now
        self.session, self.sessions = "", 0

    def begin(self) -> Told:
        self.sessions += 1
        self.session = f"{self.name}-{self.sessions:04d}"
        return self._told("SessionStart", {"source": "startup", "model": "model-1"})

    def end(self) -> Told:
        return self._told("SessionEnd", {"reason": "exit"})

    def event(self, step: int, steps: int) -> Told:
        """A turn is a prompt, four calls, and its end; the last event of a session ends one."""
        mark = self.mark()
        if step % 6 == 0:
            text = f"the cart's total is a cent off in case {mark}, find out why"
            return self._told("BeforeAgent" if self.name == "gemini" else "UserPromptSubmit", {"prompt": text}, mark)
        if step % 6 == 5 or step == steps - 1:
            text = f"Half cents round up now; {mark} passes."
            said: Payload = {"prompt_response": text} if self.name == "gemini" else {"last_assistant_message": text}
            return self._told("AfterAgent" if self.name == "gemini" else "Stop", said, mark)
        return self._call(("read", "edit", "test", "shell")[step % 6 - 1], mark)

    def _call(self, kind: str, mark: str) -> Told:
        tool, given, response, failed = getattr(self, f"_{self.name}")(kind, mark, self.project / f"{mark}.py")
        event = "AfterTool" if self.name == "gemini" else "PostToolUseFailure" if failed else "PostToolUse"
        more = {"error": response} if failed and event == "PostToolUseFailure" else {"tool_response": response}
        more |= {} if self.name == "gemini" else {"tool_use_id": f"call_{mark}"}
        return self._told(event, {"tool_name": tool, "tool_input": given, **more}, mark)

    def _claude(self, kind: str, mark: str, path: Path) -> tuple[str, Payload, object, bool]:
        if kind == "read":
            text = {"filePath": str(path), "content": "x = 1\n", "numLines": 1, "startLine": 1, "totalLines": 1}
            return "Read", {"file_path": str(path)}, {"type": "text", "file": text}, False
        if kind == "edit":
            change: Payload = {"file_path": str(path), "old_string": "round(x)", "new_string": f"half_up(x)  # {mark}"}
            return "Edit", change, {"filePath": str(path), "structuredPatch": [], "userModified": False}, False
        if kind == "test":
            return "Bash", {"command": f"pytest tests/test_{mark}.py"}, "Exit code 1\n1 failed, 3 passed in 0.1s", True
        out = {"stdout": "done", "stderr": "", "interrupted": False, "isImage": False}
        return "Bash", {"command": f"make {mark}", "description": "Build"}, out, False

    def _codex(self, kind: str, mark: str, path: Path) -> tuple[str, Payload, object, bool]:
        if kind == "edit":
            patch = (
                f"*** Begin Patch\n*** Update File: {path.name}\n@@\n-round(x)\n+half_up(x)  # {mark}\n*** End Patch\n"
            )
            said = (
                f"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM {path.name}\n"
            )
            return "apply_patch", {"command": patch}, said, False
        lines = {"read": f"sed -n 1,80p {path.name}", "test": f"pytest tests/test_{mark}.py", "shell": f"make {mark}"}
        return "Bash", {"command": lines[kind]}, "done\n", False

    def _gemini(self, kind: str, mark: str, path: Path) -> tuple[str, Payload, object, bool]:
        if kind == "read":
            return "read_file", {"file_path": str(path)}, {"llmContent": "x = 1\n", "returnDisplay": ""}, False
        if kind == "edit":
            given: Payload = {"file_path": str(path), "old_string": "round(x)", "new_string": f"half_up(x)  # {mark}"}
            shown = {"fileName": path.name, "filePath": str(path), "originalContent": "round(x)\n"}
            return "replace", given, {"llmContent": "Successfully modified file", "returnDisplay": shown}, False
        line, code = (f"pytest tests/test_{mark}.py", 1) if kind == "test" else (f"make {mark}", 0)
        said = f"Output: done\nExit Code: {code}\nProcess Group PGID: 11"
        return "run_shell_command", {"command": line}, {"llmContent": said, "returnDisplay": "done"}, False

    def _told(self, event: str, more: Payload, mark: str = "") -> Told:
        head: Payload = {"session_id": self.session, "cwd": str(self.project), "hook_event_name": event}
        if self.name == "gemini":
            head["timestamp"] = self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return event, {**head, **more}, mark

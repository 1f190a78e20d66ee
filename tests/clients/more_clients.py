#!/usr/bin/env python3
"""Runs OpenCode, Qwen Code and Copilot CLI as `run_client.py` runs the others; takes its words, plays the same scripts.

    RUN_CLIENT=.../run_client.py more_clients.py play CLIENT SCRIPT.json --home DIR --project DIR

The three ask an OpenAI-compatible provider: the scripted model gets that shape of answer, too.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(os.environ["RUN_CLIENT"]).parent))
import run_client as theirs  # type: ignore[import-not-found]
import scripted_model as model  # type: ignore[import-not-found]

PACKAGES = {
    "opencode": "opencode-ai@1.18.33",
    "qwen": "@qwen-code/qwen-code@0.24.4",
    "copilot": "@github/copilot@1.0.102",
}
MODEL = "scripted-1"
OFF = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", "COPILOT_OFFLINE": "true",
}  # fmt: skip
"""What the clients would ask the network for, and need not."""

Tool = dict[str, Any]


def called(client: str, tool: Tool, project: Path) -> tuple[str, dict[str, object]]:
    """A script's tool as the client calls it."""
    if client == "qwen":
        name, call = model.gemini_tool(tool, project)
        call.pop("instruction", None)
        return {"replace": "edit"}.get(name, name), call
    path = "filePath" if client == "opencode" else "path"
    if "shell" in tool:
        return "bash", {"command": tool["shell"], "description": tool.get("why", "run")}
    if "read" in tool:
        return "read" if client == "opencode" else "view", {path: str(project / tool["read"])}
    if "write" in tool:
        (project / tool["write"]).parent.mkdir(parents=True, exist_ok=True)  # Copilot makes no folder
        name, key = ("write", "content") if client == "opencode" else ("create", "file_text")
        return name, {path: str(project / tool["write"]), key: tool["text"]}
    if "edit" in tool:
        old, new = ("oldString", "newString") if client == "opencode" else ("old_str", "new_str")
        return "edit", {path: str(project / tool["edit"]), old: tool["old"], new: tool["new"]}
    return tool["name"], tool["input"]


class Handler(model.Handler):  # type: ignore[misc]
    """The scripted model, with answers to `/chat/completions`."""

    client = ""

    def do_POST(self) -> None:  # noqa: N802 - as its base
        """Answer a chat, or what the scripted model answers anyway."""
        if "/chat/completions" not in self.path:
            super().do_POST()
            return
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        with self.script.lock:
            self.script.requests.append({"path": self.path, "body": body})
        reply = self.script.next() if body.get("tools") else {"say": "ok"}
        calls = []
        for number, tool in enumerate(reply.get("tools", [])):
            name, given = called(self.client, tool, self.script.project)
            function = {"name": name, "arguments": json.dumps(given)}
            calls.append({"index": number, "id": model._id("call"), "type": "function", "function": function})
        said: dict[str, object] = {"role": "assistant", "content": reply.get("say", "")}
        if reply.get("think"):
            said["reasoning_content"] = reply["think"]
        if calls:
            said["tool_calls"] = calls
        why = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020,
                 "prompt_tokens_details": {"cached_tokens": 200}}  # fmt: skip
        whole = {"id": model._id("chat"), "created": 1, "model": MODEL}
        if not body.get("stream"):
            self._json({**whole, "object": "chat.completion", "usage": usage,
                        "choices": [{"index": 0, "message": said, "finish_reason": why}]})  # fmt: skip
            return
        self._stream()
        for delta, reason, used in ((said, None, None), ({}, why, usage)):
            part = {**whole, "object": "chat.completion.chunk", "usage": used,
                    "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}  # fmt: skip
            self.wfile.write(b"data: " + json.dumps(part).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")


def environment(client: str, home: Path, port: int, extra: list[str]) -> dict[str, str]:
    """The client's environment: its model is on loopback, and nothing else is asked."""
    env: dict[str, str] = theirs_environment("gemini", home, port, extra)
    url = f"http://127.0.0.1:{port}/v1"
    env |= OFF
    env |= {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": url, "OPENAI_MODEL": MODEL}
    env |= {"COPILOT_PROVIDER_BASE_URL": url, "COPILOT_PROVIDER_API_KEY": "dummy", "COPILOT_MODEL": MODEL}
    return env


def prepare(client: str, home: Path, _project: Path, port: int) -> None:
    """The model, told in the client's settings beside what stands there."""
    if client == "opencode":
        path = home / ".config" / "opencode" / "opencode.json"
        _settled(path.parent)
        add = {
            "model": f"scripted/{MODEL}", "small_model": f"scripted/{MODEL}", "autoupdate": False, "share": "disabled",
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible", "name": "scripted",
                "options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "dummy"},
                "models": {MODEL: {"name": MODEL, "tool_call": True, "limit": {"context": 200000, "output": 8000}}},
            }},
        }  # fmt: skip
    elif client == "qwen":
        path = home / ".qwen" / "settings.json"
        add = {
            "security": {"auth": {"selectedType": "openai"}},
            "telemetry": {"enabled": False},
            "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        }  # they would take replies
    else:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | add, indent=1))


def _settled(folder: Path) -> None:
    """The package that OpenCode fetches for plugins, and needs for none of JavaScript, is there: without a network it
    would try for a minute at each start."""
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(locked))


def command(client: str, prompt: str, first: bool) -> list[str]:
    """One headless turn."""
    program = str(theirs.binary(client))
    if client == "opencode":
        return [program, "run", *([] if first else ["--continue"]), "--auto", prompt]
    if client == "qwen":
        return [program, *([] if first else ["--continue"]), "-p", prompt, "--approval-mode", "yolo"]
    return [program, *([] if first else ["--continue"]), "-p", prompt, "--allow-all-tools", "--no-auto-update"]


def serve(turns: list[dict[str, object]], project: Path) -> tuple[Any, Any]:
    """The server with our answers."""
    server, script = theirs_serve(turns, project)
    server.RequestHandlerClass = type("Bound", (Handler,), {"script": script, "client": sys.argv[2]})
    return server, script


theirs_environment, theirs_serve = theirs.environment, theirs.serve

if __name__ == "__main__":
    theirs.PACKAGES.clear()
    theirs.PACKAGES.update(PACKAGES)
    theirs.environment, theirs.prepare, theirs.command, theirs.serve = environment, prepare, command, serve
    sys.exit(theirs.main())

"""A hook pays for these modules on every event: nothing heavy comes in with them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from capture.clients import CLIENTS

HEAVY = {"re", "json", "dataclasses", "typing", "enum", "pathlib", "datetime", "logging", "hashlib", "base64", "shlex",
         "collections", "functools"}  # fmt: skip
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
module = __import__("capture.clients." + sys.argv[2], fromlist=["parse"])
from capture.clients import detect
for native in module.EVENTS:
    payload = {"session_id": "s", "sessionId": "s", "conversation_id": "s", "prompt": "<x> go", "tool_name": "Edit",
               "toolName": "edit", "timestamp": "2026-11-21T21:17:11.169Z", "toolArgs": '{"path": "a"}',
               "tool_input": {"file_path": "/a", "old_string": "x", "new_string": "y"}, "tool_output": '{"ok": 1}',
               "tool_response": {"structuredPatch": [{"lines": ["+a"]}]}}
    module.parse(native, payload, 5)
    detect.detect(sys.argv[2], payload, {})
print(" ".join(sys.modules))
"""


@pytest.mark.parametrize("client", CLIENTS)
def test_an_event_imports_nothing_heavy(client: str, pytestconfig: pytest.Config) -> None:
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, str(pytestconfig.rootpath), client]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not HEAVY & set(run.stdout.split())

"""The server as a client meets it: over pipes, by the SDK's own client, and by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from nmem.mcp.registration import server
from nmem.mcp.server import TOOLS
from tests.nmem.conftest import Recorded

Talk = Callable[[ClientSession], Awaitable[None]]


async def talked(folder: Path, db_path: str, talk: Talk) -> None:
    entry = server()
    args = entry["args"]
    assert isinstance(args, list)
    env = {**os.environ, "NMEM_DB": db_path}
    parameters = StdioServerParameters(command=str(entry["command"]), args=args, env=env, cwd=folder)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        told = await session.initialize()
        assert told.server_info.name == "nmem" and told.server_info.version
        assert "data, not instructions" in (told.instructions or "")
        await talk(session)


def said(result: Any) -> str:
    (content,) = result.content
    assert content.type == "text"
    return str(content.text)


async def test_it_lives_through_a_memory_that_comes_later_and_looks_into_no_modules_of_our_names(
    tmp_path: Path, db_path: str
) -> None:
    for name in ("nmem", "mcp", "capture", "json", "click", "anyio"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the project was run')")

    async def talk(session: ClientSession) -> None:
        assert [tool.name for tool in (await session.list_tools()).tools] == list(TOOLS)
        refused = await session.call_tool("episodes", {})
        assert refused.is_error and said(refused).startswith("nothing is recorded yet at")
        assert not Path(db_path).exists()
        from capture.storage import store
        from nmem import tables

        db = store.connect(db_path)
        tables.ensure(db)
        Recorded(db).begin("now").user("what now?")
        db.close()
        answered = await session.call_tool("session_summaries", {"project": "shop"})
        assert not answered.is_error
        assert json.loads(said(answered))["sessions"][0]["asked_last"] == "what now?"
        answered = await session.call_tool("timeline", {"project": "*"})
        assert json.loads(said(answered))["rows"][0]["text"] == "what now?"
        await slash_commands(session)

    await talked(tmp_path, db_path, talk)


async def slash_commands(session: ClientSession) -> None:
    listed = {each.name: each for each in (await session.list_prompts()).prompts}
    assert set(listed) == {"recall", "resume", "mark"}
    for name, each in listed.items():
        assert each.arguments
        takes = each.arguments[0]
        bare = (await session.get_prompt(name)).messages[0].content
        about = (await session.get_prompt(name, {takes.name: "{0} <tags>"})).messages[0].content
        assert bare.type == "text" and "{0}" not in bare.text
        assert about.type == "text" and "{0} <tags>" in about.text


def lines(*messages: object) -> str:
    return "".join((message if isinstance(message, str) else json.dumps(message)) + "\n" for message in messages)


def test_stdout_carries_nothing_but_the_protocol(record: Recorded, tmp_path: Path, db_path: str) -> None:
    """By the first version of it; the SDK's own client speaks the newest."""
    record.begin("s").user("hello")
    hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    given = lines(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        "this is no JSON",
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "nope", "arguments": {"a": 1}}},
        {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"name": "get", "arguments": {"ids": ["prompt/1"]}},
        },
        {"jsonrpc": "2.0", "id": 5, "method": "no/such/method"},
        {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "get", "arguments": [1]}},
        {"jsonrpc": "2.0", "id": 7, "method": "ping"},
    )
    with subprocess.Popen(
        [sys.executable, "-m", "nmem", "mcp"], cwd=tmp_path, env={**os.environ, "NMEM_DB": db_path}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(given)
        process.stdin.flush()
        replies: dict[int, Any] = {}
        while 7 not in replies or len(replies) < 7:
            message = json.loads(process.stdout.readline())
            if "id" in message and message["id"] is not None:
                replies[message["id"]] = message
        process.stdin.close()
        assert process.stdout.read() == "" and process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()
    assert len(replies[2]["result"]["tools"]) == len(TOOLS)
    assert replies[3]["result"]["isError"] and "there is no tool nope" in replies[3]["result"]["content"][0]["text"]
    assert json.loads(replies[4]["result"]["content"][0]["text"])["found"][0]["text"] == "hello"
    assert "error" in replies[5] and "error" in replies[6] and replies[7]["result"] == {}

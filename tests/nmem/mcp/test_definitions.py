"""What stands in an agent's context whether it asks or not: short, whole, and free of the database."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from nmem.mcp.server import INSTRUCTIONS, TOOLS, definition
from nmem.mcp.tool import Tool, Usage

BUDGET = 1_650


def tokens(text: str) -> int:
    """More than any tokenizer makes of it: words in pieces of five letters, and each sign by itself."""
    return sum(-(-len(word) // 5) for word in re.findall(r"\w+", text)) + len(re.findall(r"[^\w\s]", text)) // 2


def test_all_definitions_together_are_short() -> None:
    wire = json.dumps([definition(tool).model_dump(by_alias=True, exclude_none=True) for tool in TOOLS.values()])
    assert tokens(wire + INSTRUCTIONS) < BUDGET
    assert len(wire + INSTRUCTIONS) / 3 < BUDGET


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_each_is_a_schema_that_its_own_defaults_fulfil(tool: Tool) -> None:
    schema = tool.schema()
    Draft202012Validator.check_schema(schema)
    example = {each.name: ["x"] if each.kind == "array" else "x" for each in tool.params if each.required}
    Draft202012Validator(schema).validate(example | {each.name: each.default for each in tool.params if each.default})
    assert tool.says and tool.says[0].isupper() and len(tool.says) < 200


def test_only_these_write() -> None:
    assert [tool.name for tool in TOOLS.values() if tool.writes] == ["mark", "queue_task"]


def test_listing_opens_no_database_and_imports_nothing_that_reads_one(tmp_path: Path) -> None:
    script = (
        "import sqlite3, sys, asyncio\n"
        "def refuse(*a, **k): raise SystemExit('the database was opened')\n"
        "sqlite3.connect = sqlite3.dbapi2.connect = refuse\n"
        "from nmem.mcp import server\n"
        "found = asyncio.run(server._tools(None, None))\n"
        "print(len(found.tools), *[name for name in ('rich', 'textual', 'sklearn', 'sqlite_utils', 'nmem.stance.read')"
        " if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == [str(len(TOOLS))], done.stdout + done.stderr


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("get", {}, "get needs ids"),
        ("get", {"ids": []}, "get needs ids"),
        ("get", {"ids": [{}]}, "ids: {} is not a list of texts"),
        ("get", {"ids": ["obs/1"], "idz": 1}, "get has no idz: it takes ids, chars"),
        ("episodes", {"limit": "many"}, "limit: 'many' is not a whole number"),
        ("episodes", {"limit": True}, "limit: True is not a whole number"),
        ("mark", {"text": "x", "kind": "poem"}, "kind: poem is not one of note, decision, rollback"),
        ("mark", {"text": "x" * 20_001}, "text: 20001 characters exceed the limit of 20000"),
    ],
)
def test_wrong_arguments_are_told_in_words(tool: str, given: dict[str, object], says: str) -> None:
    with pytest.raises(Usage, match=f"^{re.escape(says)}$"):
        TOOLS[tool].checked(given)


def test_arguments_are_taken_as_they_are_meant() -> None:
    checked = TOOLS["episodes"].checked
    assert checked({"limit": "7", "query": None, "project": 12})["limit"] == 7
    assert checked({"limit": 9_999})["limit"] == 60 and checked({"limit": -3})["limit"] == 1
    assert TOOLS["get"].checked({"ids": "obs/1"})["ids"] == ("obs/1",)

"""Events of every kind become the rows that a reader expects."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from capture import event as vocabulary
from capture.event import OBS_TYPES, Batch, Event, Observation, Project, Prompt
from capture.extract import batch

NOW = 1_760_000_000_000
PROJECT = Project("k", "p", "/w/p", branch="main")


def event(kind: str = vocabulary.TOOL_RESULT, **fields: Any) -> Event:
    made = Event("claude", kind, "s1", NOW, "Native")
    made.cwd = "/w/p"
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def rows(made: Event) -> Batch:
    found = batch(made, PROJECT)
    assert found is not None
    return found


def one(tool: str, given: dict[str, object], **fields: Any) -> Observation:
    fields.setdefault("ok", True)
    found = rows(event(tool=tool, tool_input=given, tool_name=f"Native{tool}", tool_use_id="t1", **fields)).observations
    assert len(found) == 1
    assert found[0].obs_type in OBS_TYPES
    return found[0]


def shell(command: str, output: str = "", **fields: Any) -> Observation:
    return one("shell", {"command": command}, output_text=output, **fields)


def said(made: Event) -> Prompt:
    (found,) = rows(made).prompts
    return found


# the shell


@pytest.mark.parametrize(
    ("command", "output", "code", "outcome"),
    [
        ("rg -n 'no such' .", "", 1, "ok"),
        ("git branch -vv | rg '\\[gone\\]'", "", 1, "ok"),
        ("bun pm ls | rg nothing", "", 1, "ok"),
        ("ps aux | grep -v grep | grep x", "", 1, "ok"),
        ("cd /w && grep -rn x src 2>/dev/null", "", 1, "ok"),
        ("git grep x", "", 1, "ok"),
        ("sleep 1; pgrep -f x", "", 1, "ok"),
        ("rg x .", "rg: regex parse error", 2, "failed"),
        ("rg x .", "", 2, "failed"),
        ("rg x . ", "x: No such file", 1, "failed"),
        ("make && grep x out.txt", "", 1, "failed"),
        ("grep x out.txt && make", "", 1, "failed"),
        ("false", "", 1, "failed"),
    ],
)
def test_a_search_that_finds_nothing_has_not_failed(command: str, output: str, code: int, outcome: str) -> None:
    seen = shell(command, output, ok=False, exit_code=code)
    assert (seen.outcome, seen.exit_code, "nothing_found" in seen.metadata) == (outcome, code, outcome == "ok")


def test_a_commit_that_happened_is_well_though_the_push_after_it_failed() -> None:
    out = "[main 1a2b3c4] Fix\n 1 file changed, 2 insertions(+)\nfatal: no configured push destination."
    made = event(tool="shell", tool_input={"command": "git add . && git commit -qm Fix && git push origin main"},
                 tool_name="Bash", tool_use_id="t1", output_text=out, ok=False, exit_code=128)  # fmt: skip
    commit, push = rows(made).observations
    assert (commit.obs_type, commit.outcome, commit.exit_code, commit.dedup_key) == ("git_commit", "ok", 0, "t1")
    assert (push.obs_type, push.outcome, push.exit_code, push.dedup_key) == ("git_push", "failed", 128, "t1#1")
    assert push.content == "git push origin main"
    assert "fatal: no configured" in str(push.metadata["response"])


def test_a_failed_test_after_a_commit_is_the_tests_failure() -> None:
    out = "[main 1a2b3c4] Fix\n 1 file changed\n1 failed, 2 passed in 1s"
    made = event(tool="shell", tool_input={"command": "git commit -m Fix && pytest"}, tool_name="Bash",
                 tool_use_id="t1", output_text=out, ok=False, exit_code=1)  # fmt: skip
    commit, tests = rows(made).observations
    assert (commit.outcome, tests.obs_type, tests.outcome) == ("ok", "test", "failed")
    assert "tests" in tests.metadata and "tests" not in commit.metadata


@pytest.mark.parametrize(
    ("said", "outcome", "refused"),
    [
        ("The user doesn't want to proceed with this tool use. The tool use was rejected.", "unknown", "user"),
        ("[Request interrupted by user for tool use]", "unknown", "user"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "unknown", "sibling"),
        ("Claude requested permissions to write to /w/p/a, but you haven't granted it yet.", "unknown", "rules"),
        ("This Bash command contains multiple operations. The following part requires approval: x", "unknown", "rules"),
        ("[Request interrupted by user]", "failed", None),
        ("Exit code 1\nno", "failed", None),
    ],
)
@pytest.mark.parametrize(
    ("name", "given"),
    [("Bash", {"command": "git commit -m x"}), ("ExitPlanMode", {"plan": "a"}), ("Edit", {"file_path": "/w/p/a"})],
)
def test_what_never_ran_has_not_failed(
    name: str, given: dict[str, object], said: str, outcome: str, refused: str | None
) -> None:
    from capture.clients import claude

    payload = {"session_id": "s1", "cwd": "/w/p", "tool_name": name, "tool_input": given, "tool_use_id": "t1",
               "error": said}  # fmt: skip
    made = claude.parse("PostToolUseFailure", payload, NOW)
    assert made is not None
    (seen,) = rows(made).observations
    assert (seen.outcome, seen.metadata.get("refused")) == (outcome, refused)
    if refused == "user":
        assert seen.metadata["response"]


def test_a_command_with_its_description_outcome_and_answer() -> None:
    seen = one(
        "shell", {"command": "make deploy\n", "description": "Deploy it"}, exit_code=0, duration_ms=12, turn_id="p1",
        agent_id="a1", agent_type="Explore", output_text="done",
    )  # fmt: skip
    assert (seen.obs_type, seen.content, seen.outcome, seen.exit_code, seen.duration_ms) == (
        "command",
        "make deploy",
        "ok",
        0,
        12,
    )
    assert (seen.tool_name, seen.tool_use_id, seen.turn_id, seen.agent_id) == ("Nativeshell", "t1", "p1", "a1")
    assert seen.metadata == {"description": "Deploy it", "agent_type": "Explore", "response": "done"}


def test_a_failed_commit_is_a_commit_that_failed() -> None:
    seen = shell("git commit -m 'Fix'", "nothing to commit, working tree clean", ok=False, exit_code=1)
    assert (seen.obs_type, seen.outcome, seen.exit_code) == ("git_commit", "failed", 1)
    assert seen.metadata["commit"] == {"message": "Fix"}
    assert seen.metadata["response"] == "nothing to commit, working tree clean"


def test_commit_and_push_in_one_line() -> None:
    out = "[main 1a2b3c4] Fix\n 1 file changed, 2 insertions(+)\nTo ../r\n   0a0a0a0..1a2b3c4  main -> main"
    seen = shell("git commit -am Fix && git push", out)
    assert seen.metadata["commit"] == {
        "hash": "1a2b3c4", "branch": "main", "subject": "Fix", "files": 1, "insertions": 2, "message": "Fix",
    }  # fmt: skip
    assert seen.metadata["push"] == {"remote": "../r", "range": "0a0a0a0..1a2b3c4", "branch": "main"}


def test_a_quiet_commit_keeps_what_the_client_parsed() -> None:
    told = {"stdout": "", "gitOperation": {"commit": {"sha": "8ecff6d", "kind": "committed", "branch": "main"}}}
    seen = one("shell", {"command": "git commit -qm Fix"}, output=told)
    assert seen.metadata["commit"] == {"hash": "8ecff6d", "branch": "main", "message": "Fix"}


@pytest.mark.parametrize(
    ("command", "output", "ok", "outcome"),
    [
        ("pytest", "1 failed, 2 passed in 1s", False, "failed"),
        ("pytest | tail -3", "1 failed, 2 passed in 1s", True, "failed"),
        ("pytest | tail -3", "2 passed in 1s", True, "ok"),
        ("pytest | tail -3", "....", True, "unknown"),
        ("pytest; echo done", "FAILED tests/a.py::x\ndone", True, "failed"),
        ("pytest", "2 passed in 1s", None, "ok"),
        ("go test ./... | tail -3", "ok  \ta\t0.1s", True, "ok"),
        ("go test ./... | tail -3", "FAIL\ta\t0.1s", True, "failed"),
        ("make 2>&1 | tail", "error: none", True, "unknown"),
        ("make", "error: none", True, "ok"),
        ("git commit -m x | cat", "nothing to commit, working tree clean", True, "failed"),
        ("npx eslint . | tail -2", "✖ 3 problems (0 errors, 3 warnings)", True, "unknown"),
        ("npx eslint . | tail -2", "✖ 3 problems (1 error, 2 warnings)", True, "failed"),
        ("make 2>&1 | tail -2", "make: *** [all] Error 2", True, "failed"),
        ("cargo build 2>&1 | tail -2", "    Finished `dev` profile in 1s", True, "ok"),
        ("ruff check . | tail -1", "Found 3 errors.", True, "failed"),
        ("ruff check . | tail -1", "All checks passed!", True, "ok"),
        ("npm ci | tail -3", "found 0 vulnerabilities", True, "ok"),
        ("pytest > log; echo exit: $?", "exit: 1", True, "failed"),
        ("make > log 2>&1; echo $?", "0", True, "ok"),
        ("make > log; echo $?; wc -l log", "12 log", True, "unknown"),
        ("make", "", None, "unknown"),
        ("git commit -m x | cat", "[main 1a2b3c4] x", True, "ok"),
        ("git commit -m x | cat", "", True, "unknown"),
        ("git push 2>&1 | tail -1", "Everything up-to-date", True, "ok"),
        ("git push 2>&1 | cat", "To r\n ! [rejected] main -> main (fetch first)", True, "failed"),
        ("ls | head", "error", True, "ok"),
        ("ls", "this error is only a word", None, "unknown"),
        ("false", "Exit code: 2\nboom", None, "failed"),
        ("true", "Process exited with code 0\nfine", None, "ok"),
    ],
)
def test_outcome(command: str, output: str, ok: bool | None, outcome: str) -> None:
    assert shell(command, output, ok=ok).outcome == outcome


def test_counts_and_names_of_failing_tests() -> None:
    seen = shell("pytest -q", "FAILED tests/a.py::test_x - boom\n1 failed, 3 passed in 0.1s", ok=False)
    assert seen.metadata["tests"] == {"passed": 3, "failed": 1, "failing": ["tests/a.py::test_x"]}


def test_a_read_by_cat_has_its_file_from_where_the_command_went() -> None:
    assert shell("cd src && cat ../a.py").file_path == "a.py"
    assert shell("cat /etc/hosts").file_path == "/etc/hosts"
    assert one("shell", {"command": "cat a.py", "cwd": "/w/p/lib"}).file_path == "lib/a.py"
    assert shell('cd "$X" && cat a.py').file_path is None


def test_interrupted_is_failed() -> None:
    seen = shell("sleep 99", interrupted=True, ok=None)
    assert (seen.outcome, seen.metadata["interrupted"]) == ("failed", True)


# what is kept of an answer


def test_a_long_failure_keeps_whole_lines_of_head_and_tail() -> None:
    text = "\n".join(f"line {number:05}" for number in range(20_000))
    kept = str(shell("x", text, ok=False).metadata["response"])
    assert 1_500 < len(kept) < 2_100
    assert kept.startswith("line 00000\n")
    assert kept.endswith("\nline 19999")
    assert {len(line) for line in kept.split("\n")} == {1, 10}


def test_a_successful_build_keeps_its_end_and_a_command_its_head() -> None:
    text = "\n".join(f"line {number:05}" for number in range(20_000))
    assert str(shell("make", text).metadata["response"]).endswith("line 19999")
    kept = str(shell("seq 9", text).metadata["response"])
    assert kept.startswith("line 00000")
    assert len(kept) <= 205


def test_no_line_is_cut_in_an_answer() -> None:
    secret = "token=" + "k" * 900
    kept = str(shell("x", f"{'a' * 690}\n{secret}\n{'b' * 3000}\nlast", ok=False).metadata["response"])
    assert "kk" not in kept
    assert "(a line of 906 characters)" in kept or secret[:8] not in kept


def test_the_tail_does_not_begin_inside_a_private_key() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIabc\n" * 300 + "-----END RSA PRIVATE KEY-----\n"
    kept = str(shell("x", "head\n" * 300 + key + "last line", ok=False).metadata["response"])
    assert "MII" not in kept
    assert kept.endswith("last line")


def test_reads_keep_no_content() -> None:
    assert one("read", {"path": "/w/p/a.py"}, output_text="secret text").metadata == {}


# other tools


def test_an_edit_shows_its_lines_and_every_file_is_an_observation() -> None:
    files = [
        {"path": "/w/p/a.py", "old": "x = 1\ny = 2", "new": "x = 1\ny = 3", "added": 1, "removed": 1},
        {"path": "b.py", "patch": "@@\n-old\n+new\n+more", "added": 2, "removed": 1},
        {"path": "c.py", "new": "z", "created": True, "added": 1, "removed": 0},
        {"path": "d.py", "deleted": True, "added": 0, "removed": None},
    ]
    seen = rows(event(tool="edit", tool_input={"files": files}, tool_use_id="t9", ok=True)).observations
    assert [(s.obs_type, s.file_path, s.content, s.lines_added, s.lines_removed, s.dedup_key) for s in seen] == [
        ("file_edit", "a.py", "- y = 2\n+ y = 3", 1, 1, "t9"),
        ("file_edit", "b.py", "- old\n+ new\n+ more", 2, 1, "t9#1"),
        ("file_write", "c.py", "+ z", 1, 0, "t9#2"),
        ("file_edit", "d.py", "deleted", 0, None, "t9#3"),
    ]


def test_a_long_edit_is_short_and_its_long_lines_are_counted() -> None:
    new = "\n".join(["x" * 5_000, *(f"line {number}" for number in range(500))])
    (seen,) = rows(event(tool="write", tool_input={"files": [{"path": "a", "new": new}]}, ok=True)).observations
    assert seen.content.startswith("+ (5000 characters)\n+ line 0\n")
    assert seen.content.endswith("…")
    assert len(seen.content) < 2_600


@pytest.mark.parametrize(
    ("tool", "given", "obs_type", "content"),
    [
        ("read", {"path": "/w/p/src/a.py", "offset": 10, "limit": 20}, "file_read", "src/a.py:10-29"),
        ("read", {"path": "/w/p/src/a.py"}, "file_read", "src/a.py"),
        ("search", {"pattern": "def x", "path": "/w/p/src", "glob": "*.py"}, "search", "def x in src (*.py)"),
        ("search", {"pattern": "**/*.py"}, "search", "**/*.py"),
        ("web_fetch", {"url": "https://example.org/a"}, "web_fetch", "https://example.org/a"),
        ("web_search", {"query": "how to"}, "web_search", "how to"),
        ("agent", {"prompt": "Find all uses\nof x"}, "task_spawn", "Find all uses"),
        ("todo", {"items": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"},
                            {"content": "c"}]}, "todo", "[x] a\n[>] b\n[ ] c"),
        ("skill", {"skill": "pdf:read", "args": "a.pdf"}, "skill", "pdf:read a.pdf"),
        ("mcp", {"server": "db", "tool": "query", "arguments": {"sql": "select 1", "options": {"limit": 3}, "n": None}},
         "mcp_call", "db/query sql=select 1 options={limit=3}"),
        ("other", {"name": "x"}, "tool_other", "Nativeother name=x"),
        ("unheard-of", {}, "tool_other", "Nativeunheard-of"),
        ("edit", {}, "file_edit", "Nativeedit"),
        ("read", {}, "file_read", "Nativeread"),
    ],
)  # fmt: skip
def test_content(tool: str, given: dict[str, object], obs_type: str, content: str) -> None:
    seen = one(tool, given)
    assert (seen.obs_type, seen.content) == (obs_type, content)


def test_a_subagent_keeps_its_kind_and_its_task() -> None:
    seen = one(
        "agent",
        {"description": "Look", "prompt": "Look at x", "subagent_type": "Explore"},
        output={"agentId": "a7", "totalTokens": 5},
    )
    assert seen.metadata == {"prompt": "Look at x", "subagent_type": "Explore", "spawned_agent": "a7", "tokens": 5}


def test_answers_and_plans_are_decisions() -> None:
    asked: dict[str, object] = {
        "questions": [{"question": "Which?", "options": ["A", "B"], "answer": "B"}, {"question": "Why?", "answer": ""}]
    }
    seen = one("ask", asked)
    assert (seen.obs_type, seen.content, seen.metadata["decision"]) == ("question", "Which? -> B\nWhy?", True)
    assert seen.metadata["questions"] == [
        {"question": "Which?", "options": ["A", "B"], "answer": "B"},
        {"question": "Why?"},
    ]
    plan = one("plan", {"plan": "1. Do it"})
    assert (plan.obs_type, plan.content, plan.metadata["decision"]) == ("plan", "1. Do it", True)


def test_a_failed_tool_keeps_why() -> None:
    made = event(vocabulary.TOOL_ERROR, tool="read", tool_input={"path": "x.py"}, output_text="File does not exist.")
    (seen,) = rows(made).observations
    assert (seen.outcome, seen.metadata) == ("failed", {"response": "File does not exist."})


# prompts and the session


def test_who_said_what() -> None:
    user = said(event(vocabulary.PROMPT, text=" Fix it ", turn_id="p1", source="user"))
    assert (user.source, user.kind, user.content, user.native_id) == ("user", "prompt", "Fix it", "p1")
    assert said(event(vocabulary.PROMPT, text="/review now")).kind == "command"
    assert said(event(vocabulary.PROMPT, text="/etc/hosts is wrong")).kind == "prompt"
    machine = said(event(vocabulary.PROMPT, text="Task ended", source="machine"))
    assert (machine.source, machine.kind) == ("machine", "notification")
    closing = said(event(vocabulary.TURN_END, text="Done."))
    assert (closing.source, closing.kind) == ("agent", "closing")
    assert said(event(vocabulary.SUBAGENT_END, text="Found.", agent_id="a1")).kind == "subagent"
    assert said(event(vocabulary.POST_COMPACT, text="We did x.")).kind == "summary"


def test_a_turn_that_was_broken_off_is_marked_behind_what_was_said() -> None:
    closing, mark = rows(event(vocabulary.TURN_END, text="I will now", interrupted=True, turn_id="p1")).prompts
    assert (closing.kind, closing.content) == ("closing", "I will now")
    assert (mark.source, mark.kind, mark.content) == ("machine", "notification", vocabulary.STOPPED)
    assert (mark.at, mark.native_id) == (closing.at, "p1")


def test_nothing_said_is_no_prompt() -> None:
    assert rows(event(vocabulary.TURN_END, text="  ")).prompts == []
    assert rows(event(vocabulary.STATUS, text="x")).prompts == []
    assert rows(event(vocabulary.PRE_COMPACT, text="keep the plan")).prompts == []


@pytest.mark.parametrize(
    ("source", "obs_type"),
    [("startup", "session_start"), ("", "session_start"), ("resume", "session_resume"), ("clear", "session_clear"),
     ("compact", "session_compact"), ("fork", "session_resume")],
)  # fmt: skip
def test_starts(source: str, obs_type: str) -> None:
    (seen,) = rows(event(vocabulary.SESSION_START, source=source)).observations
    assert (seen.obs_type, seen.outcome) == (obs_type, "ok")


def test_one_compaction_is_one_observation_for_every_client() -> None:
    for client in ("claude", "cursor"):
        seen: list[Observation] = []
        kinds = [vocabulary.PRE_COMPACT, vocabulary.POST_COMPACT]
        if client == "claude":
            kinds.insert(1, vocabulary.SESSION_START)
        for kind in kinds:
            seen += rows(event(kind, client=client, source="compact", text="summary")).observations
        assert [one.obs_type for one in seen] == ["session_compact"]


def test_the_session_learns_only_what_is_said() -> None:
    start = rows(event(vocabulary.SESSION_START, source="startup", model="m1", transcript_path="/t.jsonl")).session
    assert start == {"cwd": "/w/p", "transcript_path": "/t.jsonl", "model": "m1", "branch": "main", "state": "idle",
                     "source": "startup", "started_at": NOW}  # fmt: skip
    assert "started_at" not in rows(event(vocabulary.SESSION_START, source="resume")).session
    assert rows(event(vocabulary.PROMPT, text="x")).session["state"] == "working"
    assert rows(event(vocabulary.TURN_END, text="x", context_tokens=5)).session["context_tokens"] == 5
    end = rows(event(vocabulary.SESSION_END, reason="clear")).session
    assert (end["state"], end["ended_at"], end["end_reason"]) == ("ended", NOW, "clear")


def test_a_subagent_does_not_speak_for_the_session() -> None:
    known = rows(event(tool="read", tool_input={}, agent_id="a1", model="small", cwd="/elsewhere")).session
    assert not {"model", "cwd", "state"} & set(known)


def test_no_session_no_rows() -> None:
    made = event()
    made.session_id = ""
    assert batch(made, PROJECT) is None


# keys


def test_keys_tell_calls_apart_and_one_call_from_two_sources_together() -> None:
    def key(**fields: Any) -> str:
        made = event(tool="shell", tool_input={"command": "ls"}, ok=True, **fields)
        return rows(made).observations[0].dedup_key

    assert key(tool_use_id="t1") == "t1"
    assert key() == key(output_text="told in other words")
    assert key() != key(at=NOW + 60_000)
    assert key() != key(agent_id="a1")
    assert key().partition(".")[0] == key(at=NOW + 60_000).partition(".")[0]


def test_keys_of_prompts() -> None:
    def key(**fields: Any) -> str:
        return said(event(vocabulary.PROMPT, **fields)).dedup_key

    assert key(text="x", turn_id="p1") == key(text="x ", turn_id="p1", at=NOW + 99_000)
    assert key(text="x", turn_id="p1") != key(text="x", turn_id="p2")
    assert key(text="x", turn_id="p1") != key(text="y", turn_id="p1")


# the clients' own payloads


def test_recorded_payloads_become_rows_of_known_types(shared: Path) -> None:
    seen: set[str] = set()
    for client, folder in (("claude", "claude-code"), ("codex", "codex"), ("gemini", "gemini-cli")):
        module = import_module(f"capture.clients.{client}")
        for file in sorted((shared / "data/hook-payloads/recorded" / folder).glob("*.json")):
            payload = json.loads(file.read_text())
            made = module.parse(payload.get("hook_event_name", ""), payload, NOW) if isinstance(payload, dict) else None
            found = batch(made, Project("k", "p", "/home/dev/src/proj")) if made else None
            if found is None:
                continue
            tool = "PostToolUse" in file.name or "AfterTool" in file.name
            assert len(found.observations) >= tool, file.name
            for one in found.observations:
                assert one.obs_type in OBS_TYPES
                assert one.dedup_key
                assert not (one.file_path or "").startswith("/home/dev/src/proj")
                seen.add(one.obs_type)
    assert {"file_read", "file_write", "file_edit", "git_commit", "question", "todo", "skill", "task_spawn", "mcp_call",
            "web_search", "session_start", "session_compact"} <= seen  # fmt: skip


def test_public_payloads_become_rows_within_a_millisecond_each(shared: Path) -> None:
    from capture.clients import claude

    events = []
    for file in sorted((shared / "data/hook-payloads/public").rglob("*.jsonl")):
        for line in file.read_text(errors="replace").splitlines():
            payload = json.loads(line) if line.strip() else None
            for given in (payload, payload.get("payload")) if isinstance(payload, dict) else ():
                if isinstance(given, dict) and isinstance(given.get("hook_event_name"), str):
                    made = claude.parse(given["hook_event_name"], given, NOW)
                    events += [made] if made else []
    assert len(events) > 500
    start = time.process_time()
    types = {one.obs_type for made in events for one in rows(made).observations}
    assert (time.process_time() - start) / len(events) < 0.05  # one millisecond on a machine of its own
    assert types <= OBS_TYPES


def test_nothing_costly_is_imported_on_the_way() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import capture.extract, capture.extract.shell_call, capture.extract.tools, capture.extract.diff;"
        "import capture.extract.git_output, capture.extract.test_output, capture.extract.closing_output;"
        "print(sorted({'re', 'json', 'shlex', 'dataclasses', 'typing', 'enum', 'pathlib', 'datetime', 'hashlib',"
        " 'logging', 'difflib'} & set(sys.modules)))"
    )
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, root], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

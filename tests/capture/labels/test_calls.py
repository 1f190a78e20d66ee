"""What is seen of a call before anything is weighed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.labels import programs
from capture.labels.calls import Call, Seen
from capture.labels.commands import look
from capture.labels.features import features
from capture.labels.wishes import afar


def call(kind: str, text: str = "", *, tool: str = "Bash", path: str = "", failed: bool = False) -> Call:
    return Call(kind, tool, path, text, failed)


@pytest.mark.parametrize(
    ("command", "heads", "remote"),
    [
        ("git push origin main", ["git push"], True),
        ("cd web && npm run lint:fix 2>&1 | tail -5", ["npm lint:fix"], False),
        ('git commit -m "$(cat <<\'EOF\'\nsay "no" & don\'t\nEOF\n)" && git push', ["git commit", "git push"], True),
        ("curl -s http://localhost:3000/x | jq .", ["curl"], False),
        ("for i in 1 2; do (curl -s http://10.0.0.$i/) & done; wait", ["curl"], True),
        ('echo "$(gh pr view 3 --json title)"', ["gh view"], True),
        ("FOO=1 timeout 60 uv run --with x pytest -q", ["pytest"], False),
        ("# isn't it\ngit -C /x diff --stat", ["git diff"], False),
        ("bash -lc 'cargo add serde'", ["cargo add"], True),
        ("helm lint charts/x", ["helm lint"], False),
        ("go mod tidy", ["go mod"], False),
    ],
)
def test_a_command_is_its_programs_and_where_they_reach(command: str, heads: list[str], remote: bool) -> None:
    seen = look(command)
    assert (list(seen.heads), seen.remote) == (heads, remote)


@pytest.mark.parametrize(
    ("command", "role"),
    [("sed -i s/a/b/ x", "change"), ("sed -n 1,5p x", "read"), ("git branch --merged main", "see"),
     ("git branch -d old", "branch"), ("python3 --version", "see"), ("python3 x.py", "script"), ("bd ready", "see"),
     ("cat a > b", "change"), ("frobnicate --all", "run")],
)  # fmt: skip
def test_a_command_has_a_role(command: str, role: str) -> None:
    assert call("command", command).role == role


def test_tools_of_an_editors_server_are_the_tools_that_they_stand_for() -> None:
    wrapped = call("mcp_call", "acp/Bash command=git push", tool="mcp__acp__Bash")
    assert (wrapped.heads, wrapped.external) == (("git push",), True)
    assert call("mcp_call", "acp/Edit file_path=/a/b.py", tool="mcp__acp__Edit").base == "b.py"


@pytest.mark.parametrize(
    "command",
    [
        "python3 scripts/publish_digest.py --week 3", "./tools/deploy.sh staging", "make deploy",
        "just release 2.0", "npm run deploy:prod", "npm publish", "bash bin/upload-assets.sh",
        "node tools/notify-team.mjs", "vercel --prod", "fly deploy", "wrangler deploy", "supabase db push",
        "eas build -p ios", "gcloud run deploy", "claude -p 'why?'", "codex exec x",
        "esphome run a.yaml --device 10.0.0.9", "mosquitto_pub -h 10.0.0.2 -t a -m 1", "ping -c1 nas.lan",
        "rsync -a x/ nas:/y", "scp x nas:/y", "python3 -c \"import requests; requests.get('https://a.example')\"",
        "node -e \"fetch('https://a.example')\"", "irm https://a.example/x", "psql -h db.example app -c 'select 1'",
        "redis-cli -h cache.example info", "git ls-remote origin", "git submodule update --init",
        "go get a.example/b", "go install a.example/b@latest", "uv pip install rich", "cargo install ripgrep",
        "opam install dune", "STAGE=$(cat .stage) pnpm run deploy", "pip list --outdated", "git lfs pull",
        "./smoke.sh https://a.example",
    ],
)  # fmt: skip
def test_what_reaches_outside(command: str) -> None:
    assert look(command).remote


@pytest.mark.parametrize(
    "command",
    [
        "python -m pytest tests/test_upload.py", "python scripts/release_notes.py", "bash -n deploy.sh",
        "cat deploy.sh", "python scripts/publish_digest.py --dry-run", "shellcheck scripts/deploy.sh",
        "chmod +x upload.sh", "make test", "npm run build", "dotnet publish -c Release", "MIX_ENV=prod mix release",
        "supabase start", "supabase db reset", "wrangler dev", "vercel dev", "claude --version", "claude mcp list",
        "codex --help", "firebase emulators:start", "esphome config a.yaml",
        "esphome upload a.yaml --device /dev/ttyUSB0", "mosquitto_pub -t a -m 1", "nc -zv localhost 5432",
        "rsync -a a/ b/", "python3 -c 'import json; print(json.loads(\"1\"))'",
        "node -e \"fetch('http://localhost:3000')\"", "psql -h localhost app", "psql app_dev -c 'select 1'",
        "redis-cli info", "git remote -v", "git submodule status", "git clone ../other", "go mod tidy",
        "go install ./cmd/...", "go run ./cmd/x", "uv pip list", "cargo install --path .", "gh --version",
        "npx tsc", "docker build -t x .", "terraform validate", "git fetch-pack --help", "git log --grep release",
    ],
)  # fmt: skip
def test_what_stays_here(command: str) -> None:
    assert not look(command).remote


def test_programs_with_subcommands_are_known_to_have_them() -> None:
    """An entry of two words is found only when its program is named with its subcommand."""
    listed = programs.REMOTE | programs.AT_HOME | frozenset(programs.ROLES)
    assert {name.partition(" ")[0] for name in listed if " " in name} <= programs.SEVERAL


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Research online how others do it", "sure"), ("Web search: key rotation", "sure"),
        ("such das im Internet", "sure"), ("网上查一下价格", "sure"), ("Read https://a.example/docs", "sure"),
        ("Compare pricing of hosted galleries", "maybe"), ("Explore the pricing module and its tests", ""),
        ("Find callers of the release function", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_text_is_about_the_world_or_the_project(text: str, said: str) -> None:
    assert afar(text) == said


def test_a_subagent_sent_to_the_web_is_outside() -> None:
    assert call("task_spawn", "Search the web for OCR libraries", tool="Task").external
    assert not call("task_spawn", "Explore how uploads are stored", tool="Task").external
    words = features(Seen(call("task_spawn", "OCR libraries", tool="Task"), (), "look online for OCR libraries"))
    assert "asked afar" in words


def test_a_browser_is_where_it_is_sent() -> None:
    def browses(url: str) -> bool:
        text = f"playwright/browser_navigate url={url}"
        return call("mcp_call", text, tool="mcp__playwright__browser_navigate").external

    assert browses("https://shop.example")
    assert not browses("http://localhost:5173/x")
    assert call("mcp_call", "memory_linear/get_issue id=7", tool="mcp__memory_linear__get_issue").external


def test_servers_are_told_apart_by_where_they_work() -> None:
    assert not call("mcp_call", "playwright/navigate url=x", tool="mcp__playwright__navigate").external
    assert call("mcp_call", "plugin_docs_context7/query q=x", tool="mcp__plugin_docs_context7__query").external


def test_a_subagent_that_looks_is_not_one_that_does() -> None:
    assert call("task_spawn", "Explore the scheduler", tool="Task").role == "explore"
    assert call("task_spawn", "Implement the audit handler", tool="Agent").role == "delegate"


def test_a_file_to_think_in_is_a_plan() -> None:
    assert call("file_write", "x", tool="Write", path=".claude/plans/otter.md").role == "plan"
    assert call("file_write", "x", tool="Write", path="src/planner.py").role == "write"


def test_features_tell_of_what_came_before() -> None:
    read = call("file_read", tool="Read", path="src/a.py")
    failed = call("test", "pytest -q", failed=True)
    again = features(Seen(call("test", "pytest -q"), (failed, read), "fix it"))
    assert {"again", "again>failed", "retry", "check+unrepaired", "wish:fix", "size:terse"} <= set(again)
    assert {"kin>failed+near", "check+failed:check+near"} <= set(again)
    spelled = features(Seen(call("test", "npx vitest"), (call("test", "pnpm vitest run", failed=True),), ""))
    assert "kin>failed+near" in spelled
    edited = features(Seen(read, (call("file_edit", tool="Edit", path="src/a.py"),), ""))
    assert {"read>edit", "changed", "calm"} <= set(edited)


@given(st.text(max_size=400), st.text(max_size=60), st.text(max_size=80))
def test_any_text_has_features(command: str, path: str, prompt: str) -> None:
    one = call("command", command)
    found = features(Seen(one, (one, call("file_read", tool="Read", path=path)), prompt))
    assert len(found) == len(set(found))
    assert all(isinstance(word, str) and len(word) < 120 for word in found)

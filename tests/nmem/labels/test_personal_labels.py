"""`nmem train labels`: learns what a person says of calls, keeps what is better, goes back, and says what changed."""

from __future__ import annotations

import builtins
import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection, OperationalError
from typing import Any

import pytest
from click.testing import CliRunner

from capture.labels import DIMENSIONS
from capture.labels import model as engine
from nmem.commands import train_labels
from nmem.commands.main import nmem
from nmem.errors import NmemError
from nmem.labels import backfill as bf
from nmem.labels import cards, corrections, store
from nmem.labels.corpus import FOLDER
from nmem.training import answers
from tests.nmem.labels.conftest import START, Hooks, other_model, use

personal = pytest.importorskip("nmem.training.personal_labels")
kept = pytest.importorskip("nmem.training.personal_labels_kept")
SOME = tuple(FOLDER / name for name in ("web_js.jsonl", "git_review.jsonl", "infra.jsonl"))
"""A part of the corpus: the whole takes longer than a test may."""


def train(hooks: Hooks, db_path: str, **more: Any) -> Any:
    return personal.train(hooks.db, db_path, START, corpus=SOME, **more)


ELSE = (("Read", "/src/shop/web/cart.py"), ("Bash", "git status"), ("Grep", "def total"),
        ("Edit", "/src/shop/web/cart.py"), ("Bash", "npm test"), ("Bash", "ls dist"),
        ("Write", "/src/shop/web/page.py"))  # fmt: skip
ASKED = ("add a banner to the cart page", "why is the total wrong?", "ok, go on", "rename the preview folder",
         "commit and push", "review the cart code", "make the footer smaller")  # fmt: skip


def decide(hooks: Hooks, sessions: int, tool: str, argument: str, **words: str) -> None:
    """In each session three such calls among others, in different places, each decided."""
    for number in range(sessions):
        name = f"{tool}-{number}"
        for again in range(3):
            hooks.user(name, ASKED[(number * 3 + again) % len(ASKED)])
            for place in range((number + again) % 4 + 1):
                hooks.call(name, *ELSE[(number + again * 2 + place) % len(ELSE)])
            seen = hooks.call(name, tool, f"{argument} --part {again}" if tool == "Bash" else f"{argument}{again}.py")
            corrections.relabel_many(hooks.db, seen, words, START)


def test_too_few_words_fit_nothing(hooks: Hooks, db_path: str) -> None:
    report = train(hooks, db_path)
    assert not report.enough
    assert "it takes 8 in 3" in report.reason
    decide(hooks, 2, "Bash", "./shipit preview", locus="external")
    report = train(hooks, db_path)
    assert not report.enough
    assert "most of them say locus: 6 of your words in 2 sessions" in report.reason
    assert not Path(engine.personal_file(db_path)).exists()


def test_a_habit_is_learned_kept_used_and_given_back(hooks: Hooks, db_path: str) -> None:
    decide(hooks, 5, "Bash", "./shipit preview", locus="external")
    shipped = engine.shipped()
    assert shipped
    dry = train(hooks, db_path, dry=True)
    assert not Path(engine.personal_file(db_path)).exists()
    report = train(hooks, db_path)
    assert report.refits == dry.refits
    (refit,) = report.refits
    assert (refit.dimension, refit.adopted, refit.own, refit.sessions) == ("locus", True, 15, 5)
    assert (refit.right_before, refit.right_after) == (0, 15), refit
    assert refit.corpus_after.macro_f1 >= refit.corpus_before.macro_f1 - personal.HAIR
    assert [reason.partition(":")[0] for reason in report.lacking] == [name for name in DIMENSIONS if name != "locus"]
    for file in (engine.personal_file(db_path), str(cards.personal_file(db_path))):
        assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600

    model = engine.current(db_path)
    assert model
    assert model.name == report.after != shipped.name
    for word in list(shipped.weights)[:400]:
        old, new = shipped.logits((word,)), model.logits((word,))
        assert [old[at] for at in (0, 1, 3, 4)] == pytest.approx([new[at] for at in (0, 1, 3, 4)], abs=0), word
    seen = hooks.call("another", "Bash", "./shipit preview --part 9")
    locus, name = hooks.db.execute("SELECT locus, label_model FROM observations WHERE id = ?", (seen,)).fetchone()
    assert name == model.name
    assert locus > 0
    assert bf.backfill(hooks.db, db_path, START).labelled > 0
    assert {row[-1] for row in hooks.labels()} == {model.name, f"{model.name}+locus"}
    assert store.known(hooks.db)[model.name][1] == "personal"

    found = {card.dimension: card for card in cards.cards(db_path)}
    assert list(found) == list(DIMENSIONS)
    assert (found["locus"].own, found["phase"].own, found["locus"].source) == (15, 0, "personal")
    assert personal.train(hooks.db, db_path, START, corpus=SOME).after == report.after, "the same again"

    assert kept.reset(hooks.db, db_path, START)
    again = engine.current(db_path)
    assert again
    assert again.name == shipped.name
    assert not cards.personal_file(db_path).exists()
    assert not kept.reset(hooks.db, db_path, START)
    told = hooks.db.execute(
        "SELECT reason, metrics FROM tuning_history WHERE subject = 'labels' ORDER BY id"
    ).fetchall()
    assert len(told) == 3
    assert told[0][0].startswith("locus: adopted, 0 to 15 of 15 of your words right")
    assert json.loads(told[0][1])["locus"]["own"] == 15


def test_what_spoils_the_corpus_is_rejected(hooks: Hooks, db_path: str) -> None:
    decide(hooks, 14, "Read", "/src/shop/web/view", scope="diverge")
    report = train(hooks, db_path)
    (refit,) = report.refits
    assert not refit.adopted
    assert "the corpus suffers" in refit.why
    assert report.after == report.before
    assert not Path(engine.personal_file(db_path)).exists()


def test_words_that_contradict_each_other_are_rejected(hooks: Hooks, db_path: str) -> None:
    for number in range(6):
        hooks.session(f"s{number}")
        for again, word in enumerate(("routine", "novel")):
            seen = hooks.call(f"s{number}", "Bash", f"make thing{again}")
            corrections.relabel(hooks.db, seen, "novelty", ("routine", "novel")[(number + again) % 2], START)
            assert word
    (refit,) = train(hooks, db_path).refits
    assert not refit.adopted
    assert "no more of your words come out right" in refit.why or "the corpus suffers" in refit.why


def test_a_model_that_is_no_longer_better_is_given_up(hooks: Hooks, db_path: str) -> None:
    decide(hooks, 5, "Bash", "./shipit preview", locus="external")
    assert train(hooks, db_path).path
    for (number,) in hooks.db.execute("SELECT id FROM observations WHERE instr(label_model, '+')").fetchall():
        corrections.relabel(hooks.db, number, "locus", "internal", START)
    report = train(hooks, db_path)
    assert not report.refits[0].adopted
    assert not report.path
    assert engine.current(db_path).name == engine.shipped().name  # type: ignore[union-attr]


def test_examples_are_what_the_person_decided_with_what_came_before(hooks: Hooks) -> None:
    decide(hooks, 1, "Bash", "./shipit preview", locus="external", phase="act")
    found = answers.own_labels(hooks.db)
    assert [each.labels for each in found] == [("act", "?", "external", "?", "?")] * 3
    assert {each.group for each in found} == {"own/Bash-0"}
    assert [each.seen.prompt for each in found] == list(ASKED[2::-1])
    assert [len(each.seen.previous) for each in found] == [4, 4, 1]
    assert found[2].seen.previous[0].path.endswith("web/cart.py")


def test_a_folder_that_others_may_write_to_is_refused(hooks: Hooks, db_path: str) -> None:
    decide(hooks, 5, "Bash", "./shipit preview", locus="external")
    folder = Path(db_path).parent
    folder.chmod(0o777)
    try:
        with pytest.raises(NmemError, match="is not yours alone"):
            train(hooks, db_path)
    finally:
        folder.chmod(0o700)
    assert not hooks.db.execute("SELECT 1 FROM tuning_history").fetchall(), "both or neither"


def test_a_damaged_card_or_table_does_not_stop_anything(hooks: Hooks, db_path: str) -> None:
    hooks.session()
    cards.personal_file(db_path).write_text('{"dimensions": [], "name": 3}')
    Path(engine.personal_file(db_path)).write_bytes(b"\x00garbage")
    engine.forget()
    assert [card.source for card in cards.cards(db_path)] == ["shipped"] * 5
    assert bf.backfill(hooks.db, db_path, START).labelled == 0


def test_the_command_says_it(hooks: Hooks, db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal, "files", lambda: SOME)
    run = CliRunner().invoke
    done = run(nmem, ["train", "labels"])
    assert done.output.startswith("nothing to learn from yet: 0 calls in 0 sessions are decided by you")
    decide(hooks, 5, "Bash", "./shipit preview", locus="external")
    done = run(nmem, ["train", "labels", "--dry-run"])
    assert "your words\t15 in 5 sessions: right 0 before, 15 after, on sessions not seen" in done.output
    assert "verdict\tbetter: would be adopted" in done.output
    assert "a dry run" in done.output
    report = json.loads(run(nmem, ["train", "labels", "--json"]).output)
    assert report["refits"][0]["adopted"]
    shown = run(nmem, ["train", "labels", "--card"]).output
    assert f"# Model {report['after']} (personal)" in shown
    assert "and 15 calls of yours" in shown
    assert len(json.loads(run(nmem, ["train", "labels", "--card", "--json"]).output)["cards"]) == 5
    assert "built-in weights are in use again" in run(nmem, ["train", "labels", "--reset"]).output
    assert "there were no weights of your own" in run(nmem, ["train", "labels", "--reset"]).output
    assert run(nmem, ["train", "labels", "--reset", "--card"]).exit_code == 2


def test_without_scikit_learn_it_is_one_line(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "nmem.training" and "personal_labels" in (rest[2] if len(rest) > 2 else ()):
            raise ImportError("No module named 'sklearn'", name="sklearn")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    done = CliRunner().invoke(nmem, ["train", "labels"])
    said = str(done.exception)
    assert said == f"this needs scikit-learn (sklearn is missing): {sys.executable} -m pip install scikit-learn"
    monkeypatch.setattr(train_labels, "find_spec", lambda _name: None)
    said = str(CliRunner().invoke(nmem, ["train", "labels"]).exception)
    assert said.endswith(f"uv pip install --python {sys.executable} scikit-learn")
    assert "there were no weights of your own" in CliRunner().invoke(nmem, ["train", "labels", "--reset"]).output


def test_reset_and_the_command_need_nothing_but_the_package(hooks: Hooks) -> None:
    needs = "nmem.commands.train, nmem.commands.train_labels, nmem.training.personal_labels_kept"
    code = f"import sys, {needs}; sys.exit(bool({{'numpy', 'scipy', 'sklearn'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_both_files_and_the_note_or_none_of_them(hooks: Hooks, db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(db_path, other_model())
    files = Path(engine.personal_file(db_path)), cards.personal_file(db_path)
    files[1].write_text('{"name": "0123456789ab", "dimensions": {}}')
    before = [file.read_bytes() for file in files]
    value: tuple[object, ...] = (engine.FORMAT, "ba9876543210", {}, 0, [0.5] * 5)

    @contextmanager
    def full(db: Connection) -> Iterator[None]:
        yield
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(kept, "transaction", full)
    for table in (kept.Table(value, {"name": "ba9876543210"}), kept.Table()):
        with pytest.raises(OperationalError):
            kept.keep(hooks.db, db_path, START, table, "", {})
        assert [file.read_bytes() for file in files] == before
    for file in files:
        file.unlink()
    with pytest.raises(OperationalError):
        kept.keep(hooks.db, db_path, START, kept.Table(value, {}), "", {})
    assert not any(file.exists() for file in files)

"""Texts are found in whatever case and form, the same in rows, by SQL's first look, and in the bytes of files."""

from __future__ import annotations

import json
import random
import sqlite3
import unicodedata
from pathlib import Path

import pytest

from nmem.purge import files, run
from nmem.purge.needles import Needles, fold
from nmem.purge.selection import Matcher, Selection
from tests.nmem.conftest import Recorded
from tests.nmem.purge.conftest import holding

LETTERS = "sStTfFiIkKlLnNaAbBeEuUoO09 -_/ßẞſſﬀﬁﬂﬃﬆİıKüÜäÄöÖéÉñŉẚσςΣδΔжЖ中日'\"\\\n"


def same(a: str, b: str) -> bool:
    """The slow reference: two texts are one without case, with dots of an i or none."""

    def form(text: str) -> str:
        out = "".join(letter.casefold() for letter in unicodedata.normalize("NFD", text))
        return unicodedata.normalize("NFC", out).replace("i\u0307", "i").replace("ı", "i")

    return form(a) in form(b)


def variant(text: str, dice: random.Random) -> str:
    """A text as somebody else may have written it."""
    out = "".join(dice.choice((str.upper, str.lower, str.title, str))(letter) for letter in text)
    for one, other in (
        ("ss", "ß"),
        ("SS", "ẞ"),
        ("fi", "ﬁ"),
        ("ff", "ﬀ"),
        ("st", "ﬆ"),
        ("k", "K"),
        ("s", "ſ"),
        ("i", "İ"),
    ):
        if dice.random() < 0.3:
            out = out.replace(one, other)
    return unicodedata.normalize(dice.choice(("NFC", "NFD")), out)


def drawn(dice: random.Random) -> tuple[str, str]:
    text = "".join(dice.choice(LETTERS) for _ in range(dice.randint(3, 12)))
    around = ["".join(dice.choice("xyz .,") for _ in range(dice.randint(0, 4))) for _ in "ab"]
    inside = variant(text, dice) if dice.random() < 0.8 else "".join(dice.choice(LETTERS) for _ in range(20))
    return text, inside.join(around)


@pytest.mark.parametrize("seed", range(2))
def test_rows_sql_and_files_agree_with_the_slow_reference(seed: int) -> None:
    dice = random.Random(seed)
    db = sqlite3.connect(":memory:")
    met = 0
    for _ in range(300):
        text, value = drawn(dice)
        if len(text.strip()) < 3:
            continue
        says = Matcher((text,), ())
        known = same(text, value)
        assert says(value) or not known, (text, value)
        db.create_function("purge_says", 1, says, deterministic=True)
        forms = (value, json.dumps({"x": [value]}), json.dumps([value], ensure_ascii=False))
        needles = says.needles(set())
        for form in forms:
            by_row = says(form)
            assert bool(db.execute(f"SELECT {says.sql('v')} FROM (SELECT ? AS v)", (form,)).fetchone()[0]) == by_row
            assert needles.within(form.encode()) or not by_row, (text, form)
            assert by_row or not known, (text, form)
        met += known
    assert met > 110


@pytest.mark.parametrize("pairs", [
    [("Straße 12", "in der Straße 12"), ("Überweisung", "ÜBERWEISUNG"), ("istanbul", "İSTANBUL"),
     ("kelvin", "\u212aELVIN"), ("final", "\ufb01nal"), ("ΣΊΣΥΦΟΣ", "σίσυφος")],
    [("strasse 12", "IN DER STRAẞE 12"), ("überweisung", "U\u0308BERWEISUNG"), ("İstanbul", "istanbul"),
     ("senquok", "Straßenquok")],
    [("STRASSE", "Straße")],
], ids=len)  # fmt: skip
def test_letters_that_fold_are_found_in_rows_and_files(
    record: Recorded, db_path: str, tmp_path: Path, pairs: list[tuple[str, str]]
) -> None:
    """None of a list is found by another of it."""
    record.coupon()
    texts = tuple(text for text, _ in pairs)
    for text, stands in pairs:
        assert not holding(db_path, (text,))
        record.user(f"say {stands} here")
        assert holding(db_path, (text,))
        for name in ("plain.txt", "in.json"):
            path = tmp_path / name
            path.write_text(f"x {stands} y" if name == "plain.txt" else json.dumps(stands), "utf-8")
            assert files.holds(path, Needles([fold(text)]))
            assert not any(files.holds(path, Needles([fold(other)])) for other in texts if other != text)
    log = Path(db_path).with_name("nmem.log")
    log.write_text("one\n" + "".join(f"about {stands}\n" for _, stands in pairs), "utf-8")
    done = run.purge(db_path, Selection(texts=texts), 1, window=0)
    assert done.left == ()
    assert holding(db_path, tuple(one for pair in pairs for one in pair)) == []
    assert log.read_text("utf-8") == "one\n"


def test_another_word_is_not_found() -> None:
    needles = Needles([fold("Überweisung")])
    assert not needles.within("Uberweisung, uberweisung, Überweisun".encode())
    assert not Needles([fold("Straße")]).within(b"Strase strabe")


def test_what_a_regular_expression_finds_is_looked_for_as_it_stands(record: Recorded, db_path: str) -> None:
    record.begin("s").user("write CHANGELOG.md now")
    record.user("and read changelog.md")
    done = run.purge(db_path, Selection(regexes=(r"CHANGELOG\.md",)), 1, window=0)
    assert done.left == ()
    assert record.db.execute("SELECT content FROM prompts").fetchall() == [("and read changelog.md",)]
    assert b"CHANGELOG.md" not in Path(db_path).read_bytes()


def test_what_the_trash_once_kept_can_be_read() -> None:
    assert Needles.unpacked([b"stra\xc3\x9fe"]).within("STRAßE".encode())
    packed = Needles(["a b"], ["C"]).packed
    assert Needles.unpacked(packed).packed == packed

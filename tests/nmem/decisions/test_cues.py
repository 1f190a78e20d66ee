"""The cues of decisions are found in any case, whichever of the two ways a text is looked through."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from capture import paths
from capture.redaction import rules_cache
from nmem.conversation import cues
from nmem.conversation.cues import Cue, needed
from nmem.episodes.narrate import cues as told

ALL = {name: one for name, one in vars(cues).items() if isinstance(one, Cue)}
_ESCAPED = re.compile(r"\\.")
SAID = """
From now on we ALWAYS round half up. No, not the total: use the net price instead. It Must Never be empty!
Yes, exactly as you said. I would rather keep it in one file, because the other one breaks. Which option, A or B?
To recap: the limit is 20, not 50. Please fix the tests. It used to be five, but we decided on four. Go ahead.
"""


@pytest.mark.parametrize("name", ALL)
def test_a_cue_is_written_in_lower_case(name: str) -> None:
    source = _ESCAPED.sub("", ALL[name].source)
    assert not re.search("[A-Z]", source)
    assert not re.search("[ıſK]", source), "in any case they are i, s and k as well"


@pytest.mark.parametrize("name", ALL)
def test_ascii_is_found_as_any_text_is(name: str) -> None:
    lines = [part for line in SAID.strip().split("\n") for part in (line, *line.split(". "))]
    whole = re.compile(ALL[name].source, re.IGNORECASE)
    for line in (*lines, *map(str.upper, lines), *map(str.lower, lines)):
        assert ALL[name].search(line) == bool(whole.search(line)), line


def test_a_text_is_passed_over_only_where_nothing_is_found() -> None:
    """Texts of the words that cues look for, in any order: most hold a sign, and many hold what it stands for."""
    every = {**ALL, **{f"told {name}": one for name, one in vars(told).items() if isinstance(one, Cue)}}
    signs = sorted({sign for one in every.values() for sign in needed(one._lower()[1])})
    assert len(signs) > 300, "nearly every cue has words that it needs"
    words = [*signs, *re.findall(r"\w+[.,:?]?", SAID), "the", "to", "I", "we", "?", ",", "is", "not"]
    dice, found = random.Random(3), 0
    texts = [" ".join(dice.choices(words, k=dice.randint(1, 9))) for _ in range(600)]
    for one in every.values():
        whole = re.compile(one.source, re.IGNORECASE)
        for text in texts:
            assert one.search(text) == bool(whole.search(text)), (one.source[:40], text)
            found += one.search(text)
    assert found > 2000


def test_other_scripts_are_found() -> None:
    assert cues.RULE.search("앞으로는 이렇게 하자")
    assert cues.RULE.search("À PARTIR DE MAINTENANT, on arrondit")


def test_what_one_process_compiled_serves_the_next_one(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMEM_DB", str(own_home / "nmem.db"))
    said = ("Never round down.", "Grundsätzlich runden wir AUF.")

    def found() -> list[bool]:
        """By cues as a new process has them: nothing compiled, nothing read."""
        monkeypatch.setattr(cues, "_kept", {})
        return [Cue(cues.RULE.source).search(text) for text in (*said, "round down, später auf")]

    assert found() == [True, True, False]
    with monkeypatch.context() as changed:
        changed.setattr(rules_cache, "code", lambda source: pytest.fail(f"compiled again: {source[:40]}"))
        assert found() == [True, True, False]
    kept = sorted(Path(paths.cache(paths.database())).glob("cues*"))
    assert len(kept) == 3
    for file in kept:
        file.write_bytes(file.read_bytes()[:1000])
    assert found() == [True, True, False], "a damaged file is made anew"

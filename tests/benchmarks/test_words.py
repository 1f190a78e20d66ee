"""The words of `python -m benchmarks`: what does not go together is one line, before anything is measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import parsed

HERE = str(Path(__file__).parent)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("gate --write", "gate has no table to write"),
        ("gate --from KEPT", "none to tell again"),
        ("--sizes 1e4 --write", "it wants two sizes"),
        ("--from KEPT --write", "it wants two sizes"),
        ("--from none.json", "none.json holds no figures of --json"),
        ("memory --from KEPT", "these are no figures of memory"),
        ("memory", "memory wants --data"),
        ("peers --data none", "peers wants --data"),
        (f"peers --data {HERE} --only typo", "one of claude-mem, mcp-memory-service, basic-memory"),
        (f"peers --data {HERE} --only basic-memory --write", "--write wants all peers"),
        ("--only basic-memory", "--only is for peers"),
    ],
)
def test_words_that_do_not_go_together_are_one_line(
    words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kept.json").write_text(json.dumps({"figures": {}, "sizes": [1000]}), "utf-8")
    with pytest.raises(SystemExit) as stop:
        parsed(words.replace("KEPT", str(tmp_path / "kept.json")).split())
    assert stop.value.code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_figures_that_were_kept_need_no_material(tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text('{"peers": []}', "utf-8")
    assert parsed(["peers", "--from", str(tmp_path / "kept.json")]).source == {"peers": []}

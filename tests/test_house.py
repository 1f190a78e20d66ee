"""The rules of the house, held by tools: import directions, types, style, size, and what the readme promises."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import house
from tests.house import ROOT, House, Module


def tool(name: str) -> str:
    """A development tool that stands beside the interpreter."""
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed beside {sys.executable}")
    return found


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_imports_point_down_only() -> None:
    done = run(tool("lint-imports"), "--no-cache")
    assert done.returncode == 0, done.stdout


def test_the_house_is_in_order() -> None:
    """What is counted in all modules: they are read once, for reading is dear. All that is wrong is told at once."""
    counted = House()
    cockpit = {name: others for name, others in counted.imports.items() if name.startswith("nmem_tui")}
    inside = {name: {other for other in others if other in cockpit} for name, others in cockpit.items()}
    wrong = {
        "figures that worsen (tests/house.py)": [
            f"{figure.name}: {found:,}, at most {figure.limit:,}"
            for figure in house.TABLE
            if (found := figure.count(counted)) > figure.limit
        ],
        "modules of the cockpit in a circle, in functions or for types": house.knots(inside),
        "imports inside functions whose block does not say why": [
            f"{name}:{line}" for name, one in counted.modules.items() for line in house.unexplained(one)
        ],
        "SQL in the cockpit": [f"{name}:{line}" for name in cockpit for line in house.sql(counted.modules[name])],
        "imports of capture from outside, which a hook has not": [
            f"{module.name}: {name}"
            for module in counted.modules.values()
            for node in (module.nodes if module.name.startswith("capture") else ())
            for name in imported(node)
            if name.partition(".")[0] not in sys.stdlib_module_names | {"capture"}
        ],
    }
    assert {what: found for what, found in wrong.items() if found} == {}


def test_the_page_of_figures_shows_every_figure_and_its_limit() -> None:
    page = house.FIGURES.read_text("utf-8")
    shown = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    said = {words[0]: words[2:] for words in shown if len(words) == 4}
    for figure in house.TABLE:
        assert said.get(figure.name) == [f"{figure.limit:,}", f"{figure.target:,}"], "`python -m tests.house --write`"


def test_a_circle_is_found_and_what_hangs_on_it_is_not() -> None:
    assert house.knots({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == [{"a", "b", "c"}]


def test_imports_are_told_apart_by_when_they_run(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.py").write_text("from one import b\n")
    (tmp_path / "one" / "b.py").write_text("def late() -> None:\n    from one.a import b\n")
    built = House(tmp_path, ("one",))
    assert built.imports == {"one.a": {"one.b"}, "one.b": {"one.a"}}
    assert built.imports_at_the_top == {"one.a": {"one.b"}, "one.b": set()}


def test_an_import_that_says_nothing_is_found() -> None:
    said = "def one():\n    import os  # on use: start-up stays short\n    import json\n"
    assert house.unexplained(Module("a", said)) == []
    for why in ("", "  # on use", "  # on use: "):
        assert house.unexplained(Module("a", f"{said}\n\ndef other():\n    import sys{why}\n")) == [7]


def imported(node: ast.AST) -> list[str]:
    """The modules that a statement imports, also by `__import__` with a plain name; relative imports stay at home."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""] if not node.level else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
        return [
            given.value for given in node.args[:1] if isinstance(given, ast.Constant) and isinstance(given.value, str)
        ]
    return []


@pytest.mark.parametrize(
    "line", ["db.execute(words)", "'SELECT 1'", "f'\\n  UPDATE {table} SET x = 1'", "db.executemany(*words)"]
)
def test_sql_is_found_where_it_stands(line: str) -> None:
    assert house.sql(Module("a", f"known = 1\nrow = {line}\n")) == [2]


@pytest.mark.parametrize("line", ["queue.run(words)", "unit.execute", "'Select a row'", "'with a word'", "'SELECTED'"])
def test_words_that_are_no_sql_are_left_alone(line: str) -> None:
    assert house.sql(Module("a", f"row = {line}")) == []


@pytest.mark.slow
def test_types_are_strict() -> None:
    done = run(tool("mypy"))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("words", [("check",), ("format", "--check")], ids=" ".join)
def test_style(words: tuple[str, ...]) -> None:
    done = run(tool("ruff"), *words)
    assert done.returncode == 0, done.stdout


def test_no_registry_is_named() -> None:
    hosts = ("pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "npmjs" + ".com")
    listed = run("git", "ls-files").stdout.split("\n")
    for name in filter(None, listed):
        file = ROOT / name
        if file.suffix in {".py", ".md", ".toml", ".txt", ".json", ".js", ".tcss", ""} and file.is_file():
            text = file.read_text(errors="replace")
            assert not [host for host in hosts if host in text], name

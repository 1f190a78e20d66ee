"""The rules of the house, held by tools: import directions, types, style, size, and what the readme promises."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("capture", "nmem", "nmem_tui")
LONGEST = 600


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


def test_no_modules_of_the_cockpit_import_each_other_in_a_circle() -> None:
    """Neither at the top, nor in functions, nor for types alone."""
    graph = imports_between(sorted((ROOT / "nmem_tui").rglob("*.py")))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_circle_is_found() -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"c"}, "c": {"a"}}).prepare()


def imports_between(files: list[Path]) -> dict[str, set[str]]:
    """Which module imports which of the same set; `from package import module` means the module."""
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files}
    return {
        name: {
            full if full in names else node.module
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module
            for full in (f"{node.module}.{alias.name}" for alias in node.names)
            if full in names or node.module in names
        }
        for name, file in names.items()
    }


ON_USE = "on use: start-up stays short"


def test_imports_inside_functions_of_the_cockpit_say_why() -> None:
    """They keep start-up short; each block of them says so on one of its lines."""
    found = {
        f"{file.relative_to(ROOT)}:{line}"
        for file in (ROOT / "nmem_tui").rglob("*.py")
        for line in unexplained(file.read_text("utf-8"))
    }
    assert found == set()


def test_an_import_that_says_nothing_is_found() -> None:
    said = f"def one():\n    import os  # {ON_USE}\n    import json\n"
    assert unexplained(said) == []
    assert unexplained(f"{said}\n\ndef other():\n    import sys\n") == [7]


def unexplained(code: str) -> list[int]:
    """First lines of the blocks of imports inside functions that do not say why they stand there."""
    lines = code.splitlines()
    out = []
    for function in ast.walk(ast.parse(code)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = sorted(
                {
                    (node.lineno, node.end_lineno or node.lineno)
                    for node in ast.walk(function)
                    if isinstance(node, ast.Import | ast.ImportFrom)
                }
            )
            blocks: list[list[int]] = []
            for first_line, last_line in inside:
                if blocks and first_line == blocks[-1][1] + 1:
                    blocks[-1][1] = last_line
                else:
                    blocks.append([first_line, last_line])
            out += [one for one, last in blocks if not any(ON_USE in line for line in lines[one - 1 : last])]
    return sorted(set(out))


def test_capture_imports_nothing_but_the_standard_library_and_itself() -> None:
    """A list of what is forbidden rots; a hook has no site-packages to import from."""
    foreign = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in (ROOT / "capture").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        for name in imported(node)
        if name.partition(".")[0] not in sys.stdlib_module_names | {"capture"}
    }
    assert foreign == set()


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


STATEMENTS = {
    "ALTER", "ATTACH", "BEGIN", "COMMIT", "CREATE", "DELETE", "DROP", "INSERT", "PRAGMA", "REPLACE", "ROLLBACK",
    "SAVEPOINT", "SELECT", "UPDATE", "VACUUM", "WITH",
}  # fmt: skip
RUNS = {"execute", "executemany", "executescript"}


def test_no_sql_stands_in_the_cockpit() -> None:
    found = {
        f"{file.relative_to(ROOT)}:{line}"
        for file in (ROOT / "nmem_tui").rglob("*.py")
        for line in sql(file.read_text("utf-8"))
    }
    assert found == set()


@pytest.mark.parametrize(
    "line", ["db.execute(words)", "'SELECT 1'", "f'\\n  UPDATE {table} SET x = 1'", "db.executemany(*words)"]
)
def test_sql_is_found_where_it_stands(line: str) -> None:
    assert sql(f"known = 1\nrow = {line}\n") == [2]


@pytest.mark.parametrize("line", ["queue.run(words)", "unit.execute", "'Select a row'", "'with a word'", "'SELECTED'"])
def test_words_that_are_no_sql_are_left_alone(line: str) -> None:
    assert sql(f"row = {line}") == []


def sql(code: str) -> list[int]:
    """The lines on which a statement is run, or a text begins as one does."""
    return sorted(
        node.lineno
        for node in ast.walk(ast.parse(code))
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNS)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and first(node.value) in STATEMENTS)
    )


def first(text: str) -> str:
    """The first word of a text."""
    return next(iter(text.split(None, 1)), "")


@pytest.mark.slow
def test_types_are_strict() -> None:
    done = run(tool("mypy"))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("words", [("check",), ("format", "--check")], ids=" ".join)
def test_style(words: tuple[str, ...]) -> None:
    done = run(tool("ruff"), *words)
    assert done.returncode == 0, done.stdout


def lengths() -> dict[str, int]:
    """Lines of every module of the three packages."""
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    return {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files}


def test_modules_are_short() -> None:
    sizes = lengths()
    assert {name: size for name, size in sizes.items() if size > LONGEST} == {}


def test_no_registry_is_named() -> None:
    hosts = ("pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "npmjs" + ".com")
    listed = run("git", "ls-files").stdout.split("\n")
    for name in filter(None, listed):
        file = ROOT / name
        if file.suffix in {".py", ".md", ".toml", ".txt", ".json", ".js", ".tcss", ""} and file.is_file():
            text = file.read_text(errors="replace")
            assert not [host for host in hosts if host in text], name

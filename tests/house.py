"""The figures of the house, counted from the source: size, SQL, circles, late imports, ancestors of screens.

`python -m tests.house` prints them beside their limits, `--write` puts them into docs/figures.md, `--knots` lists the
circles. A limit is a ratchet: `tests/test_house.py` fails when a figure passes it; lower it when a figure falls.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("capture", "nmem", "nmem_tui")
LONG, FRAGMENT = 450, 40
ON_USE = re.compile(r"# on use: \S")
FIGURES = ROOT / "docs" / "figures.md"
BEGIN, END = "<!-- house: python -m tests.house --write -->", "<!-- /house -->"

STATEMENTS = {
    "ALTER", "ATTACH", "BEGIN", "COMMIT", "CREATE", "DELETE", "DROP", "INSERT", "PRAGMA", "REPLACE", "ROLLBACK",
    "SAVEPOINT", "SELECT", "UPDATE", "VACUUM", "WITH",
}  # fmt: skip
RUNS = {"execute", "executemany", "executescript"}


@dataclass(frozen=True)
class Module:
    """One module of the product: its dotted name, its text and its syntax tree."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def late(self) -> list[ast.Import | ast.ImportFrom]:
        """The imports inside functions, in the order of the text."""
        inside = {
            node
            for function in self.nodes
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in imports(function)
        }
        return sorted(inside, key=lambda node: node.lineno)

    @property
    def room(self) -> str:
        """The package two names deep, or the module itself where it lies at the top: `nmem.episodes`, `nmem.undo`."""
        return ".".join(self.name.split(".")[:2])


class House:
    """All modules of the three packages, parsed once."""

    def __init__(self, root: Path = ROOT, packages: Iterable[str] = PACKAGES) -> None:
        self.modules = {
            module.name: module
            for package in packages
            for file in sorted((root / package).rglob("*.py"))
            for module in [Module(dotted(file.relative_to(root)), file.read_text("utf-8"))]
        }

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Which module imports which, wherever the import stands; `from package import module` means the module."""
        return {name: set(self.imported(module, module.nodes)) for name, module in self.modules.items()}

    @cached_property
    def imports_at_the_top(self) -> dict[str, set[str]]:
        """The same for imports that run when the module is loaded."""
        return {name: set(self.imported(module, at_load(module.tree))) for name, module in self.modules.items()}

    def imported(self, module: Module, nodes: Iterable[ast.AST]) -> Iterator[str]:
        """The modules of the house that the statements among the nodes import."""
        for node in nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.modules)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    if full in self.modules:
                        yield full
                    elif node.module in self.modules and node.module != module.name:
                        yield node.module

    @cached_property
    def rooms(self) -> dict[str, set[str]]:
        """Which room imports which other room."""
        graph: dict[str, set[str]] = {module.room: set() for module in self.modules.values()}
        for name, others in self.imports.items():
            room = self.modules[name].room
            graph[room] |= {self.modules[other].room for other in others} - {room}
        return graph

    @cached_property
    def bases(self) -> dict[str, list[str]]:
        """Classes of the cockpit by name, with the names of their bases."""
        return {
            node.name: [word for base in node.bases if (word := last_word(base))]
            for name, module in self.modules.items()
            if name.startswith("nmem_tui.")
            for node in module.nodes
            if isinstance(node, ast.ClassDef)
        }

    def ancestors(self, name: str) -> set[str]:
        """The classes of the cockpit that a class of the cockpit inherits from."""
        direct = [base for base in self.bases[name] if base in self.bases]
        return set(direct).union(*(self.ancestors(base) for base in direct))


def dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def last_word(base: ast.expr) -> str:
    """`View` of `View`, `base.View` and `View[Row]`."""
    if isinstance(base, ast.Subscript):
        return last_word(base.value)
    return base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements beneath a node: they stand among statements, never inside an expression."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.expr):
            yield from imports(child)


def at_load(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run when the module is loaded: nothing inside functions, nor for types alone."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and last_word(node.test) == "TYPE_CHECKING":
            continue
        waiting += [
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        ]


def knots(graph: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected sets of more than one node, largest first: each node in one reaches all the others."""
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(graph):
        visit(graph, start, seen, order)
    against: dict[str, set[str]] = {name: set() for name in graph}
    for name, others in graph.items():
        for other in others:
            against[other].add(name)
    found, seen = [], set()
    for start in reversed(order):
        reached: list[str] = []
        visit(against, start, seen, reached)
        if len(reached) > 1:
            found.append(set(reached))
    return sorted(found, key=lambda each: (-len(each), min(each)))


def visit(graph: dict[str, set[str]], start: str, seen: set[str], order: list[str]) -> None:
    """Appends what is reached from a node and not yet seen, each after what it leads to."""
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(sorted(graph[start])))]
    while path:
        name, others = path[-1]
        following = next((other for other in others if other not in seen), None)
        if following is None:
            order.append(name)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(sorted(graph[following]))))


def sql(module: Module) -> list[int]:
    """The lines on which a statement is run, or a text begins as one does."""
    return sorted(
        node.lineno
        for node in module.nodes
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNS)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and first_word(node.value) in STATEMENTS)
    )


def first_word(text: str) -> str:
    return next(iter(text.split(None, 1)), "")


class Block(NamedTuple):
    """Imports inside a function that stand directly beneath each other."""

    first: int
    last: int


def late_imports(module: Module) -> list[Block]:
    """The blocks of imports inside functions."""
    blocks: list[Block] = []
    for node in module.late:
        last = node.end_lineno or node.lineno
        if blocks and node.lineno == blocks[-1].last + 1:
            blocks[-1] = Block(blocks[-1].first, last)
        else:
            blocks.append(Block(node.lineno, last))
    return blocks


def unexplained(module: Module) -> list[int]:
    """First lines of the blocks of imports inside functions that do not say why they stand there."""
    return [
        block.first
        for block in late_imports(module)
        if not any(ON_USE.search(line) for line in module.lines[block.first - 1 : block.last])
    ]


def by_name(module: Module) -> list[int]:
    """Lines of `getattr` whose name is computed."""
    return [
        node.lineno
        for node in module.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and not isinstance(node.args[1], ast.Constant)
    ]


def is_screen(house: House, name: str) -> bool:
    return "View" in house.ancestors(name)


def megabytes(*folders: str, suffix: str = "*") -> float:
    """The size of the files beneath folders of the repository, in millions of bytes."""
    files = (file for folder in folders for file in (ROOT / folder).rglob(suffix) if "__pycache__" not in file.parts)
    return round(sum(file.stat().st_size for file in files if file.is_file()) / 1e6, 2)


Count = Callable[[House], float]


@dataclass(frozen=True)
class Figure:
    """One figure of the house: what is counted, how, the ratchet, and where the project wants it."""

    name: str
    count: Count
    limit: float
    target: float


def size(house: House, package: str = "") -> int:
    return sum(len(m.lines) for m in house.modules.values() if m.name.partition(".")[0].startswith(package))


def each(test: Callable[[Module], object]) -> Count:
    """How many modules a test is true of, or the sum where it counts."""
    return lambda house: sum(int(found) if isinstance(found := test(m), int) else bool(found) for m in modules(house))


def modules(house: House) -> Iterable[Module]:
    return house.modules.values()


def knotted(graph: dict[str, set[str]]) -> int:
    """Nodes that lie on a circle."""
    return sum(map(len, knots(graph)))


TABLE = (
    Figure("lines of product Python", size, 149_455, 85_000),
    Figure("modules", lambda house: len(house.modules), 796, 600),
    Figure("modules under 40 lines", each(lambda m: 0 < len(m.lines) < FRAGMENT), 49, 40),
    Figure("modules over 450 lines", each(lambda m: len(m.lines) > LONG), 20, 40),
    Figure("longest module", lambda house: max(len(m.lines) for m in modules(house)), 600, 600),
    Figure("modules that hold SQL", each(sql), 60, 60),
    Figure("modules on a circle of imports", lambda house: knotted(house.imports), 0, 0),
    Figure("modules on a circle at load", lambda house: knotted(house.imports_at_the_top), 0, 0),
    Figure("rooms on a circle of imports", lambda house: knotted(house.rooms), 0, 0),
    Figure("import statements inside functions", each(lambda m: len(m.late)), 818, 300),
    Figure("late imports that do not say why", each(lambda m: len(unexplained(m))), 0, 0),
    Figure(
        "most ancestors of a screen",
        lambda house: max(len(house.ancestors(name)) for name in house.bases if is_screen(house, name)),
        3,
        3,
    ),
    Figure("getattr by a computed name", each(lambda m: len(by_name(m))), 6, 0),
    Figure("megabytes of tests", lambda _: megabytes("tests"), 4.8, 8),
    Figure("megabytes of screenshots", lambda _: megabytes("screenshots"), 0.82, 1.5),
)


def table(house: House) -> str:
    """The figures as a table of Markdown: what is counted, the count, its limit, where the project wants it."""
    lines = [f"| {f.name} | {f.count(house):,} | {f.limit:,} | {f.target:,} |" for f in TABLE]
    return "\n".join(("| counted | today | at most | wanted |", "|---|---:|---:|---:|", *lines))


def written(page: str, text: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with a text between two marks. Raises ValueError where a mark is missing."""
    return f"{page[: page.index(begin) + len(begin)]}\n{text}\n{page[page.index(end) :]}"


def main(words: list[str]) -> None:
    house = House()
    if "--knots" in words:
        for graph in (house.rooms, house.imports):
            sys.stdout.writelines(f"{' '.join(sorted(circle))}\n" for circle in knots(graph))
        return
    counted = table(house)
    sys.stdout.write(f"{counted}\n")
    if "--write" in words:
        FIGURES.write_text(written(FIGURES.read_text("utf-8"), counted), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

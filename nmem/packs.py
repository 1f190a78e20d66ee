"""Builds the packs: files of compiled hook modules that nmem.preload loads; called by init and settling.

What a pack holds is measured: hooks of a few turns run in a scratch database and say which modules they loaded, and
which functions they called.
"""

from __future__ import annotations

import ast
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from marshal import dumps, loads
from pathlib import Path
from types import CodeType
from typing import TypeGuard

from capture.compiled import stamp
from capture.files import replace
from capture.settle import OFF
from capture.storage.schema import fold
from nmem import preload
from nmem.preload import KINDS, LATER, TELLING, head, pack, source
from nmem.store.store import pin_everything

OURS = (preload.__name__, "nmem.entry")
"""Modules that are there before any pack: only whether they are as they were is looked at."""


def fresh(above: str) -> bool:
    """Whether all packs are there and of these sources."""
    try:
        return all(_is_fresh(above, kind) for kind in {*KINDS.values(), TELLING, LATER})
    except (OSError, ValueError, EOFError, TypeError):
        return False


def _is_fresh(above: str, kind: str) -> bool:
    """Whether a pack is of these sources, and all of it can be read."""
    with Path(pack(above, kind)).open("rb", buffering=0) as file:
        rows, _, size = preload.rows_of(above, file.fileno())
        parts: list[preload.Part] = loads(os.read(file.fileno(), size)) if rows else []  # noqa: S302 -- our own
        rest = file.read()
    for _, left, at, length in parts:
        if left:
            loads(rest[at : at + length])  # noqa: S302 -- our own
    return bool(rows)


def make() -> bool:
    """Make the packs anew unless all are fresh, from what hooks load in a scratch database. False: it was not possible.

    Costs a dozen short processes, once an installation.
    """
    above = str(Path(__file__).resolve().parent.parent)
    if fresh(above):
        return True
    try:
        if not os.access(Path(pack(above, TELLING)).parent, os.W_OK):
            return False
        found, called = _traced(above)
        if not all(found.values()):
            return False  # a hook that says nothing would make packs of nothing, and these would pass for fresh
        for kind, names in found.items():
            replace(pack(above, kind), _packed(above, names, called.get(kind)))
    except (OSError, subprocess.SubprocessError, sqlite3.Error):
        return False
    return True


def _packed(above: str, names: list[str], called: set[str] | None) -> bytes:
    """Make a pack of modules. Functions that are not in `called` stand at its end; None: none are set apart."""
    rows: list[preload.Row] = []
    parts: list[preload.Part] = []
    rest = b""
    for name in [*(name for name in names if name not in OURS), *OURS, __name__]:  # another maker makes other packs
        package = Path(source(above, name, True)).exists()
        file = source(above, name, package)
        rows.append((name, package, stamp(file)))
        if name in (*OURS, __name__):
            parts.append((None, (), 0, 0))
            continue
        code, left, data = _compiled(file, name, None if name in _TOLD else called)
        parts.append((code, left, len(rest), len(data)))
        rest += data
    each = dumps(rows), dumps(parts), rest
    return head() + b"".join(len(one).to_bytes(4, "little") for one in each) + b"".join(each)


def _compiled(file: str, name: str, called: set[str] | None) -> tuple[CodeType, tuple[str, ...], bytes]:
    """Compile a source: the code without functions that are not called, their names, and their own code as bytes.

    Docstrings and annotations are left out: no hook asks for them, and they cost an eighth of reading a pack.
    """
    tree = ast.fix_missing_locations(_Bare().visit(ast.parse(Path(file).read_bytes(), file)))
    left = [each for each in tree.body if called is not None and _is_left(each, name, called)]
    tree.body = [each for each in tree.body if each not in left]
    apart = ast.Module(list(left), [])
    code, other = (compile(each, file, "exec", dont_inherit=True, optimize=2) for each in (tree, apart))
    return code, tuple(each.name for each in left), dumps(other) if left else b""


def _is_left(node: ast.stmt, name: str, called: set[str]) -> TypeGuard[ast.FunctionDef]:
    """Whether a statement defines a plain function that no traced hook calls.

    Names such as `__getattr__` stay, because Python looks for them in a module; so does a function that calls itself,
    because each stand-in is a frame more: text that is nested deep would reach the limit of recursion.
    """
    return (
        isinstance(node, ast.FunctionDef)
        and not node.decorator_list
        and not node.name.startswith("__")
        and f"{name} {node.name}" not in called
        and not any(isinstance(one, ast.Name) and one.id == node.name for one in ast.walk(node))
    )


class _Bare(ast.NodeTransformer):
    """Takes out annotations, and the imports and branches that only annotations need: a hook's modules know no
    dataclasses, which read these.
    """

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        bare = ast.Assign(targets=[node.target], value=node.value) if node.value else ast.Pass()
        return ast.copy_location(bare, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        return None if node.module == "__future__" else node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        for_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return ast.copy_location(ast.Pass(), node) if for_types and not node.orelse else node


_TRACE = """
import os, sys
sys.argv[0] = {entry!r}
done, called, leave = [], set(), os._exit
def told(code):
    sys.setprofile(None)
    os.write(1, "\\n".join(["", *done, *called]).encode())
    leave(code)
os._exit = told
def call(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_qualname == code.co_name:
        called.add(f"{{frame.f_globals.get('__name__')}} {{code.co_name}}")
sys.path[:] = [{above!r}, *sys.path]
from capture import compiled
run = compiled._Finder.exec_module
def exec_module(self, module):
    run(self, module)
    done.append(module.__name__)
compiled._Finder.exec_module = exec_module
compiled.install()
import nmem.entry
sys.setprofile(call)
nmem.entry.main()
"""
"""Runs a hook in a process of its own that says which modules it loaded, in the order in which they were ready, and
which of their functions were called."""


def _traced(above: str) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Kind of hook -> the modules that all of its kind load in a session that goes on, ready ones first; and the
    functions that hooks of a kind call; no entry for TELLING, whose functions are all packed."""
    found: dict[str, list[str]] = {}
    called: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / ".git").mkdir()
        (Path(folder) / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        for number, (event, payload) in enumerate((*_TURN, *_TURN, *_TURN)):
            said = {"prompt": f"{_PROMPT} And again: {number}."} if event == "UserPromptSubmit" else {}
            names, functions = _run(above, folder, event, {**payload, **said})  # the same prompt again would be none
            if event == "SessionStart":
                _fold(f"{folder}/data/nmem.db")
            if number >= len(_TURN):  # the first turn makes what later ones find
                kept = found.setdefault(KINDS[event], names)
                found[KINDS[event]] = [name for name in kept if name in names]
                called.setdefault(KINDS[event], set()).update(functions)
        _pin(f"{folder}/data/nmem.db")
        first, functions = _run(above, folder, "UserPromptSubmit", {"prompt": _PROMPT, "session_id": "another"})
    usual = found["prompt"]
    found["prompt"] = [name for name in usual if name in first]
    found[LATER] = [name for name in usual if name not in first]
    found[TELLING] = [*(name for name in first if name not in usual), *_WORDED]
    called[LATER] = called["prompt"]
    called["prompt"] = called["prompt"].union(functions)
    return found, called


def _fold(db_path: str) -> None:
    """Fold the log back after a session's start, also after the tables were made: of a large log each hook would load
    what folds it."""
    with closing(sqlite3.connect(db_path)) as db:
        fold(db, 5000)


def _pin(db_path: str) -> None:
    """Pin the episode, so that the next session is told something."""
    with closing(sqlite3.connect(db_path)) as db:
        pin_everything(db)
        db.commit()


def _run(above: str, folder: str, event: str, payload: dict[str, object]) -> tuple[list[str], list[str]]:
    """The modules that a hook loads, and the functions that it calls, each as its module and its name."""
    given = {"session_id": "preload", "cwd": folder, "hook_event_name": event, **payload}
    code = _TRACE.format(entry=f"{above}/nmem/entry.py", above=above)
    words = [sys.executable, "-I", "-S", "-c", code, "claude", event, "--db", f"{folder}/data/nmem.db"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("NMEM_")}
    done = subprocess.run(
        words, input=json.dumps(given).encode(), capture_output=True, env={**env, OFF: "1"}, timeout=60, check=False
    )
    ours = [name for name in done.stdout.decode().split("\n") if name.startswith(("capture.", "nmem."))]
    return [name for name in ours if " " not in name], [name for name in ours if " " in name]


_BASH: dict[str, object] = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
_WORDED = ("nmem.context.compose",)
"""What only a session with a past loads: the scratch database has none."""
_TOLD = (
    "capture.clients", "capture.hook", "nmem.context.decide", "nmem.context.items", "nmem.context.store", "nmem.names",
    "nmem.retrieval.terms", "nmem.sanitize",
)  # fmt: skip
"""Modules whose functions are all packed: a session that is told something calls more of them than the traced hooks,
and `capture.hook` answers for failures, so none of its functions may have to be read first.
"""
_PROMPT = "Make the parser in src/settings/parser.py keep all comments, please: test_comments fails."
_TURN: tuple[tuple[str, dict[str, object]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {}),
    ("PreToolUse", _BASH),
    ("PostToolUse", {**_BASH, "tool_response": {"stdout": "2 passed", "stderr": "", "interrupted": False}}),
    ("PostToolUse", {"tool_name": "Read", "tool_input": {"file_path": "a.py"}, "tool_response": {"type": "text"}}),
    (
        "PostToolUse",
        {
            "tool_name": "Edit",
            "tool_input": {"file_path": "a.py", "old_string": "a", "new_string": "b"},
            "tool_response": {"filePath": "a.py", "oldString": "a", "newString": "b"},
        },
    ),
    ("Stop", {"last_assistant_message": "The parser keeps comments.", "stop_hook_active": False}),
)
"""The hooks of a turn."""

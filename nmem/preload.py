"""Loads the compiled modules of a hook from one file (a pack), at half the cost of importing them one by one.

A pack holds the code of what one kind of hook always needs, in the order in which that may run. Functions that no usual
hook calls stand at its end, and are read when one is called. Each source's time and size decide whether its pack is
used, by Python's own rule for bytecode: one that differs, and the modules are looked up as ever. Packs lie beside the
bytecode; settling makes those that are missing or stale.
"""

# without `from __future__ import annotations`: see capture.compiled

import gc
import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER
from marshal import loads

from capture.compiled import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    Row = tuple[str, bool, bytes]
    """A module's name, whether it is a package, and the stamp of its source."""
    Part = tuple[CodeType | None, tuple[str, ...], int, int]
    """A module's code, the names of the functions set apart, and the offset and size of their code behind all parts."""

KINDS = {
    "PreToolUse": "before", "PostToolUse": "tool", "PostToolUseFailure": "tool", "AfterTool": "tool",
    "UserPromptSubmit": "prompt", "BeforeAgent": "prompt", "Stop": "end", "AfterAgent": "end", "SessionStart": "start",
}  # fmt: skip
"""Events of the clients -> the pack that serves them."""
TELLING, LATER = "telling", "later"
"""The packs of what a prompt needs on top: where it may be told something, and where others came before it."""
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_HEAD = 20
"""Bytes before the rows: what a pack begins with, and the sizes of its rows, its code and the rest."""


def pack(above: str, kind: str) -> str:
    """The file of a kind of hook, for packages that lie in the folder `above`."""
    return f"{above}/nmem/__pycache__/hook-{kind}.{sys.implementation.cache_tag}.pack"


def head() -> bytes:
    """Bytes that a pack of this interpreter begins with."""
    return MAGIC_NUMBER + b"nmem"


def preload(above: str, kind: str) -> None:
    """Load a kind's modules; without a fresh pack, or where one module fails, nothing is lost."""
    handle = -1
    try:
        handle = os.open(pack(above, kind), _FLAGS)
        rows, begins, size = rows_of(above, handle)
        parts = loads(os.read(handle, size)) if rows else []  # noqa: S302 -- as Python loads bytecode
    except (OSError, ValueError, EOFError, TypeError):
        rows = []
    if rows:
        _run(above, rows, parts, (handle, begins + size))  # stays open: what is left out may be wanted yet
    elif handle >= 0:
        os.close(handle)


def begin(above: str, event: str) -> None:
    """Load what a hook of this event needs: the entry of a hook's own process calls it before anything else."""
    gc.disable()  # the code of all these modules would be searched for garbage a dozen times
    kind = KINDS.get(event)
    if kind is not None:
        _above.append(above)
        preload(above, kind)


def more(kind: str) -> None:
    """Load what a hook needs on top, the first time that it asks; only in a hook's own process."""
    if _above and kind not in _loaded_kinds:
        _loaded_kinds.add(kind)
        preload(_above[0], kind)


_above: list[str] = []
_loaded_kinds: set[str] = set()


def rows_of(above: str, handle: int) -> "tuple[list[Row], int, int]":
    """The modules of an open pack, where its code begins and how long that is.

    No modules where a source has changed since the pack was made, or where the pack is cut short. Raises OSError, or
    what `loads` raises.
    """
    begins, data = head(), os.read(handle, _HEAD)
    sizes = [int.from_bytes(data[at : at + 4], "little") for at in range(len(begins), _HEAD, 4)]
    if data[: len(begins)] != begins or os.fstat(handle).st_size != _HEAD + sum(sizes):
        return [], 0, 0
    rows: list[Row] = loads(os.read(handle, sizes[0]))  # noqa: S302 -- it lies beside the bytecode
    for name, package, made in rows:
        if stamp(source(above, name, package)) != made:
            return [], 0, 0
    return rows, _HEAD + sizes[0], sizes[1]


def _run(above: str, rows: "list[Row]", parts: "list[Part]", rest: tuple[int, int]) -> None:
    """Make the modules, then run them: a package may be ready only after modules inside of it, which look it up."""
    modules, module_type = sys.modules, type(sys)
    waiting = []
    for (name, package, _), part in zip(rows, parts, strict=True):
        if part[0] is not None and name not in modules:
            module = modules[name] = module_type(name)
            module.__file__ = file = source(above, name, package)
            module.__package__ = name if package else name.rpartition(".")[0]
            if package:
                module.__path__ = [file[: -len("/__init__.py")]]
            waiting.append((module, part))
    waiting.reverse()
    try:
        while waiting:
            module, (code, left, at, size) = waiting[-1]
            if left:
                functions = _Rest(rest[0], rest[1] + at, size, module.__dict__)
                module.__dict__.update({each: _left(each, functions) for each in left})
            exec(code, module.__dict__)  # type: ignore[arg-type]  # noqa: S102 -- what Python does with a module
            parent, _, last = module.__name__.rpartition(".")
            setattr(modules[parent], last, module)
            waiting.pop()
    except BaseException:  # noqa: BLE001 -- the ordinary import says why, at the place that handles a failure
        for module, _ in waiting:
            del modules[module.__name__]


def _left(name: str, rest: "_Rest") -> "Callable[..., object]":
    """Make the stand-in for a function that is read on its first call.

    The stand-in stays in the module: whoever keeps or compares the function holds this object.
    """

    def call(*values: object, **named: object) -> object:
        return rest.functions()[name](*values, **named)

    return call


class _Rest:
    """The functions of a module that its pack's code is without."""

    __slots__ = ("_at", "_found", "_handle", "_module", "_size")

    def __init__(self, handle: int, at: int, size: int, module: dict[str, object]) -> None:
        self._handle = handle  # kept open: the file of that name may be another one soon
        self._at = at
        self._size = size
        self._module = module
        self._found: dict[str, Callable[..., object]] = {}

    def functions(self) -> "dict[str, Callable[..., object]]":
        if not self._found:
            found: dict[str, Callable[..., object]] = {}
            exec(self._code(), self._module, found)  # type: ignore[arg-type]  # noqa: S102 -- as Python does
            self._found = found  # only whole
        return self._found

    def _code(self) -> object:
        """The code of these functions; where the pack is damaged, that of their source."""
        try:
            os.lseek(self._handle, self._at, os.SEEK_SET)
            return loads(os.read(self._handle, self._size))  # noqa: S302 -- as Python loads bytecode
        except (OSError, ValueError, EOFError, TypeError):
            file = str(self._module["__file__"])
            with open(file, "rb") as source:  # noqa: PTH123 -- a hook loads no pathlib
                return compile(source.read(), file, "exec", dont_inherit=True)


def source(above: str, name: str, package: bool) -> str:
    """The file of a module."""
    return f"{above}/{name.replace('.', '/')}{'/__init__' if package else ''}.py"

"""Loads the modules of a hook from one file, at half the cost of loading them one by one.

A pack holds the code of what one kind of hook always needs, in the order in which that may run. Each source's time and
size decide whether its pack is used, by Python's own rule for bytecode: one that differs, and the modules are looked
up as ever. Packs lie beside the bytecode; settling makes those that are missing or stale.
"""

from __future__ import annotations

import os
import sys

from capture.compiled import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    Row = tuple[str, bool, bytes]
    """A module's name, whether it is a package, and the stamp of its source."""

KINDS = {
    "PreToolUse": "before", "PostToolUse": "tool", "PostToolUseFailure": "tool", "AfterTool": "tool",
    "UserPromptSubmit": "prompt", "BeforeAgent": "prompt", "Stop": "end", "AfterAgent": "end",
}  # fmt: skip
"""Events of the clients -> the pack that serves them."""
TELLING, LATER = "telling", "later"
"""The packs of what a prompt needs on top: where it may be told something, and where others came before it."""
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_MOST = 1 << 22
"""Bytes of the largest pack."""
_FROM = 12
"""Where the rows begin: after the head and their size."""


def pack(above: str, kind: str) -> str:
    """The file of a kind of hook, for packages that lie in the folder `above`."""
    return f"{above}/nmem/__pycache__/hook-{kind}.{sys.implementation.cache_tag}.pack"


def head() -> bytes:
    """Bytes that a pack of this interpreter begins with."""
    from _frozen_importlib_external import MAGIC_NUMBER

    return MAGIC_NUMBER + b"nmem"


def preload(above: str, kind: str) -> None:
    """Load a kind's modules; without a fresh pack, or where one module fails, nothing is lost."""
    from marshal import loads

    try:
        data = read(pack(above, kind))
        rows = rows_of(above, data)
        codes = loads(memoryview(data)[_rows_end(data) :]) if rows else []  # noqa: S302 -- as Python loads bytecode
    except (OSError, ValueError, EOFError, TypeError):
        return
    _run(above, rows, codes)


def begin(above: str, event: str) -> None:
    """Load what a hook of this event needs: the entry of a hook's own process calls it before anything else."""
    import gc

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


def read(file: str) -> bytes:
    """A pack. Raises OSError."""
    handle = os.open(file, _FLAGS)
    try:
        return os.read(handle, _MOST)
    finally:
        os.close(handle)


def rows_of(above: str, data: bytes) -> list[Row]:
    """The modules of a pack; none where one of their sources is another than it was made of. Raises as `loads`."""
    from marshal import loads

    begins = head()
    if data[: len(begins)] != begins:
        return []
    rows: list[Row] = loads(data[_FROM : _rows_end(data)])  # noqa: S302 -- it lies beside the bytecode
    for name, package, made in rows:
        if stamp(source(above, name, package)) != made:
            return []
    return rows


def _rows_end(data: bytes) -> int:
    return _FROM + int.from_bytes(data[_FROM - 4 : _FROM], "little")


def _run(above: str, rows: list[Row], codes: list[CodeType | None]) -> None:
    """Make the modules, then run them: a package may be ready only after modules inside of it, which look it up."""
    modules, module_type = sys.modules, type(sys)
    waiting = []
    for (name, package, _), code in zip(rows, codes, strict=True):
        if code is not None and name not in modules:
            module = modules[name] = module_type(name)
            module.__file__ = file = source(above, name, package)
            module.__package__ = name if package else name.rpartition(".")[0]
            if package:
                module.__path__ = [file[: -len("/__init__.py")]]
            waiting.append((module, code))
    waiting.reverse()
    try:
        while waiting:
            module, code = waiting[-1]
            exec(code, module.__dict__)  # noqa: S102 -- what Python does with a module
            parent, _, last = module.__name__.rpartition(".")
            setattr(modules[parent], last, module)
            waiting.pop()
    except BaseException:  # noqa: BLE001 -- the ordinary import says why, at the place that handles a failure
        for module, _ in waiting:
            del modules[module.__name__]


def source(above: str, name: str, package: bool) -> str:
    """The file of a module."""
    return f"{above}/{name.replace('.', '/')}{'/__init__' if package else ''}.py"

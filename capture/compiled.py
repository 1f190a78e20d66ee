"""Imports nmem's own modules directly from their bytecode: Python's search takes a seventh of a hook's time.

Python looks for a module in listings of folders, under five endings. In a hook it can only be the one source file with
the bytecode beside it, so these are opened at once. Python's own rule decides whether the bytecode is of this source
(its time and size) and of this interpreter; whatever is not as expected is left to Python's own way.
"""

# without `from __future__ import annotations`: that is a module, too, which nothing else asks for in a hook

import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, ModuleType


class _Mapping:
    """`collections.abc.MutableMapping`, as far as `os.environ` is one."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __getitem__(self, key: str) -> str: ...
        def __setitem__(self, key: str, value: str) -> None: ...
        def __delitem__(self, key: str) -> None: ...
        def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, key: str) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def get(self, key: str, default: str | None = None) -> str | None:
        try:
            return self[key]
        except KeyError:
            return default

    def pop(self, key: str, *default: str) -> str:
        if default and key not in self:
            return default[0]
        value = self[key]
        del self[key]
        return value

    def keys(self) -> list[str]:
        return list(self)

    def values(self) -> list[str]:
        return [self[key] for key in self]

    def items(self) -> list[tuple[str, str]]:
        return [(key, self[key]) for key in self]

    def update(self, other: dict[str, str]) -> None:
        for key, value in other.items():
            self[key] = value


def _load() -> None:
    """Import `os` without the 25 abstract classes that only `os.environ` asks for: a twentieth of a hook's time."""
    if "os" in sys.modules or "_collections_abc" in sys.modules:
        return
    stand_in = type(sys)("_collections_abc")
    stand_in.__dict__.update(Mapping=_Mapping, MutableMapping=_Mapping, _check_methods=_Mapping)
    sys.modules["_collections_abc"] = stand_in
    try:
        import os  # noqa: F401  # on use: the stand-in serves this import alone
    except ImportError:
        return  # another interpreter: the ordinary way
    finally:
        del sys.modules["_collections_abc"]


if not TYPE_CHECKING:
    _load()
    import os

_OURS = ("capture.", "nmem.")
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_MOST = 1 << 16
"""Bytes of a file that are read at once; a larger one is left to Python."""
_HEAD = 16
"""Bytes before the code: the interpreter's number, flags, the source's time and size."""


def install() -> None:
    """Find modules this way from now on, before the others; an interpreter that does it differently goes its own."""
    try:
        finder = _Finder()
    except (ImportError, AttributeError, TypeError):
        return
    sys.meta_path.insert(0, finder)


class _Finder:
    """Finds and loads the modules of both packages."""

    __slots__ = ("_begins", "_ends", "_loads", "_spec")

    def __init__(self) -> None:
        self._begins = MAGIC_NUMBER + bytes(4)  # no flags: the source's time and size tell whether it is fresh
        self._ends = "." + sys.implementation.cache_tag + ".pyc"
        self._loads = loads
        self._spec: Callable[..., ModuleSpec] = ModuleSpec

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, _target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Where a module is, with its code; None where it is not ours, or not to be had so."""
        if path is None or not name.startswith(_OURS):
            return None
        folder, last = path[0], name.rpartition(".")[2]
        source = f"{folder}/{last}.py"
        code = self._code(source, f"{folder}/__pycache__/{last}{self._ends}")
        if code is not None:
            spec = self._spec(name, self, origin=source)
        else:
            folder = f"{folder}/{last}"
            source = f"{folder}/__init__.py"
            code = self._code(source, f"{folder}/__pycache__/__init__{self._ends}")
            if code is None:
                return None
            spec = self._spec(name, self, origin=source, is_package=True)
            spec.submodule_search_locations = [folder]
        spec.loader_state = code
        return spec

    def create_module(self, _spec: "ModuleSpec") -> "ModuleType | None":
        """An ordinary module."""
        return None

    def exec_module(self, module: "ModuleType") -> None:
        """Run the code that was found."""
        spec = module.__spec__
        assert spec is not None
        module.__file__ = spec.origin
        exec(spec.loader_state, module.__dict__)  # noqa: S102 - what Python does with a module

    def _code(self, source: str, kept: str) -> "CodeType | None":
        """The bytecode of a source; None where there is none, or none of this very source and interpreter."""
        try:
            made = stamp(source)
            handle = os.open(kept, _FLAGS)
            try:
                data = os.read(handle, _MOST)
            finally:
                os.close(handle)
            if data[:8] != self._begins or data[8:_HEAD] != made or len(data) == _MOST:
                return None
        except OSError:
            return None
        try:
            code: CodeType = self._loads(memoryview(data)[_HEAD:])
        except (ValueError, EOFError, TypeError):
            return _anew(source, kept)
        return code


def stamp(source: str) -> bytes:
    """The time and size of a source, as bytecode notes them. Raises OSError."""
    state = os.stat(source)
    return ((int(state.st_mtime) & 0xFFFFFFFF) | (state.st_size & 0xFFFFFFFF) << 32).to_bytes(8, "little")


def _anew(source: str, kept: str) -> "CodeType | None":
    """Take away bytecode that a full disk cut short: Python believes its head and fails. Where it stays, compile."""
    try:
        os.unlink(kept)
    except OSError:
        with open(source, "rb") as file:
            code: CodeType = compile(file.read(), source, "exec", dont_inherit=True)
        return code
    return None

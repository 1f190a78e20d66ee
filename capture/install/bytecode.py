"""Compiles the hook's modules: without bytecode every hook costs more than twice as much.

Installers may leave them out, and PYTHONDONTWRITEBYTECODE forbids Python to make them, so nmem compiles its own.
"""

from __future__ import annotations

import os
import py_compile
import sys

from capture import paths

_PACKAGES = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.dirname(paths.entry()))


def _sources() -> list[str]:
    return [
        os.path.join(folder, name)
        for package in _PACKAGES
        for folder, _, names in os.walk(package)
        for name in sorted(names)
        if name.endswith(".py") and os.path.join(folder, name) != paths.entry()  # a script is compiled on each run
    ]


def _compiled(source: str) -> str:
    # a hook runs with -I, so PYTHONPYCACHEPREFIX does not reach it
    folder, name = os.path.split(source)
    return os.path.join(folder, "__pycache__", f"{name[:-3]}.{sys.implementation.cache_tag}.pyc")


def _fresh(source: str) -> bool:
    try:
        state = os.stat(source)
        with open(_compiled(source), "rb") as file:
            head = file.read(16)
    except OSError:
        return False
    if len(head) < 16 or int.from_bytes(head[4:8], "little"):
        return len(head) == 16  # checked by hash: the interpreter looks after it
    return head[8:12] == (int(state.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little") and head[12:16] == (
        state.st_size & 0xFFFFFFFF
    ).to_bytes(4, "little")


def missing() -> list[str]:
    """Modules of the hook without bytecode of this interpreter, or with bytecode of another source."""
    return [source for source in _sources() if not _fresh(source)]


def make() -> list[str]:
    """Compile what is missing; returns what could not be compiled."""
    failed = []
    for source in missing():
        try:
            py_compile.compile(
                source, _compiled(source), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP
            )
        except (OSError, py_compile.PyCompileError):
            failed.append(source)
    return failed

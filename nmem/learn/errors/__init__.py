"""What an error is, whatever its paths, numbers and names: the same cause gives the same key, another cause another.

`signatures(text)` reads the output of a failed call. One module an ecosystem, each a table of lines that say what went
wrong; `rules` reads them, `normal` takes out what changes from run to run.
"""

from __future__ import annotations

from nmem.learn.errors import (
    clients,
    containers,
    git,
    golang,
    javascript,
    jvm,
    linters,
    native,
    network,
    other,
    packages,
    python,
    rust,
    shell,
)
from nmem.learn.errors.rules import read
from nmem.learn.errors.signature import (
    CODE,
    MOST,
    RULE,
    TEST,
    USAGE,
    WORK,
    WORLD,
    Signature,
)

__all__ = ["CODE", "RULE", "TEST", "USAGE", "WORK", "WORLD", "Signature", "refused", "signatures"]

_TABLES = (
    *clients.RULES, *git.RULES, *packages.RULES, *containers.RULES, *javascript.RULES, *python.RULES, *rust.RULES,
    *golang.RULES, *jvm.RULES, *linters.RULES, *native.RULES, *other.RULES, *shell.RULES, *network.RULES,
)  # fmt: skip


def signatures(text: str) -> tuple[Signature, ...]:
    """The errors that an output tells of, in its order, each once; () when it tells of none that is known."""
    if refused(text):
        return ()
    return read(text, _TABLES)[:MOST]


def refused(text: str) -> bool:
    """Whether the call never ran, because the user or the client's rules did not let it: nothing has failed."""
    return clients.refused(text)

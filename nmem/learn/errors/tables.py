"""The tables of all ecosystems, in the order in which they are asked; imported when the first output is read."""

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

TABLES = (
    *clients.RULES, *git.RULES, *packages.RULES, *containers.RULES, *javascript.RULES, *python.RULES, *rust.RULES,
    *golang.RULES, *jvm.RULES, *linters.RULES, *native.RULES, *other.RULES, *shell.RULES, *network.RULES,
)  # fmt: skip

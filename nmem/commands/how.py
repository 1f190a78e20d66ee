"""`nmem how`: prints the decision for a procedure, as `nmem when` does for a situation."""

from __future__ import annotations

from nmem.commands.when import made

command = made("how", "encode paths")

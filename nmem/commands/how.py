"""`nmem how`: the decision for a procedure; as `nmem when`, with the other word."""

from __future__ import annotations

from nmem.commands.when import made

command = made("how", "encode paths")

"""A migration that has been released never changes: what follows is appended."""

from __future__ import annotations

from hashlib import blake2b

import pytest

from capture.storage import schema as base
from nmem.store import schema as meaning

FROZEN = {
    "base": ["ff9ed0f9081ce825", "268a789d406f133f", "6721e007a9965138", "cc3ec25beef022a0"],
    "meaning": [
        "a94f47561d9a98c3",
        "5e97691b5dc7a6c0",
        "4ada9cbe3dfdf2e8",
        "890a80c267df40ed",
        "e0adf4264eebce64",
        "54b6bbf727a74280",
        "9146055a4bc29dc1",
        "fc0759cd7dbbcde6",
        "0445957652cbe377",
        "4c401997f46468ce",
        "9976b582580a6c5c",
        "124853582e63cd99",
        "5f2127336f126d9d",
        "ec7900e9b5c06acb",
        "fd5db3e54589f76c",
        "c08bd3fddbf800d6",
        "d8d9db263634d488",
        "b164aef21dea5e1e",
        "04d3468a67f8fb37",
        "b804df7bb210b2fc",
        "dd09a7580d9fa87d",
        "534f8e8a862c0334",
        "40e573e5e5c60e39",
        "c5c4c91dd18529d1",
        "136fc0f480d7b2c6",
        "e47ee00c6de54c21",
        "597acaed3eea14db",
        "cb41828982906508",
        "0813c871a6bf90a7",
        "0c6160c29b4aca59",
        "e0d14b3f8549be84",
        "9553832074ef5a45",
    ],
}


@pytest.mark.parametrize(("name", "migrations"), [("base", base.MIGRATIONS), ("meaning", meaning.MIGRATIONS)])
def test_migrations_are_only_appended(name: str, migrations: tuple[str, ...]) -> None:
    now = [blake2b(script.encode(), digest_size=8).hexdigest() for script in migrations]
    assert now[: len(FROZEN[name])] == FROZEN[name]
    assert len(now) == len(FROZEN[name]), "pin the new migration here"

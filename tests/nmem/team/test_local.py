"""What comes is kept in short transactions, within bounds, and only where it is what it should be."""

from __future__ import annotations

import pytest

from nmem.errors import NmemError
from nmem.team import local, sync
from nmem.team.server import Gone, Server
from tests.nmem.team.conftest import Member

Three = tuple[Member, Member, Member]


@pytest.mark.parametrize("path", [
    "../x", "a/../../b", "a\\..\\..\\b", "..\\x", " ../x", "a/ .. /b", "/etc/passwd",
    " /etc/passwd", "\\\\host\\x", "~/x",
    "C:\\x", "c:x", "file:///etc/x", "https://a.b/c", "javascript:x", "%2e%2e/x", "%2E%2e%2fx", "%2fetc/passwd",
    " ", "",
])  # fmt: skip
def test_a_path_that_leads_out_of_the_project_is_none(path: str) -> None:
    assert local.paths([path, "src/a.py"]) == ["src/a.py"]


def test_a_path_in_the_project_stays_as_it_is() -> None:
    inside = ["src/a.py", "src\\a.py", "..a/b..c", "a b/ü.md", "100%/x", "docs/a:b.md", ".github/x.yml"]
    assert local.paths([*inside, 1, None]) == inside


def test_a_server_whose_numbers_do_not_rise_is_not_read_for_ever(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = three[0]
    monkeypatch.setattr(Server, "gone", lambda *_: [Gone(5, "abcdef012345abcdef012345", "", "bob")])
    with pytest.raises(NmemError, match="in no order"):
        alice.now()


def test_a_pass_that_has_had_its_time_reads_no_more_deletions_and_sends_nothing(
    three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = three[0]
    alice.learn("not yet")
    monkeypatch.setattr(Server, "gone", lambda _, after: [Gone(after + 1, f"{after:024x}", "", "bob")])
    monkeypatch.setattr(sync, "LONGEST", 0.3)
    done = alice.now(background=True)
    assert done.left and done.sent == 0 and alice.team.facts() == {}

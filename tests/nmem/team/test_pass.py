"""Three members on one server: what one says, the others have, once, and in the order in which the server took it."""

from __future__ import annotations

from nmem.team import local
from tests.nmem.team.conftest import NOW, PROJECT, Member, Team, settled

Three = tuple[Member, Member, Member]


def test_what_one_learns_the_others_have_after_their_next_pass(three: Three) -> None:
    alice, bob, carol = three
    alice.learn("Run pnpm test: npm test fails here", "Format before every commit")
    bob.episode("s1", "Fix the doubled coupon", "The coupon was applied twice.", ("src/invoice.py",))
    settled(*three)
    assert alice.rows() == bob.rows() == carol.rows()
    assert carol.titles() == {
        "Run pnpm test: npm test fails here", "Format before every commit", "Fix the doubled coupon"}  # fmt: skip
    episode = carol.rows("author, kind, body, files, own", "kind = 'episode'")
    assert episode == [("bob", "episode", "The coupon was applied twice.", '["src/invoice.py"]', 0)]
    assert alice.now().sent == alice.now().came == 0

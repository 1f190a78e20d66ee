"""The tables of the detectors agree with each other."""

from __future__ import annotations

from capture.redaction import detectors


def test_each_literal_of_a_token_is_looked_for_once() -> None:
    every = [
        (place, literal)
        for place, (_, literals, _) in enumerate(detectors.TOKENS)
        for literal in ([literals] if literals.endswith(" ") else literals.split(" "))
    ]
    found = [
        (place, literal, start, sign)
        for sign, starts in detectors.BEGINNINGS.items()
        for start in starts
        for place, literal, _, _ in detectors.rows(sign, start)
    ]
    assert sorted((place, literal) for place, literal, _, _ in found) == sorted(every)
    assert [row for row in found if not row[1].startswith(row[2]) or row[3] not in row[1]] == []
    looked_for = {(sign, start) for sign, starts in detectors.BEGINNINGS.items() for start in starts}
    assert looked_for == {(sign, start) for _, _, start, sign in found}, "nothing is looked for in vain"

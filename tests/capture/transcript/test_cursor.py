"""A transcript is read once, whole lines only, however it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture.storage import store
from capture.transcript import cursor
from capture.transcript.cursor import Cursor, fingerprint, lines, load, save

Reading = Callable[[Path], list[bytes]]
_LINES = st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b"")), max_size=12)


@given(
    _LINES, st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"")), st.lists(st.integers(0, 400), max_size=8)
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_split_into_appends_gives_the_same_lines(
    tmp_path: Path, whole: list[bytes], half: bytes, cuts: list[int]
) -> None:
    file = tmp_path / "grows.jsonl"
    file.write_bytes(b"")
    content = b"".join(line + b"\n" for line in whole) + half
    got, offset, written = [], 0, 0
    for cut in [*sorted(min(cut, len(content)) for cut in cuts), len(content)]:
        with file.open("ab") as out:
            out.write(content[written:cut])
        written = cut
        for end, line in lines(str(file), offset):
            got.append(line.rstrip(b"\n"))
            offset = end
    assert got == whole
    assert offset == len(content) - len(half)


def test_a_half_written_last_line_waits(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b'{"a": 1}\n{"b": ')
    assert [line for _, line in lines(str(file))] == [b'{"a": 1}\n']
    assert [line for _, line in lines(str(file), tail=True)] == [b'{"a": 1}\n', b'{"b": ']


def test_a_line_that_is_too_long_is_passed_over_and_the_next_is_read(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"first\n" + b"x" * 5_000_000 + b"\nlast\n")
    assert [line for _, line in lines(str(file), max_line=1000)] == [b"first\n", b"", b"last\n"]
    assert [end for end, _ in lines(str(file), max_line=1000)][-1] == file.stat().st_size


def test_a_line_of_exactly_the_limit_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"x" * 99 + b"\n" + b"y" * 100 + b"\n" + b"z" * 101 + b"\n")
    assert [len(line) for _, line in lines(str(file), max_line=100)] == [100, 101, 0]


@pytest.fixture
def place(db_path: str) -> Iterator[Reading]:
    db = store.connect(db_path)

    def read(path: Path) -> list[bytes]:
        cursor = load(db, str(path), "s1")
        got = []
        for end, line in lines(str(path), cursor.offset):
            got.append(line)
            cursor.offset = end
        cursor.head = fingerprint(str(path))
        save(db, cursor, 1)
        return got

    yield read
    db.close()


def test_a_file_is_read_on_where_it_was(place: Reading, tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_bytes(b"a\nb\n")
    assert place(file) == [b"a\n", b"b\n"]
    assert place(file) == []
    with file.open("ab") as out:
        out.write(b"c\n")
    assert place(file) == [b"c\n"]


@pytest.mark.parametrize("now", [b"a\n", b"x\ny\nz\n", b"A\nb\nc\nd\n"])
def test_a_truncated_or_replaced_file_is_read_anew(place: Reading, tmp_path: Path, now: bytes) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_bytes(b"a\nb\nc\n")
    place(file)
    file.write_bytes(now)
    assert b"".join(place(file)) == now


def test_a_file_that_moves_with_its_session_keeps_its_place(place: Reading, tmp_path: Path) -> None:
    old, new = tmp_path / "-home-a" / "s1.jsonl", tmp_path / "-home-a-worktree" / "s1.jsonl"
    old.parent.mkdir()
    new.parent.mkdir()
    old.write_bytes(b"a\nb\n")
    place(old)
    old.rename(new)
    with new.open("ab") as out:
        out.write(b"c\n")
    assert place(new) == [b"c\n"]


def test_a_place_of_what_is_read_beside_the_events_is_no_place_of_a_moved_file(
    place: Reading, db_path: str, tmp_path: Path
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_bytes(b"a\nb\n")
    beside = Cursor("titles:" + str(file), "s1", 4, fingerprint(str(file)))
    with closing(store.connect(db_path)) as db, store.transaction(db):
        save(db, beside, 1)
    assert place(file) == [b"a\n", b"b\n"]


def test_another_file_of_the_same_name_does_not_take_the_place(place: Reading, tmp_path: Path) -> None:
    old, new = tmp_path / "a" / "s1.jsonl", tmp_path / "b" / "s1.jsonl"
    old.parent.mkdir()
    new.parent.mkdir()
    old.write_bytes(b"a\nb\n")
    place(old)
    new.write_bytes(b"a\nb\n")
    assert place(new) == [b"a\n", b"b\n"]


def test_a_grown_file_is_the_same_although_its_beginning_was_short(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_bytes(b"ab")
    cursor = Cursor(str(file), "s", 2, fingerprint(str(file)))
    file.write_bytes(b"abcdef" * 500)
    assert fingerprint(str(file), int(cursor.head.partition(".")[0])) == cursor.head


def test_what_is_one_line_without_an_end_is_left_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of holes, as long as no disk is: its place is its end, and what is added later is read."""
    monkeypatch.setattr(cursor, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(cursor, "MOST", 4 << 20)
    file = tmp_path / "t.jsonl"
    with file.open("wb") as out:
        out.write(b'{"a": 1}\n')
        out.truncate(1 << 42)
    found = [(offset, line) for offset, line in lines(str(file), max_line=1 << 20) if line]
    assert found == [(9, b'{"a": 1}\n')]
    assert [offset for offset, _ in lines(str(file), max_line=1 << 20)][-1] == 1 << 42


def test_a_file_that_grows_as_fast_as_it_is_read_has_an_end(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"1\n" * 200_000)
    read = 0
    with path.open("ab") as more:
        for _ in lines(str(path)):
            read += 1
            more.write(b"2\n" * 3)
            assert read < 400_000
    assert read >= 200_000

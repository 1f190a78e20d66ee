"""Copies of transcripts: each record is still one, ids and seals stay, secrets, pictures and changed thoughts go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nmem.sessions.packing import LEFT_OUT, NO_DOCUMENT, UNTHOUGHT, NotRead, pack, unpack

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
UUID = "0d90ad09-9bcc-4df8-9bb3-2968f4369892"
SEAL = "EqQBCkYIBxgCKkDx8Pz3v2m1Qw9rT5yU7iO0pA3sD6fG8hJ1kL4zX2cV5bN7mQ=="


def packed(*records: object) -> list[Any]:
    data = "".join(json.dumps(each) + "\n" for each in records).encode()
    return [json.loads(line) for line in unpack(pack(data)).splitlines()]


def test_a_secret_goes_wherever_it_stands_and_the_record_stays_whole() -> None:
    record = {
        "uuid": UUID, "parentUuid": None, "type": "user", "n": 3, "ok": True,
        "message": {"role": "user", "content": [{"type": "text", "text": f"use {SECRET}\nplease"}]},
        "toolUseResult": {"env": {"password": "hunter2-and-more", SECRET: 1}, "stdout": f'{{"token": "{SECRET}"}}'},
    }  # fmt: skip
    (found,) = packed(record)
    assert SECRET not in json.dumps(found)
    assert "hunter2" not in json.dumps(found)
    assert found["message"]["content"][0]["text"] == "use [REDACTED:github-token]\nplease"
    assert {name: found[name] for name in ("uuid", "parentUuid", "type", "n", "ok")} == {
        "uuid": UUID, "parentUuid": None, "type": "user", "n": 3, "ok": True,
    }  # fmt: skip


def test_ids_stay_but_nothing_hides_under_their_names() -> None:
    ids = {"uuid": UUID, "requestId": "req_011CXLmazhtefs5rPf4rfEj9", "id": "toolu_01NUB6cFKCp37DJG1pneFLVb"}
    found, hidden = packed(ids, {"uuid": SECRET, "id": f"see {SECRET}"})
    assert found == ids
    assert SECRET not in json.dumps(hidden)


def test_a_thought_keeps_its_seal_or_goes() -> None:
    thought = {"type": "thinking", "thinking": "the token is read too late", "signature": SEAL}
    changed = {**thought, "thinking": f"the token is {SECRET}"}
    sealed = {"type": "redacted_thinking", "data": SEAL}
    reasoning = {"type": "reasoning", "encrypted_content": SEAL, "summary": []}
    (found,) = packed({"content": [thought, changed, sealed, reasoning]})
    assert found["content"] == [thought, {"type": "text", "text": UNTHOUGHT}, sealed, reasoning]


@pytest.mark.parametrize("name", ["signature", "encrypted_content", "thoughtSignature", "data"])
@pytest.mark.parametrize("kind", ["thinking", "redacted_thinking", "reasoning", ""])
def test_nothing_hides_under_the_names_of_seals(name: str, kind: str) -> None:
    said = {**({"type": kind} if kind else {}), name: "password: hunter2-and-more"}
    use, result = {"type": "tool_use", "input": {**said, name: SEAL}}, {"type": "tool_result", "content": [said]}
    found = packed({"message": {"content": [{**said, name: SECRET}, use, result]}}, {"toolUseResult": said})
    assert SECRET not in json.dumps(found)
    assert "hunter2" not in json.dumps(found)


def test_seals_stay_in_the_blocks_of_other_clients() -> None:
    compacted = {"type": "compacted", "payload": {"replacement_history": [
        {"type": "compaction", "encrypted_content": SEAL}, {"type": "reasoning", "encrypted_content": SEAL},
    ]}}  # fmt: skip
    part = {"history": [{"role": "model", "parts": [{"functionCall": {"name": "ls"}, "thoughtSignature": SEAL}]}]}
    assert packed(compacted, part) == [compacted, part]


def test_a_name_condemns_what_is_listed_below_it() -> None:
    record = {"input": {"password": ["hunter2xx", ["hunter3xx"]], "passwd": {"value": "hunter4-and-more"},
                        "files": ["a.py", 3, None]}}  # fmt: skip
    (found,) = packed(record)
    assert "hunter" not in json.dumps(found)
    assert found["input"]["files"] == ["a.py", 3, None]


def test_a_record_that_is_nested_too_deeply_is_left_out() -> None:
    deep = b'{"a":' + b"[" * 700 + b"]" * 700 + b"}"
    assert unpack(pack(b'{"n":1}\n' + deep + b'\n{"n":2}\n')) == b'{"n":1}\n{"n":2}\n'
    with pytest.raises(NotRead):
        pack(deep, document=True)


def test_documents_are_left_out_but_for_those_of_plain_text() -> None:
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0"}}
    plain = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "read me"}}
    (found,) = packed({"message": {"content": [pdf, plain]}})
    assert found["message"]["content"] == [{"type": "text", "text": NO_DOCUMENT}, plain]


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0"}}, "text"),
        ({"type": "input_image", "image_url": "data:image/png;base64,iVBORw0"}, "input_text"),
        ({"inlineData": {"mimeType": "image/png", "data": "iVBORw0"}}, "text"),
    ],
)
def test_pictures_are_left_out(block: dict[str, object], kind: str) -> None:
    (found,) = packed({"message": {"content": [block]}})
    assert found["message"]["content"] == [{"type": kind, "text": LEFT_OUT}]


def test_what_is_no_record_is_left_out() -> None:
    torn = b'{"type":"user"}\nnot json ' + SECRET.encode() + b'\n[1]\n\n{"type":"assis'
    assert unpack(pack(torn)) == b'{"type":"user"}\n'
    with pytest.raises(NotRead):
        pack(b"nothing of it\n")


def test_a_document_stays_one() -> None:
    chat = {"sessionId": UUID, "messages": [{"type": "user", "content": SECRET}]}
    found = json.loads(unpack(pack(json.dumps(chat, indent=2).encode(), document=True)))
    assert found == {"sessionId": UUID, "messages": [{"type": "user", "content": "[REDACTED:github-token]"}]}


@pytest.mark.parametrize("damage", [b"", b"x", pack(b'{"a":1}\n')[:-6]])
def test_a_damaged_copy_is_said(damage: bytes) -> None:
    with pytest.raises(ValueError, match="the copy is damaged"):
        unpack(damage)


def test_real_transcripts_stay_readable_record_by_record(shared: Path) -> None:
    folders = (shared / "data/transcripts/claude-code", shared / "data/transcripts/other-clients/codex")
    files = sorted((each for folder in folders for each in folder.rglob("*.jsonl")), key=lambda one: one.stat().st_size)
    linked = ("uuid", "parentUuid", "sessionId", "type", "timestamp", "requestId", "toolUseID", "leafUuid")
    count = 0
    for file in files[:12]:
        before = [json.loads(line) for line in file.read_bytes().splitlines() if line.startswith(b"{")]
        after = [json.loads(line) for line in unpack(pack(file.read_bytes())).splitlines()]
        assert len(after) == len(before), file
        for old, new in zip(before, after, strict=True):
            assert {name: old.get(name) for name in linked} == {name: new.get(name) for name in linked}, file
        count += len(after)
    assert count > 100

"""Packs a client's transcript: each record read, its values redacted, written as JSON again, compressed.

Values are redacted, never lines: a record stays a record, so that the client can read the file again. Ids by which
records refer to each other stay, and what a provider has sealed or signed; a thought whose words are changed would no
longer fit its seal, so it goes as a whole. Pictures are left out: nobody can see what is written in them.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator

from capture.redaction import redact_tree

LEFT_OUT = "[a picture, not kept in nmem's copy of this session]"
UNTHOUGHT = "[a thought with a secret in it, not kept in nmem's copy of this session]"
_SEALED = frozenset(("signature", "encrypted_content", "thoughtSignature", "data"))
"""Keys of what only the provider reads; `data` only of a thought that it has encrypted."""
_THOUGHTS = frozenset(("thinking", "redacted_thinking"))
_ID_KEYS = frozenset((
    "uuid", "parentUuid", "logicalParentUuid", "leafUuid", "sessionId", "session_id", "messageId", "requestId", "id",
    "promptId", "tool_use_id", "toolUseID", "parentToolUseID", "sourceToolAssistantUUID", "sourceToolUseID", "call_id",
    "turn_id", "agentId", "projectHash", "parent_id", "forked_from_id", "commit_hash", "gitCommit",
))  # fmt: skip
_ID = re.compile(
    r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|[0-9a-f]{40}|[0-9a-f]{64}"
    r"|(?:agent-|a)?[0-9a-f]{6,17}|(?:toolu|srvtoolu|msg|req|call|rs|fc|ctc|resp|ws|prompt)_[0-9A-Za-z]{6,80}"
)
"""What an id looks like that a client makes itself; anything else under these keys is redacted as all is."""


class NotRead(ValueError):
    """A file that holds no records."""


def pack(data: bytes, *, document: bool = False) -> bytes:
    """A transcript as it is kept. `document`: one JSON value, else one a line; torn lines are left out.

    Raises NotRead where nothing of it can be read.
    """
    packer = zlib.compressobj(6)
    parts = [packer.compress(line) for line in (_document(data) if document else _lines(data))]
    if not parts:
        raise NotRead("it holds no record")
    return b"".join([*parts, packer.flush()])


def unpack(packed: bytes, most: int = 1 << 30) -> bytes:
    """What was packed. Raises ValueError where it is damaged or larger than `most` bytes."""
    opened = zlib.decompressobj()
    try:
        data = opened.decompress(packed, most)
    except (zlib.error, TypeError) as error:
        raise ValueError(f"the copy is damaged: {error}") from None
    if not opened.eof:
        raise ValueError("the copy is damaged: it does not end")
    return data


def _document(data: bytes) -> Iterator[bytes]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict | list):
        yield json.dumps(_clean(value), ensure_ascii=False, indent=2).encode("utf-8", "replace")


def _lines(data: bytes) -> Iterator[bytes]:
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield (
                json.dumps(_clean(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
            )


def _clean(value: object, key: str = "") -> object:
    """A value without secrets and pictures."""
    if isinstance(value, list):
        return [_clean(each, key) for each in value]
    if not isinstance(value, dict):
        return value if key in _ID_KEYS and isinstance(value, str) and _ID.fullmatch(value) else redact_tree(value)
    if _picture(value):
        return {"type": "input_text" if value.get("type") == "input_image" else "text", "text": LEFT_OUT}
    if _unsealed(value):
        return {"type": "text", "text": UNTHOUGHT}
    kind = value.get("type")
    out: dict[str, object] = {}
    for name, each in value.items():
        if name in _SEALED and isinstance(each, str) and (name != "data" or kind in _THOUGHTS):
            out[name] = each
        elif isinstance(each, dict | list) or name in _ID_KEYS:
            out[_key(name)] = _clean(each, name)
        else:
            out.update(_pair(name, each, value))
    return out


def _pair(name: str, each: object, within: dict[str, object]) -> dict[str, object]:
    """One member, redacted with what names it: a key such as `password` condemns its value."""
    if name == "base64" and isinstance(each, str):
        return {name: ""}
    others = ("name", "Name", "key") if name in ("value", "Value") else ()
    beside: dict[str, object] = {key: within[key] for key in others if key in within}
    named = {**beside, name: each}
    found = redact_tree(named)
    assert isinstance(found, dict)
    return {key: found[key] for key in found if key not in beside}


def _key(name: str) -> str:
    return str(redact_tree(name))


def _picture(value: dict[str, object]) -> bool:
    """Whether a block is a picture, as one of the clients keeps them."""
    source = value.get("source")
    inner = value.get("inlineData")
    return (
        (value.get("type") == "image" and isinstance(source, dict) and "data" in source)
        or value.get("type") == "input_image"
        or isinstance(inner, dict)
    )


def _unsealed(value: dict[str, object]) -> bool:
    """Whether a block is a thought that redaction would change: its signature would no longer fit."""
    if value.get("type") != "thinking" or not value.get("signature"):
        return False
    said = value.get("thinking")
    return redact_tree(said) != said

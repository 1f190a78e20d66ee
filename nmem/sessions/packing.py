"""Packs a client's transcript: each record read, its values redacted, written as JSON again, compressed.

Values are redacted, never lines: a record stays a record, so that the client can read the file again. Ids by which
records refer to each other stay, and what a provider has sealed or signed; a thought whose words are changed would no
longer fit its seal, so it goes as a whole. Pictures and documents are left out: nobody can see what is written in them.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from types import UnionType
from typing import cast

from capture.redaction import finders, redact_tree

LEFT_OUT = "[a picture, not kept in nmem's copy of this session]"
NO_DOCUMENT = "[a document, not kept in nmem's copy of this session]"
UNTHOUGHT = "[a thought with a secret in it, not kept in nmem's copy of this session]"
_SEALED = {"thinking": "signature", "redacted_thinking": "data", "reasoning": "encrypted_content",
           "compaction": "encrypted_content", "": "thoughtSignature"}  # fmt: skip
"""Kinds of clients' own blocks -> the key of what only the provider reads; a part of Gemini's has no kind."""
_SEAL = re.compile(r"[A-Za-z0-9+/_-]+=*")
_LEADS = frozenset(("message", "content", "payload", "replacement_history", "messages", "history", "parts", "data"))
"""Keys by which a client's own blocks are reached; below any other, such as a tool's input, nothing is sealed."""
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
_VALUE = ("value", "Value")
"""Keys that name nothing: what stands beside or above does."""


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
    return _written(data, dict | list, 2)


def _lines(data: bytes) -> Iterator[bytes]:
    for line in data.split(b"\n"):
        for found in _written(line, dict):
            yield found + b"\n"


def _written(data: bytes, kinds: UnionType | type, indent: int | None = None) -> Iterator[bytes]:
    """A JSON value of some kinds, cleaned; nothing where it cannot be read or is nested too deeply."""
    try:
        value = json.loads(data)
        if isinstance(value, kinds):
            form = (",", ":") if indent is None else None
            text = json.dumps(_clean(value), ensure_ascii=False, indent=indent, separators=form)
            yield text.encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return


def _clean(value: object, key: str = "", own: bool = True) -> object:
    """A value without secrets and pictures. `own`: blocks in it are the client's, so their seals stay."""
    if isinstance(value, list):
        return [_clean(each, key, own) for each in value]
    if not isinstance(value, dict):
        if key in _ID_KEYS and isinstance(value, str) and _ID.fullmatch(value):
            return value
        return next(iter(_pair(key, value, {}).values()))
    kind = str(value.get("type", ""))
    if said := _unseen(value, kind):
        return {"type": "input_text" if kind.startswith("input_") else "text", "text": said}
    seal = _SEALED.get(kind, "") if own else ""
    if _unsealed(value, seal):
        return {"type": "text", "text": UNTHOUGHT}
    out: dict[str, object] = {}
    for name, each in value.items():
        if name == seal and _sealed(each):
            out[name] = each
        elif isinstance(each, dict | list) or name in _ID_KEYS:
            leads = name in _LEADS and not kind.endswith(("tool_result", "_output"))
            out[_key(name)] = _clean(each, key if name in _VALUE else name, own and leads)
        else:
            out.update(_pair(name, each, value, key))
    return out


def _pair(name: str, each: object, within: dict[str, object], above: str = "") -> dict[str, object]:
    """One member, redacted with what names it: a key such as `password` condemns its value."""
    if name == "base64" and isinstance(each, str):
        return {name: ""}
    others = ("name", "Name", "key") if name in _VALUE else ()
    beside: dict[str, object] = {key: within[key] for key in others if key in within}
    named: dict[str, object] = {**beside, name: each}
    (found,) = cast("dict[str, dict[str, object]]", redact_tree({above: named})).values()
    return {key: found[key] for key in found if key not in beside}


def _sealed(value: object) -> bool:
    """Whether it is what a provider has sealed, not a token."""
    return isinstance(value, str) and _SEAL.fullmatch(value) is not None and not finders.token(value)


def _key(name: str) -> str:
    return str(redact_tree(name))


def _unseen(value: dict[str, object], kind: str) -> str:
    """What is said in place of a picture or a document, as one of the clients keeps them; empty: it is neither."""
    source, inner = value.get("source"), value.get("inlineData")
    if kind == "input_file" or (kind == "document" and isinstance(source, dict) and source.get("type") == "base64"):
        return NO_DOCUMENT
    image = kind == "image" and ("data" in value or (isinstance(source, dict) and "data" in source))
    if image or kind == "input_image":
        return LEFT_OUT
    if isinstance(inner, dict):
        return LEFT_OUT if str(inner.get("mimeType", "image")).startswith("image") else NO_DOCUMENT
    return ""


def _unsealed(value: dict[str, object], seal: str) -> bool:
    """Whether a block is a thought that redaction would change, or its signature: they would no longer fit."""
    if value.get("type") != "thinking" or not value.get("signature"):
        return False
    said = value.get("thinking")
    return redact_tree(said) != said or (seal != "" and not _sealed(value["signature"]))

"""Extracts text from a tool's response, in every shape that clients send, without base64 images and documents."""

from __future__ import annotations

from capture.clients.fields import from_json, items, mapping, text

_LONG = 200
# How a picture, a document or an archive begins in base64.
_BLOBS = ("base64,", "iVBORw0KGg", "/9j/", "JVBERi0", "R0lGOD", "UklGR", "UEsDB", "H4sI")
_ENDS = ('"', "'", "\\", "\n", " ", ")", "<", ">", "`", ",", "}")
_TEXTS = ("stdout", "output", "content", "result", "text", "message", "llmContent", "textResultForLlm",
          "text_result_for_llm", "error", "stderr", "plan")  # fmt: skip
_BLOB_KEYS = frozenset(("base64", "data", "blob", "source", "bytes", "image_url"))
_DEEP = 6


def flat(value: object, depth: int = 0) -> str:
    """What a response says: a text, a list of content blocks, an object with a text in it, else its JSON."""
    if isinstance(value, str):
        return without_blobs(value)
    if depth > _DEEP or value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(part for part in [_block(each, depth) for each in value] if part)
    if not isinstance(value, dict):
        return str(value)
    parts = [flat(value[key], depth + 1) for key in _TEXTS if value.get(key) and key in value]
    return "\n".join(part for part in parts if part) or as_json(value)


def _block(block: object, depth: int) -> str:
    """One content block."""
    given = mapping(block)
    kind = text(given.get("type"))
    if not given:
        return flat(block, depth + 1)
    if kind == "resource_link":
        return text(given.get("uri"))
    if kind in ("image", "audio", "document", "input_image", "blob", "pdf") or "inlineData" in given:
        return f"[{kind or 'data'}]"
    return flat(given["resource"] if kind == "resource" and "resource" in given else given, depth + 1)


def as_json(value: dict[str, object]) -> str:
    """An object without any text of its own, as JSON; blobs are left out."""
    kept = _bare(value, 0)
    if not kept:
        return ""
    from capture.jsonio import dumps  # on use: start-up stays short

    try:
        return without_blobs(dumps(kept))
    except (ValueError, TypeError, RecursionError):
        return ""


def _bare(value: object, depth: int) -> object:
    """A copy without blobs and without what is empty; what is nested too deep is left out."""
    if depth > _DEEP:
        return None
    if isinstance(value, list):
        return [_bare(each, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    parts = {key: _bare(each, depth + 1) for key, each in value.items() if key not in _BLOB_KEYS}
    return {key: each for key, each in parts.items() if each not in (None, "", [], {})}


def without_blobs(value: str) -> str:
    """The text with each long run of base64 replaced by a word; one pass a marker, at the speed of str.find."""
    if len(value) < _LONG:
        return value
    for marker in _BLOBS:
        start = value.find(marker)
        if start >= 0:
            value = _cut_runs(value, marker, start)
    return value


def _cut_runs(value: str, marker: str, start: int) -> str:
    """The text without the long runs that begin with this marker."""
    parts: list[str] = []
    kept = 0
    while start >= 0:
        end = start + len(marker)
        # most are words in a line of text: a space or a line's end is near
        if value.find(" ", end, end + _LONG) < 0 and value.find("\n", end, end + _LONG) < 0:
            end = _run_end(value, end)
        if end - start >= _LONG:
            head = start + len(marker) if marker.endswith(",") else start
            parts += [value[kept:head], "[base64]"]
            kept = end
        start = value.find(marker, end)
    return "".join(parts) + value[kept:]


def _run_end(value: str, start: int) -> int:
    """Where a run of base64 ends; the window grows, so that a short run in a huge text is found at once."""
    window = 1024
    while True:
        stop = start + window
        found = [at for at in [value.find(mark, start, stop) for mark in _ENDS] if at >= 0]
        if found:
            return min(found)
        if stop >= len(value):
            return len(value)
        window *= 8


def exit_code(value: str, *prefixes: str) -> tuple[int | None, str]:
    """The number behind one of these prefixes at the text's beginning, and the text after that line."""
    for prefix in prefixes:
        if value.startswith(prefix):
            line, _, rest = value[len(prefix) :].partition("\n")
            number = number_in(line)
            if number is not None:
                return number, rest
    return None, value


def number_in(value: str) -> int | None:
    """The integer that a text begins with."""
    words = value[:40].split()
    digits = words[0].rstrip(".,;:)") if words else ""
    bare = digits.removeprefix("-")
    return int(digits) if bare.isascii() and bare.isdigit() and len(bare) <= 10 else None


def stated_code(value: str) -> int | None:
    """The exit code that a text says in its first or last line, as `Exit code: 2` or `<exited with exit code 2>`."""
    lines = value[:200].split("\n")[:1] + value[-200:].rstrip().split("\n")[-1:]
    for line in lines:
        plain = line.strip(" <>[]()").lower()
        for words in ("exit code", "exited with code"):
            before, found, after = plain.rpartition(words)
            # a sentence about exit codes is not one
            if found and (not before or before.rstrip().endswith(("with", "process", "command", "error:"))):
                return number_in(after.lstrip(": "))
    return None


def structured(value: object) -> object:
    """A response that some clients send as JSON text, as the object it is; anything else as it came."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        parsed = from_json(value)
        return value if parsed is None else parsed
    return value


def failed_flag(given: dict[str, object]) -> bool:
    """Whether a response says of itself that it failed."""
    return (
        any(given.get(key) is True for key in ("is_error", "isError"))
        or given.get("success") is False
        or (isinstance(given.get("error"), str) and bool(given["error"]) and not items(given.get("content")))
    )

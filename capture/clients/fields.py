"""Reads payload fields of any type without raising: payloads are foreign data."""

from __future__ import annotations

from capture.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_LARGEST = 2**53


def text(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def first(source: dict[str, object], *names: str) -> str:
    """The first of these fields that is a string with something in it."""
    for name in names:
        value = source.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def whole(value: object) -> int | None:
    """A number as an integer; None for anything else, for NaN and for what no counter can be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if -_LARGEST < value < _LARGEST else None


def mapping(value: object) -> dict[str, object]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def words(names: str) -> frozenset[str]:
    """Field names written as one text."""
    return frozenset(names.split())


def arguments(value: object) -> dict[str, object]:
    """A tool's arguments: an object, an object as JSON text, or a bare text (under `input`)."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, str) or not value:
        return {}
    parsed = from_json(value)
    return parsed if isinstance(parsed, dict) else {"input": value}


def from_json(value: str) -> object:
    """The JSON object or list in a text, else None."""
    if value[:1] not in "{[" or not value:
        return None
    from capture.jsonio import loads  # on use: start-up stays short

    try:
        parsed: object = loads(value)
    except (ValueError, RecursionError):
        return None
    return parsed


def begin(client: str, kind: str, payload: dict[str, object], now: int, native: str) -> Event | None:
    """An Event with the fields that most clients share; None when the payload names no session."""
    session_id = first(payload, "session_id")
    if not session_id:
        return None
    event = Event(client, kind, session_id, now, native)
    event.cwd = text(payload.get("cwd"))
    event.transcript_path = text(payload.get("transcript_path"))
    event.model = text(payload.get("model"))
    event.permission_mode = text(payload.get("permission_mode"))
    event.agent_id = text(payload.get("agent_id"))
    event.agent_type = text(payload.get("agent_type"))
    event.turn_id = first(payload, "prompt_id", "turn_id")
    event.tool_use_id = text(payload.get("tool_use_id"))
    event.tool_name = text(payload.get("tool_name"))
    event.duration_ms = whole(payload.get("duration_ms"))
    return event


def unknown(given: object, known: frozenset[str], prefix: str = "") -> tuple[str, ...]:
    """Fields that the adapter does not know, in a stable order."""
    if not isinstance(given, dict) or given.keys() <= known:
        return ()
    return tuple(prefix + name for name in sorted(given.keys() - known))


_TYPES: dict[type, str] = {str: "s", bool: "b", int: "n", float: "n", dict: "o", list: "l", type(None): "-"}
_INPUTS = words(
    "command description file_path notebook_path path pattern url query prompt content old_string new_string edits"
    " subagent_type todos"
)
"""What of a tool's input is worth watching: what a row is made of."""


def shape(adapter: ModuleType, payload: dict[str, object]) -> tuple[str, str]:
    """The tool a payload tells of, and the known fields with the types they have: `cwd:s tool_response.stdout:s`.

    No name comes from outside: a tool that the adapter does not know is `mcp` or `other`.
    """
    known: frozenset[str] = adapter.KNOWN
    found = [f"{name}:{_TYPES.get(type(value), '?')}" for name, value in payload.items() if name in known]
    name = payload.get("tool_name") or payload.get("toolName")
    if not isinstance(name, str):
        return "", " ".join(sorted(found))
    response: frozenset[str] | None = adapter.response_fields(name)
    for outer, inner in (("tool_input", _INPUTS), ("tool_response", response or ())):
        value = payload.get(outer)
        if isinstance(value, dict):
            found += [f"{outer}.{one}:{_TYPES.get(type(value[one]), '?')}" for one in value if one in inner]
    tool = name if response is not None else "mcp" if name[:3] == "mcp" else "other"
    return tool, " ".join(sorted(found))

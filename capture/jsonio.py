"""Reads and writes JSON without the `json` package, which costs a hook as much as the interpreter's start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBER_LIMIT = 4000


class BadJson(ValueError):
    """The text is not JSON, or is nested deeper than anything a client sends."""


def _whole(digits: str) -> int | float | str:
    """An integer of any length: the interpreter refuses to convert thousands of digits."""
    return int(digits) if len(digits) < _NUMBER_LIMIT else digits[:_NUMBER_LIMIT]


class _Context:
    """What `_json.make_scanner` wants to know."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int: Callable[[str], object] = int
    parse_constant: Callable[[str], object] = str
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own key cache


class _Careful(_Context):
    parse_int = staticmethod(_whole)


def _scanner(context: type[_Context]) -> Callable[[str, int], tuple[object, int]]:
    try:
        import _json as scanner  # on use: start-up stays short
    except ImportError:
        import json.scanner as scanner  # type: ignore[no-redef]  # on use: an interpreter without _json
    scan: Callable[[str, int], tuple[object, int]] = getattr(scanner, "make_scanner")(context)  # noqa: B009 - untyped
    return scan


def raw_loads(text: str, start: int = 0) -> tuple[object, int]:
    """The first JSON value at or after `start`, and where it ends.

    Numbers too long to convert become text, NaN and Infinity too. Raises BadJson.
    """
    while text[start : start + 1] in {" ", "\t", "\r", "\n", "\ufeff"}:
        start += 1
    try:
        try:
            return _scanner(_Context)(text, start)
        except (StopIteration, RecursionError):
            raise
        except ValueError as error:
            if "digits" not in str(error):
                raise
            return _scanner(_Careful)(text, start)
    except StopIteration as error:
        raise BadJson(f"no JSON value at {error.value}") from None
    except (ValueError, RecursionError, SystemError) as error:
        # SystemError: the scanner's own error class is in `json`, which is not loaded
        raise BadJson(f"{type(error).__name__} in JSON") from None


def loads(text: str) -> object:
    """One JSON value; what follows it is not looked at. Lone surrogates are replaced. Raises BadJson."""
    value = raw_loads(text)[0]
    if "\\ud" in text or "\\uD" in text:
        return _no_surrogates(value)
    return value


def _no_surrogates(value: object) -> object:
    """Half a character is legal in JSON but can neither be stored nor printed."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_no_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_no_surrogates(key): _no_surrogates(item) for key, item in value.items()}
    return value


def _unknown(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


_encoders: list[Callable[[object, int], tuple[str, ...]]] = []
"""The encoder, once it was made: that takes as long as to encode a short value."""


def dumps(value: object) -> str:
    """Compact JSON of plain values, letters left as they are. Raises TypeError or ValueError on others."""
    if not _encoders:
        try:
            from _json import encode_basestring, make_encoder  # on use: start-up stays short
        except ImportError:
            from json import dumps as slow  # on use: start-up stays short

            return slow(value, ensure_ascii=False, separators=(",", ":"))
        _encoders.append(make_encoder(None, _unknown, encode_basestring, None, ":", ",", False, False, True))
    try:
        return "".join(_encoders[0](value, 0))
    except RecursionError as error:
        raise ValueError("too deep for JSON") from error

"""The second detector, detect-secrets: what it sees in a text, and a mask for each secret.

Its rules of forms and names are used, not those of randomness: commit hashes and ids would drown everything else.
No secret leaves the audit: only its kind, its place and a mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

HEAD = 8_000
"""Characters of a text that are looked at."""
_LEFT_OUT = frozenset(("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"))
_AROUND = 60
_SHORTEST = 4


@contextmanager
def ready() -> Iterator[None]:
    """Sets the second detector up for a while: it keeps its rules in a global."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.settings import transient_settings

    classes: list[type] = list(get_mapping_from_secret_type_to_class().values())
    names = {plugin.__name__ for plugin in classes} - _LEFT_OUT
    with transient_settings({"plugins_used": [{"name": name} for name in sorted(names)]}):
        yield


def suspects(content: str) -> list[tuple[str, str]]:
    """(kind, value) of what the second detector sees and neither redaction nor the user's allow-list explains."""
    from detect_secrets.core.scan import scan_line

    from capture.redaction import settings

    known = settings.load()
    out = []
    for line in content[:HEAD].splitlines():
        for one in scan_line(line):
            value = one.secret_value or ""
            if len(value) >= _SHORTEST and "REDACTED" not in value and not known.allows(value):
                out.append((one.type, value))
    return out


def masked(content: str, kind: str, place: int) -> tuple[str, str, str]:
    """What stands before a suspect, its mask, and what stands behind; every other suspect is masked as well."""
    with ready():
        found = suspects(content)
    mine = [value for one, value in found if one == kind]
    if len(mine) < place:
        return "", f"({kind}: gone)", ""
    value = mine[place - 1]
    for other in sorted({other for _, other in found} - {value}, key=len, reverse=True):
        content = content.replace(other, mask(other))
    before, _, after = content.partition(value)
    return before[-_AROUND:], mask(value), after.replace(value, mask(value))[:_AROUND]


def mask(value: str) -> str:
    """`gh...(40 characters)`: enough to know it again, too little to use it."""
    return f"{value[:2] if len(value) >= 16 else ''}...({len(value)} characters)"

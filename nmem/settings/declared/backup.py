"""[backup]: read by nmem.backup."""

from __future__ import annotations

from nmem.settings.setting import TEXT, TEXTS, WHOLE, Setting


def _keys(value: object) -> str:
    """As a backup would say it, before there is one to make."""
    from nmem.backup import sealing
    from nmem.errors import NmemError

    names = value if isinstance(value, list | tuple) else ()
    try:
        if names:
            sealing.recipients([str(name) for name in names])
    except NmemError as error:
        return f"names no key to encrypt to: {error}"
    return ""


SETTINGS = (
    Setting("backup.folder", TEXT, "", "where backups go; empty: the folder `backups` beside the database"),
    Setting(
        "backup.keep", WHOLE, 0, "how many backups of that folder to keep, the newest; 0 keeps all", low=0, high=10_000
    ),
    Setting("backup.recipients", TEXTS, (), "age or SSH public keys that every backup is encrypted to", also=_keys),
)

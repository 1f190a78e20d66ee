"""Creates and migrates nmem's own tables (nmem.store.schema) in the database of recorded events."""

from __future__ import annotations

from capture.storage.sqlite import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = 32
"""How many migrations nmem.store.schema has; a test holds the two together."""

NOW = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
"""The time in SQL, in ms: what lies after it was recorded while the clock was ahead, and leads no list."""


def version(db: Connection) -> int:
    """How many migrations a database has seen; 0 when there are no tables of meaning yet."""
    try:
        row = db.execute("SELECT version FROM nmem_schema").fetchone()
    except Error as error:
        if "no such table" not in str(error):
            raise
        return 0
    return int(row[0]) if row else 0


def has(db: Connection, table: str, number: int) -> bool:
    """Whether there is a row of this id in a table."""
    return db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (number,)).fetchone() is not None  # noqa: S608 -- our names


def ids(db: Connection, table: str) -> tuple[int, int]:
    """The lowest and the highest id in a table; zeros where it is empty."""
    low, high = db.execute(f"SELECT min(id), max(id) FROM {table}").fetchone()  # noqa: S608 -- our names
    return low or 0, high or 0


def holds(db: Connection, table: str, session_id: str) -> bool:
    """Whether a table has a row of a session."""
    return db.execute(f"SELECT 1 FROM {table} WHERE session_id = ?", (session_id,)).fetchone() is not None  # noqa: S608


def ensure(db: Connection) -> None:
    """Create or migrate the tables of meaning, each migration in one transaction; nothing when they are current.

    Call it outside a transaction, on a writing connection. Raises sqlite3.Error, or capture.storage.schema's
    NewerDatabase when a newer nmem wrote them.
    """
    if version(db) != VERSION:
        migrate(db)


def migrate(db: Connection) -> None:
    """Bring the tables to the newest version, each migration in one transaction; as `ensure` raises."""
    from capture.storage.schema import NewerDatabase, check_own, statements  # on use: start-up stays short
    from capture.storage.store import transaction
    from nmem.store.schema import MIGRATIONS

    found = version(db)
    if not found:
        check_own(db)
    if found > len(MIGRATIONS):
        raise NewerDatabase(f"its tables of meaning have version {found}; this nmem knows {len(MIGRATIONS)}")
    for number in range(found, len(MIGRATIONS)):
        with transaction(db):
            if version(db) != number:
                continue  # another process migrated while this one waited for the lock
            for statement in statements(MIGRATIONS[number]):
                db.execute(statement)
            if number == 0:
                db.execute("CREATE TABLE nmem_schema (version INTEGER NOT NULL)")
                db.execute("INSERT INTO nmem_schema VALUES (0)")
            db.execute("UPDATE nmem_schema SET version = ?", (number + 1,))

"""Sets a team's server up (SQL of PostgreSQL): schema, roles, grants, members; for an administrator's login.

The one module that needs psycopg to be imported: who imports it has asked `server.driver` first.

Migrations run one at a time under a lock, each in one transaction with its number, as the role that owns the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import Connection, sql

from nmem.errors import NmemError
from nmem.team import schema
from nmem.team.server import connected, worded
from nmem.text import printable

_LOCK = 1_852_663_150
"""Two administrators at once: one waits for the other."""


def prepare(server: Mapping[str, str], team: str, admitted: Mapping[str, str]) -> list[str]:
    """Create or migrate the schema, the team's role and its grants, admit logins as members; what was done, in words.

    `admitted`: login -> member. Needs a login that may create roles and schemas. Raises NmemError.
    """
    role = schema.group(team)
    for member in admitted.values():
        schema.member(member)
    with connected(server) as db:
        try:
            with db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                done = _owner(db) + _migrated(db) + _role(db, team, role)
                for login, member in admitted.items():
                    done += _admitted(db, team, login, member)
            return done
        except psycopg.Error as error:
            raise NmemError(f"the server cannot be set up, nothing was changed: {worded(error)}") from None


def _owner(db: Connection[Any]) -> list[str]:
    """The role that owns everything, and the schema. Raises NmemError where somebody else made them."""
    owner, done = sql.Identifier(schema.OWNER), []
    if not _has(db, "pg_roles", "rolname", schema.OWNER):
        db.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(owner))
        done.append(f"role {schema.OWNER} created")
    _powerless(db, schema.OWNER)
    if not _has(db, "pg_namespace", "nspname", "nmem"):
        db.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(owner))
        db.execute(sql.SQL("CREATE SCHEMA nmem AUTHORIZATION {}").format(owner))
        done.append("schema nmem created")
    others = db.execute(
        "SELECT pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace WHERE nspname = 'nmem' UNION"
        " SELECT pg_get_userbyid(relowner) FROM pg_catalog.pg_class WHERE relnamespace = 'nmem'::regnamespace UNION"
        " SELECT pg_get_userbyid(proowner) FROM pg_catalog.pg_proc WHERE pronamespace = 'nmem'::regnamespace"
    ).fetchall()
    if other := sorted({row[0] for row in others} - {schema.OWNER}):
        said = f"{printable(', '.join(other))} made the schema nmem of this database, or something in it"
        raise NmemError(f"{said}: drop it, and set the server up again")
    return done


def _powerless(db: Connection[Any], role: str) -> None:
    """Raises NmemError for a role that somebody can log in with, or that no rule binds."""
    row = db.execute(
        "SELECT rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole FROM pg_catalog.pg_roles WHERE rolname = %s",
        (role,),
    ).fetchone()
    if row and row[0]:
        raise NmemError(f"the role {role} was not made by nmem: it can log in, or is bound by no rule; drop it first")


def _migrated(db: Connection[Any]) -> list[str]:
    """Migrations that are missing. Raises NmemError where a newer nmem set the server up."""
    db.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(schema.OWNER)))
    db.execute("SET LOCAL search_path = pg_catalog, pg_temp")
    db.execute("CREATE TABLE IF NOT EXISTS nmem.versions (version int PRIMARY KEY, at timestamptz DEFAULT now())")
    row = db.execute("SELECT coalesce(max(version), 0) FROM nmem.versions").fetchone()
    found = int(row[0]) if row else 0
    if found > len(schema.MIGRATIONS):
        raise NmemError(f"the server's tables have version {found}, this nmem knows {len(schema.MIGRATIONS)}: upgrade")
    for number in range(found, len(schema.MIGRATIONS)):
        db.execute(schema.MIGRATIONS[number])
        db.execute("INSERT INTO nmem.versions (version) VALUES (%s)", (number + 1,))
    db.execute("RESET ROLE")
    return [f"tables of version {len(schema.MIGRATIONS)} created"] if found < len(schema.MIGRATIONS) else []


def _role(db: Connection[Any], team: str, role: str) -> list[str]:
    """The team's role, and what its holders may do."""
    done = []
    if not _has(db, "pg_roles", "rolname", role):
        db.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
        done.append(f"role {role} created")
    _powerless(db, role)
    db.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(schema.OWNER)))
    db.execute(sql.SQL(schema.GRANTS).format(role=sql.Identifier(role)))
    db.execute("INSERT INTO nmem.queue (team) VALUES (%s) ON CONFLICT DO NOTHING", (team,))
    db.execute("RESET ROLE")
    return done


def _admitted(db: Connection[Any], team: str, login: str, member: str) -> list[str]:
    """One login as a member. Raises NmemError for a login that is not there."""
    if not _has(db, "pg_roles", "rolname", login):
        raise NmemError(f"the server has no login {login}: CREATE ROLE ... LOGIN PASSWORD ... first")
    db.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(schema.group(team)), sql.Identifier(login)))
    db.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(schema.OWNER)))
    db.execute(
        "INSERT INTO nmem.members (team, login, member) VALUES (%s, %s, %s)"
        " ON CONFLICT (team, login) DO UPDATE SET member = excluded.member",
        (team, login, member),
    )
    db.execute("RESET ROLE")
    _bounded(db, login)
    return [f"{login} is {member} in team {team}"]


def _bounded(db: Connection[Any], login: str) -> None:
    """A transaction that was forgotten does not hold up the team for long; where this login may set it for that one."""
    row = db.execute("SELECT current_database()").fetchone()
    assert row is not None
    bound = sql.SQL("ALTER ROLE {} IN DATABASE {} SET idle_in_transaction_session_timeout = '60s'")
    with suppress(psycopg.errors.InsufficientPrivilege), db.transaction():
        db.execute(bound.format(sql.Identifier(login), sql.Identifier(row[0])))


def _has(db: Connection[Any], table: str, column: str, name: str) -> bool:
    """Whether a catalogue has an entry of a name."""
    query = sql.SQL("SELECT 1 FROM {} WHERE {} = %s").format(
        sql.Identifier("pg_catalog", table), sql.Identifier(column)
    )
    return db.execute(query, (name,)).fetchone() is not None

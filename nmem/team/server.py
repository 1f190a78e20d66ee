"""All SQL of the team's server (PostgreSQL 13 and later): one's place there, facts in both directions, setting it up.

All waits are bounded: connecting, statements, locks, a peer that went away.

One schema, `nmem`, owned by a role that nobody logs in with. Who reads what is said by row-level security, which also
binds the owner: a login sees the rows of teams whose group role it holds and in which it is listed as a member. Members
insert as themselves and change nothing; what they take back goes through two functions, which leave a mark for ever.
Migrations run one at a time under a lock, each in one transaction with its number, as the role that owns the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, LiteralString

from nmem.errors import NmemError
from nmem.team import wire
from nmem.team.config import BOUNDS
from nmem.team.wire import BATCH, OWNER, Came, Fact, Gone, Mark, Removed, Unreachable, driver, group, worded
from nmem.text import printable

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed

_SETTINGS: LiteralString = (
    "SET statement_timeout = '30s'; SET lock_timeout = '20s'; SET idle_in_transaction_session_timeout = '60s';"
    " SET client_encoding = 'UTF8'; SET default_transaction_isolation = 'read committed'"
)
_SEND: LiteralString = """
INSERT INTO nmem.facts (team, id, kind, subject, project, author, device, at, title, body, files, data)
SELECT %s, r.* FROM json_to_recordset(%s::json) AS r(id text, kind text, subject text, project text, author text,
  device text, at bigint, title text, body text, files text, data text)
ON CONFLICT (team, author, id) DO NOTHING
"""
"""One document for all rows: a list for each column takes the driver several times as long."""
_COLUMNS: LiteralString = "seq, id, kind, subject, project, author, device, at, title, body, files, data"


@contextmanager
def connected(server: Mapping[str, str]) -> Iterator[Connection[Any]]:
    """A connection in autocommit mode. Raises Unreachable while it is being made; what comes later as psycopg does."""
    psycopg = driver()
    try:
        made = psycopg.connect(**{**server, **BOUNDS}, autocommit=True)
    except psycopg.Error as error:
        raise Unreachable(worded(error)) from None
    try:
        with made:
            made.execute(_SETTINGS)
            yield made
    finally:
        made.close()


class Server:
    """One team on one connection."""

    def __init__(self, db: Connection[Any], team: str) -> None:
        self.db, self.team = db, team

    def me(self) -> str:
        """The member that this login is. Raises Removed where it is none, NmemError where nothing is set up."""
        errors = driver().errors
        try:
            row = self.db.execute("SELECT nmem.me(%s)", (self.team,)).fetchone()
        except errors.InsufficientPrivilege:
            row = None
        except (errors.InvalidSchemaName, errors.UndefinedFunction):
            raise NmemError(
                "the server is not set up: an administrator runs `nmem sync init URL --team NAME --admin`"
            ) from None
        if row is None or row[0] is None:
            said = f"this login is not (or no longer) a member of team {self.team}: nothing is read or sent"
            raise Removed(f"{said}; an administrator grants the role {group(self.team)} and lists the login")
        found = self.db.execute("SELECT max(version) FROM nmem.versions").fetchone()
        if found is None or found[0] != len(MIGRATIONS):
            said = f"the server's tables have version {found and found[0]}, this nmem knows {len(MIGRATIONS)}"
            raise NmemError(f"{said}: upgrade nmem, or have an administrator run `nmem sync init ... --admin`")
        return str(row[0])

    def login(self) -> str:
        """How this connection logged in."""
        return self._one("SELECT session_user::text")

    def mark(self) -> Mark:
        """The newest place in this server's history of the team."""
        epoch = self._one("SELECT epoch::text FROM nmem.server")
        row = self.db.execute(
            "SELECT seq, mark::text FROM nmem.marks WHERE team = %s ORDER BY seq DESC LIMIT 1", (self.team,)
        ).fetchone()
        return Mark(epoch, int(row[0]), str(row[1])) if row else Mark(epoch)

    def knows(self, mark: Mark) -> bool:
        """Whether a place is in this server's history: not so where it was set back, or is another one."""
        if mark.epoch != self._one("SELECT epoch::text FROM nmem.server"):
            return False
        there = "SELECT 1 FROM nmem.marks WHERE team = %s AND seq = %s AND mark::text = %s"
        return not mark.mark or self.db.execute(there, (self.team, mark.seq, mark.mark)).fetchone() is not None

    def purge(self, subjects: Sequence[str]) -> dict[str, str]:
        """Take subjects away, everybody's versions of them, for ever; the refused ones with the reason."""
        return self._told("SELECT nmem.purge(%s, %s::text[])", subjects)

    def withdraw(self, ids: Sequence[str]) -> dict[str, str]:
        """Take versions of one's own away; the refused ones with the reason."""
        return self._told("SELECT nmem.withdraw(%s, %s::text[])", ids)

    def _told(self, sql: LiteralString, words: Sequence[str]) -> dict[str, str]:
        refused: dict[str, str] = {}
        wire.halving(list(words), lambda some: self.db.execute(sql, (self.team, list(some))), refused, str, self._about)
        return refused

    def send(self, facts: Sequence[Fact]) -> tuple[int, dict[str, str]]:
        """Insert facts, of which some may be there; how many are new, and the refused ones' ids with the reason."""
        refused: dict[str, str] = {}
        new = 0

        def insert(some: Sequence[Fact]) -> None:
            nonlocal new
            new += self.db.execute(_SEND, (self.team, json.dumps([each._asdict() for each in some]))).rowcount

        wire.halving(list(facts), insert, refused, lambda fact: fact.id, self._about)
        return new, refused

    def gone(self, after: int) -> list[Gone]:
        """What was taken away since, a batch of it in the server's order."""
        sql = "SELECT seq, id, subject, author FROM nmem.gone WHERE team = %s AND seq > %s ORDER BY seq LIMIT %s"
        return [Gone(*row) for row in self.db.execute(sql, (self.team, after, BATCH))]

    def facts(self, after: int, upto: int, projects: Sequence[str]) -> list[Came]:
        """Facts of these projects after one place in the server's order up to another, a batch of them."""
        sql: LiteralString = (
            f"SELECT {_COLUMNS} FROM nmem.facts WHERE team = %s AND seq > %s AND seq <= %s AND project = ANY (%s)"  # noqa: S608
            " ORDER BY seq LIMIT %s"
        )
        rows = self.db.execute(sql, (self.team, after, upto, list(projects), BATCH), binary=True)
        return [Came(row[0], Fact(*row[1:])) for row in rows]

    def members(self) -> list[tuple[str, str]]:
        """Every member, and how each logs in."""
        sql = "SELECT member, min(login) FROM nmem.members WHERE team = %s GROUP BY member ORDER BY member"
        return [(str(row[0]), str(row[1])) for row in self.db.execute(sql, (self.team,))]

    def _one(self, sql: LiteralString) -> str:
        row = self.db.execute(sql).fetchone()
        return str(row[0]) if row else ""

    def _about(self, error: Exception) -> bool:
        return wire.about_a_row(error, self.db, self.me)


# setting it up, by an administrator

_LOCK = 1_852_663_150
"""Two administrators at once: one waits for the other."""


def prepare(server: Mapping[str, str], team: str, admitted: Mapping[str, str]) -> list[str]:
    """Create or migrate the schema, the team's role and its grants, admit logins as members; what was done, in words.

    `admitted`: login -> member. Needs a login that may create roles and schemas. Raises NmemError.
    """
    psycopg, role = driver(), group(team)
    for member in admitted.values():
        wire.member(member)
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
    done = []
    if not _has(db, "pg_roles", "rolname", OWNER):
        db.execute(_sql("CREATE ROLE {} NOLOGIN", OWNER))
        done.append(f"role {OWNER} created")
    _powerless(db, OWNER)
    if not _has(db, "pg_namespace", "nspname", "nmem"):
        db.execute(_sql("GRANT {} TO CURRENT_USER", OWNER))
        db.execute(_sql("CREATE SCHEMA nmem AUTHORIZATION {}", OWNER))
        done.append("schema nmem created")
    others = db.execute(
        "SELECT pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace WHERE nspname = 'nmem' UNION"
        " SELECT pg_get_userbyid(relowner) FROM pg_catalog.pg_class WHERE relnamespace = 'nmem'::regnamespace UNION"
        " SELECT pg_get_userbyid(proowner) FROM pg_catalog.pg_proc WHERE pronamespace = 'nmem'::regnamespace"
    ).fetchall()
    if other := sorted({row[0] for row in others} - {OWNER}):
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
    db.execute(_sql("SET LOCAL ROLE {}", OWNER))
    db.execute("SET LOCAL search_path = pg_catalog, pg_temp")
    db.execute("CREATE TABLE IF NOT EXISTS nmem.versions (version int PRIMARY KEY, at timestamptz DEFAULT now())")
    row = db.execute("SELECT coalesce(max(version), 0) FROM nmem.versions").fetchone()
    found = int(row[0]) if row else 0
    if found > len(MIGRATIONS):
        raise NmemError(f"the server's tables have version {found}, this nmem knows {len(MIGRATIONS)}: upgrade")
    for number in range(found, len(MIGRATIONS)):
        db.execute(MIGRATIONS[number])
        db.execute("INSERT INTO nmem.versions (version) VALUES (%s)", (number + 1,))
    db.execute("RESET ROLE")
    return [f"tables of version {len(MIGRATIONS)} created"] if found < len(MIGRATIONS) else []


def _role(db: Connection[Any], team: str, role: str) -> list[str]:
    """The team's role, and what its holders may do."""
    done = []
    if not _has(db, "pg_roles", "rolname", role):
        db.execute(_sql("CREATE ROLE {} NOLOGIN", role))
        done.append(f"role {role} created")
    _powerless(db, role)
    db.execute(_sql("SET LOCAL ROLE {}", OWNER))
    db.execute(_sql(GRANTS, role))
    db.execute("INSERT INTO nmem.queue (team) VALUES (%s) ON CONFLICT DO NOTHING", (team,))
    db.execute("RESET ROLE")
    return done


def _admitted(db: Connection[Any], team: str, login: str, member: str) -> list[str]:
    """One login as a member. Raises NmemError for a login that is not there."""
    if not _has(db, "pg_roles", "rolname", login):
        raise NmemError(f"the server has no login {login}: CREATE ROLE ... LOGIN PASSWORD ... first")
    db.execute(_sql("GRANT {} TO {}", group(team), login))
    db.execute(_sql("SET LOCAL ROLE {}", OWNER))
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
    with suppress(driver().errors.InsufficientPrivilege), db.transaction():
        db.execute(_sql("ALTER ROLE {} IN DATABASE {} SET idle_in_transaction_session_timeout = '60s'", login, row[0]))


def _has(db: Connection[Any], table: str, column: str, name: str) -> bool:
    """Whether a catalogue has an entry of a name."""
    query = _sql("SELECT 1 FROM pg_catalog.{} WHERE {} = %s", table, column)
    return db.execute(query, (name,)).fetchone() is not None


def _sql(words: LiteralString, *names: str) -> Composed:
    """A statement with names of roles, tables and databases in it."""
    sql = driver().sql
    composed: Composed = sql.SQL(words).format(*map(sql.Identifier, names))
    return composed


_FIRST: LiteralString = """
CREATE TABLE nmem.server (
  epoch uuid NOT NULL DEFAULT gen_random_uuid(),
  most_unknown bigint NOT NULL DEFAULT 500000  -- of what a member took away, as much may never have been here
);
INSERT INTO nmem.server DEFAULT VALUES;
CREATE TABLE nmem.members (
  team text NOT NULL,
  login text NOT NULL,
  member text NOT NULL CHECK (length(member) BETWEEN 1 AND 64),
  PRIMARY KEY (team, login)
);
CREATE TABLE nmem.queue (team text PRIMARY KEY);
CREATE SEQUENCE nmem.seq;
CREATE TABLE nmem.facts (
  team text NOT NULL,
  seq bigint NOT NULL,
  id text NOT NULL CHECK (id ~ '^[0-9a-f]{24}$'),
  kind text NOT NULL CHECK (kind IN ('episode', 'decision', 'learning', 'recall')),
  subject text NOT NULL CHECK (subject ~ '^[0-9a-f]{12}[.][0-9a-f]{32}$'),
  project text NOT NULL CHECK (length(project) <= 400),
  author text NOT NULL,
  device text NOT NULL CHECK (length(device) <= 32),
  at bigint NOT NULL CHECK (at BETWEEN 0 AND 4102444800000),
  title text NOT NULL CHECK (length(title) <= 400 AND title ~ '[^[:space:]]'),
  body text NOT NULL CHECK (length(body) <= 20000),
  files text NOT NULL CHECK (length(files) <= 40000),
  data text NOT NULL CHECK (length(data) <= 40000),
  PRIMARY KEY (team, id, author)
);
CREATE UNIQUE INDEX facts_in_order ON nmem.facts(team, seq);
CREATE INDEX facts_by_subject ON nmem.facts(team, subject, author, seq);
CREATE TABLE nmem.gone (
  team text NOT NULL,
  seq bigint NOT NULL,
  id text NOT NULL,
  subject text NOT NULL,
  author text NOT NULL,
  known boolean NOT NULL DEFAULT true,
  PRIMARY KEY (team, id, author),
  CHECK (CASE subject WHEN '' THEN id ~ '^[0-9a-f]{24}$' WHEN id THEN id ~ '^[0-9a-f]{12}[.][0-9a-f]{32}$' END IS TRUE)
);
CREATE INDEX gone_unknown ON nmem.gone(team, author) WHERE NOT known;
CREATE UNIQUE INDEX gone_in_order ON nmem.gone(team, seq);
CREATE TABLE nmem.marks (
  team text NOT NULL,
  seq bigint NOT NULL,
  mark uuid NOT NULL DEFAULT gen_random_uuid(),
  PRIMARY KEY (team, seq)
);
CREATE INDEX marks_in_order ON nmem.marks(seq);

CREATE FUNCTION nmem.me(of_team text) RETURNS text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT m.member FROM nmem.members m JOIN pg_catalog.pg_roles r ON r.rolname = 'nmem_' || m.team
  WHERE m.team = of_team AND m.login = session_user AND pg_has_role(session_user, r.oid, 'MEMBER')
$$;
CREATE FUNCTION nmem.teams() RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(array_agg(m.team), '{}') FROM nmem.members m
  WHERE m.login = session_user AND nmem.me(m.team) IS NOT NULL
$$;
CREATE FUNCTION nmem.names() RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(array_agg(m.team || '/' || m.member), '{}') FROM nmem.members m
  WHERE m.login = session_user AND nmem.me(m.team) IS NOT NULL
$$;
CREATE FUNCTION nmem.owns(member text, subject text) RETURNS boolean LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $$
  SELECT left(subject, 13) = left(encode(sha256(convert_to(member, 'UTF8')), 'hex'), 12) || '.'
$$;

CREATE FUNCTION nmem.lock_team(of_team text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE invalid_transaction_state USING MESSAGE = 'an older snapshot does not see what is gone: use READ COMMITTED';
  END IF;
  PERFORM 1 FROM nmem.queue WHERE team = of_team FOR UPDATE;  -- a row that nobody is granted: nobody else can hold it
  IF NOT FOUND THEN
    RAISE insufficient_privilege USING MESSAGE = 'there is no such team';
  END IF;
END $$;
CREATE FUNCTION nmem.catch_up() RETURNS void LANGUAGE plpgsql  -- tables were restored, and the sequence was not
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT last_value - (NOT is_called)::int FROM nmem.seq) < (SELECT max(seq) FROM nmem.marks) THEN
    PERFORM 1 FROM nmem.server FOR UPDATE;
    PERFORM setval('nmem.seq', (SELECT greatest(max(m.seq), (SELECT last_value FROM nmem.seq)) FROM nmem.marks m));
  END IF;
END $$;
CREATE FUNCTION nmem.comes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM nmem.catch_up();
  RETURN NULL;
END $$;
CREATE FUNCTION nmem.room(of_team text, whoever text) RETURNS bigint LANGUAGE sql
SET search_path = pg_catalog, pg_temp AS $$
  SELECT s.most_unknown - (SELECT count(*) FROM nmem.gone WHERE team = of_team AND author = whoever AND NOT known)
  FROM nmem.server s
$$;
CREATE FUNCTION nmem.take(of_team text, whoever text, ids text[]) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO nmem.gone (team, seq, id, subject, author)
    SELECT of_team, nextval('nmem.seq'), f.id, '', whoever FROM nmem.facts f
    WHERE f.team = of_team AND f.author = whoever AND f.id = ANY (ids) ON CONFLICT (team, id, author) DO NOTHING;
  DELETE FROM nmem.facts WHERE team = of_team AND author = whoever AND id = ANY (ids);
END $$;
CREATE FUNCTION nmem.arrives() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE old text[];
BEGIN
  PERFORM nmem.lock_team(NEW.team);
  old := ARRAY(SELECT f.id FROM nmem.facts f
               WHERE f.team = NEW.team AND f.subject = NEW.subject AND f.author = NEW.author
               ORDER BY f.seq + 0 DESC OFFSET 49);  -- fifty of each author stay; + 0: sorted, not by the team's order
  IF old <> '{}' THEN
    PERFORM nmem.take(NEW.team, NEW.author, old);
  END IF;
  IF EXISTS (SELECT 1 FROM nmem.gone g WHERE g.team = NEW.team AND (g.id = NEW.subject
             OR (g.id = NEW.id AND g.author = NEW.author))) THEN
    RETURN NULL;
  END IF;
  NEW.seq := nextval('nmem.seq');
  RETURN NEW;
END $$;
CREATE FUNCTION nmem.marked() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO nmem.marks (team, seq) SELECT team, max(seq) FROM came GROUP BY team;
  RETURN NULL;
END $$;
CREATE TRIGGER comes BEFORE INSERT ON nmem.facts FOR EACH STATEMENT EXECUTE FUNCTION nmem.comes();
CREATE TRIGGER arrives BEFORE INSERT ON nmem.facts FOR EACH ROW EXECUTE FUNCTION nmem.arrives();
CREATE TRIGGER marked AFTER INSERT ON nmem.facts REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION nmem.marked();
CREATE TRIGGER marked AFTER INSERT ON nmem.gone REFERENCING NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION nmem.marked();

CREATE FUNCTION nmem.purge(of_team text, subjects text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE whoever text := nmem.me(of_team);
BEGIN
  IF whoever IS NULL OR EXISTS (SELECT 1 FROM unnest(subjects) s WHERE NOT nmem.owns(whoever, s)) THEN
    RAISE insufficient_privilege USING MESSAGE = 'only the author of a subject takes it away';
  END IF;
  PERFORM nmem.lock_team(of_team);
  PERFORM nmem.catch_up();
  INSERT INTO nmem.gone (team, seq, id, subject, author, known)
    SELECT of_team, nextval('nmem.seq'), s, s, whoever,
      EXISTS (SELECT 1 FROM nmem.facts WHERE team = of_team AND subject = s)
    FROM (SELECT DISTINCT unnest(subjects) AS s) each
    ON CONFLICT (team, id, author) DO NOTHING;
  IF nmem.room(of_team, whoever) < 0 THEN
    RAISE configuration_limit_exceeded USING MESSAGE = 'too much was taken away that was never here: the administrator'
      ' may raise nmem.server.most_unknown';
  END IF;
  DELETE FROM nmem.facts WHERE team = of_team AND subject = ANY (subjects);
END $$;
CREATE FUNCTION nmem.withdraw(of_team text, ids text[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE whoever text := nmem.me(of_team);
BEGIN
  IF whoever IS NULL THEN
    RAISE insufficient_privilege USING MESSAGE = 'only a member takes versions away';
  END IF;
  PERFORM nmem.lock_team(of_team);
  PERFORM nmem.catch_up();
  PERFORM nmem.take(of_team, whoever, ids);
  INSERT INTO nmem.gone (team, seq, id, subject, author, known)  -- not sent yet, or before the server was set back
    SELECT of_team, nextval('nmem.seq'), i, '', whoever, false FROM (
      SELECT unnest(ids) EXCEPT SELECT id FROM nmem.facts WHERE team = of_team AND id = ANY (ids)
      EXCEPT SELECT id FROM nmem.gone WHERE team = of_team AND id = ANY (ids) AND author = whoever) each(i)
    WHERE i ~ '^[0-9a-f]{24}$'
    LIMIT greatest(0, nmem.room(of_team, whoever));
END $$;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA nmem FROM PUBLIC;

ALTER TABLE nmem.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE nmem.members FORCE ROW LEVEL SECURITY;
ALTER TABLE nmem.facts ENABLE ROW LEVEL SECURITY;
ALTER TABLE nmem.facts FORCE ROW LEVEL SECURITY;
ALTER TABLE nmem.gone ENABLE ROW LEVEL SECURITY;
ALTER TABLE nmem.gone FORCE ROW LEVEL SECURITY;
ALTER TABLE nmem.marks ENABLE ROW LEVEL SECURITY;
ALTER TABLE nmem.marks FORCE ROW LEVEL SECURITY;
CREATE POLICY kept ON nmem.members TO nmem_owner USING (true) WITH CHECK (true);
CREATE POLICY kept ON nmem.facts FOR SELECT TO nmem_owner USING (true);
CREATE POLICY taken ON nmem.facts FOR DELETE TO nmem_owner USING (true);
CREATE POLICY kept ON nmem.gone TO nmem_owner USING (true) WITH CHECK (true);
CREATE POLICY kept ON nmem.marks TO nmem_owner USING (true) WITH CHECK (true);
CREATE POLICY seen ON nmem.members FOR SELECT USING (team = ANY ((SELECT nmem.teams())::text[]));
CREATE POLICY seen ON nmem.facts FOR SELECT USING (team = ANY ((SELECT nmem.teams())::text[]));
CREATE POLICY said ON nmem.facts FOR INSERT WITH CHECK (team || '/' || author = ANY ((SELECT nmem.names())::text[]));
CREATE POLICY seen ON nmem.gone FOR SELECT USING (team = ANY ((SELECT nmem.teams())::text[]));
CREATE POLICY seen ON nmem.marks FOR SELECT USING (team = ANY ((SELECT nmem.teams())::text[]));
"""
MIGRATIONS: tuple[LiteralString, ...] = (_FIRST,)
"""Each runs once, as the owner, in one transaction with its number; what has been released never changes."""
GRANTS: LiteralString = """
GRANT USAGE ON SCHEMA nmem TO {0};
GRANT SELECT ON nmem.versions, nmem.server, nmem.members, nmem.facts, nmem.gone, nmem.marks TO {0};
GRANT INSERT (team, id, kind, subject, project, author, device, at, title, body, files, data) ON nmem.facts TO {0};
GRANT EXECUTE ON FUNCTION nmem.me(text), nmem.teams(), nmem.names(), nmem.purge(text, text[]),
  nmem.withdraw(text, text[]) TO {0};
"""
"""What the holders of a team's role may do; the policies say with which rows."""

"""The tables, roles and rules on the team's server (SQL of PostgreSQL 13 and later), in numbered migrations.

One schema, `nmem`, owned by a role that nobody logs in with. Who reads what is said by row-level security, which also
binds the owner: a login sees the rows of teams whose group role it holds and in which it is listed as a member. Members
insert as themselves and change nothing; what they take back goes through two functions, which leave a mark for ever.
"""

from __future__ import annotations

import re
from typing import LiteralString

from nmem.errors import NmemError
from nmem.text import printable

OWNER = "nmem_owner"
_TEAM = re.compile(r"[a-z][a-z0-9_]{0,39}")
_MEMBER = re.compile(r"[\w.@+-]{1,64}")


def team(name: str) -> str:
    """A team's name, which is part of its role's. Raises NmemError for one that could not be."""
    if not _TEAM.fullmatch(name) or f"nmem_{name}" == OWNER:
        raise NmemError(f"{printable(name)!r} cannot be a team's name: use small letters, digits and _, at most 40")
    return name


def member(name: str) -> str:
    """A member's name. Raises NmemError for one that could not be."""
    if not _MEMBER.fullmatch(name):
        raise NmemError(f"{printable(name)!r} cannot be a member's name: use letters, digits and . _ @ + -, at most 64")
    return name


def group(name: str) -> str:
    """The role whose holders are the team."""
    return f"nmem_{team(name)}"


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
GRANT USAGE ON SCHEMA nmem TO {role};
GRANT SELECT ON nmem.versions, nmem.server, nmem.members, nmem.facts, nmem.gone, nmem.marks TO {role};
GRANT INSERT (team, id, kind, subject, project, author, device, at, title, body, files, data) ON nmem.facts TO {role};
GRANT EXECUTE ON FUNCTION nmem.me(text), nmem.teams(), nmem.names(), nmem.purge(text, text[]),
  nmem.withdraw(text, text[]) TO {role};
"""
"""What the holders of a team's role may do; the policies say with which rows."""

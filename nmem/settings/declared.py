"""Declares every setting of config.toml, by table: name, kind, default, meaning, limits.

Whoever adds a table names it in TABLES. Many are read by a `config` module of their feature.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from capture.clients import CLIENTS
from capture.redaction.settings import LEVELS, NORMAL, SHORTEST
from nmem import hours, sealing
from nmem.errors import NmemError
from nmem.settings.kinds import (  # fmt: skip
    ALLOW,
    ANY,
    CHOICE,
    CHOICES,
    FLAG,
    KEYS,
    LEAST_DAYS,
    NUMBER,
    PATTERNS,
    TEXT,
    TEXTS,
    TYPES,
    URL,
    WHOLE,
    WORDS,
    Setting,
)

THEMES = (
    "dark", "light", "ansi", "nmem-dark", "nmem-light", "nmem-ansi-dark", "nmem-ansi-light",
    "ansi-dark", "ansi-light", "atom-one-dark", "atom-one-light", "catppuccin-frappe", "catppuccin-latte",
    "catppuccin-macchiato", "catppuccin-mocha", "dracula", "flexoki", "gruvbox", "monokai", "nord", "rose-pine",
    "rose-pine-dawn", "rose-pine-moon", "solarized-dark", "solarized-light", "textual-dark", "textual-light",
    "tokyo-night",
)  # fmt: skip
ROLES = (
    "ground", "raised", "line", "text", "strong", "quiet", "accent", "good", "bad", "warn", "user", "agent", "change",
    "run", "look", "cursor", "bar", "rest", "off",
)  # fmt: skip
SYMBOLS = ("blocks", "braille", "ascii")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def _theme(value: object) -> str:
    """What is wrong with the name of a theme."""
    if not value or value in THEMES:
        return ""

    found = get_close_matches(str(value).lower(), THEMES, 1, 0.5)
    return f"is not a theme: did you mean {found[0]}?" if found else "is not a theme: try dark, light, ansi, nord"


def _colour(value: object) -> str:
    """What is wrong with a colour."""
    return "" if _COLOUR.fullmatch(str(value)) else 'must be a colour like "#7cb7ff"'


def _redacted(value: object) -> str:
    words = value if isinstance(value, list | tuple) else ()
    fits = all(len(str(word).strip()) >= SHORTEST for word in words)
    return "" if fits else f"must be words of at least {SHORTEST} characters: shorter ones stand everywhere"


_OWN_LEVEL = f"how much is redacted: secrets ({NORMAL}), or also drawn tokens, UUIDs, e-mail addresses, internal hosts"
_OF_PROJECT = f"redaction.projects.{ANY}"

REDACTION = (
    Setting("redaction.sensitivity", CHOICE, NORMAL, _OWN_LEVEL, choices=LEVELS),
    Setting("redaction.words", TEXTS, (), "words and names to redact, in whatever case", also=_redacted),
    Setting(
        "redaction.patterns", PATTERNS, (),
        "further secrets to redact: a list of { name, regex }; a group in the regex is the secret",
    ),
    Setting(
        "redaction.allow", ALLOW, (),
        "texts that are never redacted: a list of texts, or of { regex }",
    ),
    Setting(f"{_OF_PROJECT}.sensitivity", CHOICE, None, "the same for one project, by its name, root folder or remote",
            choices=LEVELS),
    Setting(f"{_OF_PROJECT}.words", TEXTS, None, "words of one project, beside those of all", also=_redacted),
    Setting(f"{_OF_PROJECT}.patterns", PATTERNS, None, "patterns of one project, beside those of all"),
)  # fmt: skip

CONTEXT = (
    Setting("context.enabled", FLAG, True, "whether sessions are told anything"),
    Setting("context.ask", FLAG, True, "whether a session that starts is told that the memory can be asked"),
    Setting("context.beside", FLAG, True, "whether a session is told which files another one edits at this moment"),
    Setting("context.fixes", FLAG, True, "whether a command that fails is answered with what put it right before"),
    Setting("context.warn", FLAG, True, "whether a command or an edit that went wrong before is warned of"),
    Setting(
        "context.start_tokens", NUMBER, 1500, "how much a session is told when it starts",
        low=0, high=2400, unit="tokens",
    ),
    Setting("context.prompt_tokens", NUMBER, 800, "how much it is told at a prompt", low=0, high=2400, unit="tokens"),
    Setting(
        "context.recovery_tokens", NUMBER, 900, "how much it is told after a compaction or a clear",
        low=0, high=2400, unit="tokens",
    ),
    Setting(
        "context.deadline_ms", NUMBER, 60, "time limit for selecting context; after it nothing is injected",
        low=0, high=2000, unit="ms",
    ),
    Setting(
        "context.holdout", NUMBER, 0.0, "the fraction of sessions that are told nothing, to see what telling is worth",
        low=0, high=0.5,
    ),
    Setting("context.off", TEXTS, (), "projects that are told nothing, by name or root folder"),
)  # fmt: skip

EPISODES = (
    Setting(
        "episodes.method", CHOICE, "default",
        "how prompts are divided into episodes: fitted weights, or the plain rule of keyword bags",
        choices=("default", "jaccard"),
    ),
)  # fmt: skip

_WEEK = 10_080

THREADS = (
    Setting(
        "threads.timeout_minutes", NUMBER, 30, "inactivity after which a new line of work begins",
        above=0, high=_WEEK, unit="minutes",
    ),
    Setting(
        "threads.clients.*", NUMBER, None, "the same for one client",
        above=0, high=_WEEK, choices=CLIENTS, unit="minutes",
    ),
    Setting(
        "threads.method", CHOICE, "fitted", "how lines of work are compared: fitted weights, or the plain ones",
        choices=("fitted", "seed"),
    ),
)  # fmt: skip

LEARN = (
    Setting("learn.sessions", WHOLE, 3, "sessions in which something must occur to become a learning or a skill",
            low=2, high=50),
    Setting("learn.half_life_days", NUMBER, 7, "half-life of an occurrence in a learning's heat",
            above=0, high=3650, unit="days"),
)  # fmt: skip

LLM = (
    Setting("llm.enabled", FLAG, True, "whether a language model may be asked"),
    Setting(
        "llm.base_url", URL, "",
        "its endpoint up to the version: http://127.0.0.1:1234/v1; empty: loopback is looked at",
    ),
    Setting("llm.model", TEXT, "", "which model; empty: the first that the endpoint lists"),
    Setting("llm.key", TEXT, "", "the endpoint's key; better in the environment, see key_env", secret=True),
    Setting("llm.key_env", TEXT, "", "the environment variable with the key; empty: NMEM_LLM_KEY"),
    Setting("llm.command", WORDS, (), 'your own client instead of an endpoint: ["claude", "-p"]'),
    Setting(
        "llm.connect_seconds", NUMBER, 3.0, "how long to wait for a connection", low=0.05, high=60, unit="seconds"
    ),
    Setting(
        "llm.call_seconds", NUMBER, 120.0, "how long one call may take as a whole", low=1, high=3600, unit="seconds"
    ),
    Setting("llm.max_tokens", WHOLE, 900, "how long an answer may be", low=16, high=32_768, unit="tokens"),
    Setting(
        "llm.context_tokens", WHOLE, 6000, "how much material one question may hold",
        low=512, high=1_000_000, unit="tokens",
    ),
    Setting(
        "llm.daily_token_cap", WHOLE, 200_000, "questions and answers together, a day; 0 asks nothing",
        low=0, high=1_000_000_000, unit="tokens",
    ),
)  # fmt: skip

RECALL = (
    Setting("recall.folders", TEXTS, (), "folders of decisions in a project, looked for before the usual ones"),
    Setting("recall.index", TEXT, "", "the index of decisions in a project; empty: memory-index.md where there is one"),
    Setting(
        "recall.offer", FLAG, True, "whether sessions are told unasked which decisions their prompts and failures name"
    ),
)

_TASK_CLIENTS = ("claude", "codex", "gemini")


def _quiet(value: object) -> str:
    try:
        hours.quiet(str(value))
    except NmemError:
        return "must be hours such as 09:00-18:00 or 22:00-07:00, or none"
    return ""


def _called(value: object) -> str:
    fits = isinstance(value, list | tuple) and value and all(value)
    return "" if fits else 'must be a list of words, none of them empty: ["claude", "-p", "{prompt}"]'


def _named(value: object) -> str:
    return "must be a name without : . and /" if any(sign in str(value) for sign in ":./") else ""


DISPATCH = (
    Setting(
        "dispatch.concurrency", WHOLE, 1, "how many tasks run at once; those that wait for a person do not count",
        low=1, high=64,
    ),
    Setting("dispatch.client", CHOICE, "claude", "the client of a task that names none", choices=_TASK_CLIENTS),
    Setting(
        "dispatch.quiet_hours", TEXT, "", "hours in which no task is started, such as 09:00-18:00; empty: none",
        also=_quiet,
    ),
    Setting(
        "dispatch.time_limit", WHOLE, 120, "how long a task may run that names no limit; 0: as long as it likes",
        low=0, high=10_080, unit="minutes",
    ),
    Setting(
        "dispatch.how", CHOICE, "auto", "in panes of tmux, without a terminal, or in tmux where it is installed",
        choices=("auto", "tmux", "headless"),
    ),
    Setting("dispatch.tmux_session", TEXT, "nmem", "the session of tmux that tasks get their windows in", also=_named),
    Setting(
        "dispatch.tmux_socket", TEXT, "", "the name of tmux's socket, as its -L takes it; empty: its own default",
        also=_named,
    ),
    Setting("dispatch.worktrees", TEXT, "", "the folder for worktrees of tasks; empty: beside the database"),
    Setting(
        "dispatch.idle_seconds", WHOLE, 60, "how long an interactive client's screen is still before it seems to wait",
        low=5, high=3600, unit="seconds",
    ),
    Setting(
        "dispatch.agent_tasks", CHOICE, "ask", "a task that an agent queues waits for your approval, runs, or is"
        " refused", choices=("ask", "run", "off"),
    ),
    Setting(
        "dispatch.commands.*", WORDS, None, "the words a client is called with; {prompt} stands for the prompt, which"
        " is read from standard input where it does not occur", choices=_TASK_CLIENTS, also=_called,
    ),
    Setting(
        "dispatch.interactive_commands.*", WORDS, None, "the same for tasks whose client stays open; the prompt is"
        " the last word where {prompt} does not occur", choices=_TASK_CLIENTS, also=_called,
    ),
)  # fmt: skip

ALL = "all"


def _days(value: object) -> str:
    fits = isinstance(value, int | float) and (value == 0 or value >= LEAST_DAYS)
    return "" if fits else f"is 0, for ever, or at least {LEAST_DAYS:g} days: nothing is forgotten sooner"


RETENTION = (
    Setting("retention.enabled", FLAG, True, "whether old records are forgotten by themselves; `nmem sweep` may"),
    Setting(
        "retention.mediation", FLAG, True,
        "whether what proves useful lives longer, and what nobody comes back to shorter: half to twice its lifetime",
    ),
    Setting(
        "retention.max_size_mb", WHOLE, 0, "above this size of the database lifetimes are shortened; 0: no limit",
        low=0, high=1_000_000, unit="MB",
    ),
    Setting(
        "retention.days.*", NUMBER, None,
        f"how long a type is kept, at least {LEAST_DAYS:g}; 0 keeps it for ever; `nmem sweep --policy` shows them",
        low=0, high=36_500, choices=TYPES, unit="days", also=_days,
    ),
    Setting(
        f"retention.projects.{ANY}.{ANY}", NUMBER, None,
        "the same for one project, by its name: a type, or `all` for every type; 0 keeps for ever",
        low=0, high=36_500, choices=(ALL, *TYPES), unit="days", also=_days,
    ),
)  # fmt: skip

SESSIONS = (
    Setting("sessions.copies", FLAG, True, "whether redacted copies of clients' transcripts are kept, to resume by"),
    Setting(
        "sessions.copy_mb", WHOLE, 8, "transcripts that are larger are not copied", low=1, high=1024, unit="MB"
    ),
    Setting(
        "sessions.copies_mb", WHOLE, 200, "what all copies may take, compressed; the oldest go first", low=1,
        high=100_000, unit="MB",
    ),
    Setting(
        "sessions.copy_days", NUMBER, 180, "how long a copy is kept, though no longer than prompts are; 0: as these",
        low=0, high=36_500, unit="days",
    ),
)  # fmt: skip

PURGE = (
    Setting(
        "purge.window_minutes", WHOLE, 24 * 60,
        "how long a purge can be undone: until then what went is kept encrypted; 0 keeps nothing",
        low=0, high=43_200, unit="minutes",
    ),
)  # fmt: skip


def _keys(value: object) -> str:
    """As a backup would say it, before there is one to make."""
    names = value if isinstance(value, list | tuple) else ()
    try:
        if names:
            sealing.recipients([str(name) for name in names])
    except NmemError as error:
        return f"names no key to encrypt to: {error}"
    return ""


BACKUP = (
    Setting("backup.folder", TEXT, "", "where backups go; empty: the folder `backups` beside the database"),
    Setting(
        "backup.keep", WHOLE, 0, "how many backups of that folder to keep, the newest; 0 keeps all", low=0, high=10_000
    ),
    Setting("backup.recipients", TEXTS, (), "age or SSH public keys that every backup is encrypted to", also=_keys),
)

ATTENTION = (
    Setting(
        "attention.how",
        CHOICES,
        "off",
        "how you are called when a session waits for you or failed; `nmem attention test` tries it",
        choices=("off", "bell", "osc9", "osc777", "desktop"),
    ),
    Setting(
        "attention.quiet", TEXT, "", "hours in which you are not called, such as 22:00-07:00; empty: none", also=_quiet
    ),
)

STREAM = (
    Setting("stream.allow_remote", FLAG, False, "whether `nmem stream` may send events to another machine"),
)  # fmt: skip

COST = (
    Setting("cost.budget_day", NUMBER, 0, "what a day may cost before you are warned, in the prices' currency; 0: any",
            low=0, high=1_000_000),
    Setting("cost.budget_month", NUMBER, 0, "the same for a calendar month", low=0, high=100_000_000),
    Setting("cost.prices", TEXT, "", "your own table of prices; empty: prices.json beside config.toml"),
)  # fmt: skip

TUI = (
    Setting(
        "tui.theme",
        TEXT,
        "",
        "the cockpit's theme: dark, light, ansi, or another that docs/cockpit.md names; empty: dark",
        also=_theme,
    ),
    Setting(
        f"tui.colours.{ANY}",
        TEXT,
        None,
        'a colour of your own for what it stands for, over the theme\'s: "#7cb7ff"',
        choices=ROLES,
        also=_colour,
    ),
    Setting(
        "tui.symbols",
        CHOICE,
        "blocks",
        "what bars, charts and signs are drawn with; ascii needs no font and no UTF-8",
        choices=SYMBOLS,
    ),
    Setting("tui.keys.*", KEYS, None, "the key or keys of one action of the cockpit, by its id: `nmem tui --keys`"),
)

TABLES: tuple[tuple[Setting, ...], ...] = (
    REDACTION,
    CONTEXT,
    EPISODES,
    THREADS,
    LEARN,
    LLM,
    RECALL,
    DISPATCH,
    RETENTION,
    SESSIONS,
    PURGE,
    BACKUP,
    ATTENTION,
    STREAM,
    COST,
    TUI,
)
SETTINGS: tuple[Setting, ...] = tuple(setting for table in TABLES for setting in table)


def find(path: tuple[str, ...]) -> Setting | None:
    """The setting that a key of a document is."""
    return next((setting for setting in SETTINGS if setting.matches(path)), None)


def tables() -> tuple[str, ...]:
    """The names of the tables."""
    return tuple(dict.fromkeys(setting.parts[0] for setting in SETTINGS))

"""Names a shell command in a story, without cd, pipes and most arguments; and what went wrong, by its output."""

from __future__ import annotations

import re
from collections.abc import Iterable

from capture.shell import Command, parse
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.prose import clip, uncut
from nmem.episodes.narrate.records import Action
from nmem.episodes.undone import temporary

_NOT_MAIN = re.compile(
    r"^\s*(?:(?:cd|pwd|export|source|set|echo|sleep|mkdir|rm|cat|ls|tail|head|grep|chmod|git add|git diff"
    r"|git status)\b|[A-Z_]+=\S*$|\.\s)"
)
_WORD = re.compile(r"[^\s()\"'`;|]+$")
_INLINE = re.compile(r"\b(?:node|python3?|ruby|perl|bun|deno) (?:-[ecp]|-(?: |$)|<<|eval\b)")


def name(command: str, kind: str = "", description: str = "", room: int = 60) -> str:
    """A command by what it runs: without cd, pipes, redirections and most arguments; at most `room` characters."""
    parsed, known = steps_of(command[:4000], kind)
    steps = [step.argv for step in parsed.steps if step.argv and not step.simple.nested]
    steps = [argv for argv in steps if not _NOT_MAIN.match(" ".join(argv[:2]))] or steps
    mark = _OF_KIND.get(kind)
    main = parsed.main.argv if parsed.main else []
    main = next(
        (argv for argv in known or steps if mark and mark.search(" ".join(argv[:6]))),
        known[0] if known else main or (steps[0] if steps else []),
    )
    taken: list[str] = []
    for word in main[:9]:
        if (
            not word
            or word[0] in "-<>\"'$(&{["
            or not _WORD.match(word)
            or len(taken) == 3 + (bool(taken) and taken[0] in _RUNNERS)
        ):
            if taken and taken[0] in _RUNNERS and word[:1] == "-" and len(taken) == 1:
                continue
            break
        taken.append(word.rsplit("/", 1)[-1] if not taken or taken[-1] in _RUNNERS else word)
    if description and (not taken or taken[0] in _VAGUE) and (kind == "command" or len(taken) < 2):
        return clip(f"{taken[0] if taken else 'command'} ({description})", 90)
    taken[:1] = [_SAME.get(one, one) for one in taken[:1]]
    taken += [word for word in main if word in _BUILDS_TESTS] if kind == "build" and "test" in taken else []
    return clip(" ".join(taken) or command.strip().split("\n", 1)[0], room)


def steps_of(command: str, kind: str) -> tuple[Command, list[list[str]]]:
    """A command line, and its steps of a kind; one without any by the rules of POSIX is read as a PowerShell line."""
    if kind in ("", "command"):  # no step is of these
        return parse(command), []
    for powershell in (False, True):
        parsed = parse(command, powershell)
        if known := [step.argv for step in parsed.steps if step.argv and kind in step.families]:
            return parsed, known
    return parse(command), []


_BUILDS_TESTS = ("-c", "--no-run")
"""Options by which `go test` and `cargo test` run no test."""
_RUNNERS = frozenset((
    "bash", "sh", "zsh", "python", "python3", "node", "npx", "bunx", "uv", "uvx", "poetry", "rtk", "pnpm", "yarn",
    "npm", "bun", "mise", "make",
))  # fmt: skip
_PROBES = frozenset((
    "ps", "jobs", "pkill", "pgrep", "kill", "ls", "grep", "rg", "find", "which", "type", "test", "ping", "dig",
    "lsof", "cat", "head", "tail", "stat", "jq", "diff", "cmp", "killall", "echo", "printf", "wait", "fg", "bg",
    "env", "date", "nc", "dns-sd", "cd", "for", "while", "if", "until", "sleep",
))  # fmt: skip
_STEPWISE = ("rebase", "merge", "cherry-pick")
_NETWORK = ("curl", "wget")
_SENDS = re.compile(r"\s(?:-X\s*(?!GET|HEAD)[A-Z]|--request|-d\b|--data|-F\b|--form|-T\b|--upload|--post)")
_CHANGES = re.compile(r"\s(?:-X(?!\s*GET)|-[fF]|--(?:method|field|raw-field|input)\b)|\bgraphql\b.*\bmutation\b")
"""Options by which `gh api` does more than ask."""
_VAGUE = frozenset((
    "ssh", "curl", "wget", "python", "python3", "node", "docker", "bash", "sh", "ping", "scp", "sqlite3", "psql",
    "for", "while", "if",
))  # fmt: skip
_SAME = {"python3": "python", "pip3": "pip", "nodejs": "node"}
"""Programs that go by two names: what failed with the one and passed with the other is one thing."""
_OF_KIND = {
    "test": re.compile(r"\b(?:test|tests|pytest|jest|vitest|rspec|e2e|tox|nox|spec)\b|test"),
    "lint": re.compile(r"\b(?:lint|check|clippy|vet|eslint|ruff|mypy|tsc|golangci-lint|biome|shellcheck|typecheck)\b"),
    "build": re.compile(r"\b(?:build|compile|tsc|make|bundle)\b"),
    "git_commit": re.compile(r"\bcommit\b"),
    "git_push": re.compile(r"\bpush\b"),
    "install": re.compile(r"\b(?:install|add|ci|sync|tidy)\b"),
}  # fmt: skip


def inline(command: str) -> bool:
    """Whether it is a script given on the command line or in a here-document."""
    return bool(_INLINE.search(command[:400]))


def call(command: str, kind: str) -> str:
    """The step of a command line that is of a kind, with its words; "" where it cannot be told in a line."""
    steps = [" ".join(step.argv) for step in parse(command[:4000]).steps if step.argv and not step.simple.nested]
    mark = _OF_KIND.get(kind)
    text = next((one for one in steps if mark and mark.search(one[:200])), "")
    return text if len(text) <= _CALL and "\n" not in text and "`" not in text else ""


_CALL = 60


def key(command: str, kind: str = "") -> str:
    """What makes two runs the same: the program and the path of its script, not its other words; "" for none."""
    parsed = parse(command[:4000])
    if kind in ("test", "build", "lint") or not parsed.main or not parsed.main.argv:
        return ""
    gits = [step.argv for step in parsed.steps if step.argv and step.argv[0] == "git"]
    if verb := next((argv[1] for argv in gits if len(argv) > 1 and argv[1] in _STEPWISE), ""):
        return f"git {verb}"  # what stopped at a conflict goes on with --continue
    argv = parsed.main.argv
    program = argv[0].rsplit("/", 1)[-1]
    program = _SAME.get(program, program)
    if program in _SCRIPTED:
        script = next((word for word in argv[1:] if not word.startswith("-")), "")
        return f"{program} {script.removeprefix('./')}" if _SCRIPT.search(script) else ""
    return program if _SCRIPT.search(program) else ""


def chain(command: str, kinds: Iterable[str]) -> str:
    """The steps of a line that are of some kinds, each by its first two words: "go build && go vet"."""
    wanted = frozenset(kinds)
    steps = [step.argv for step in parse(command[:4000]).steps if step.argv and wanted & set(step.families)]
    return clip(" && ".join(dict.fromkeys(" ".join(argv[: 2 + (argv[0] in _RUNNERS)]) for argv in steps)), 60)


def throw_away(command: str) -> bool:
    """Whether it runs a script that was put into a folder for temporary files."""
    main = parse(command[:4000]).main
    return bool(main) and any(temporary(word) for word in (main.argv if main else [])[:3])


_SCRIPTED = frozenset(("bash", "sh", "zsh", "python", "python3", "node", "ruby", "perl", "bun", "deno", "php"))
_SCRIPT = re.compile(r"^[\w./~-]+\.(?:py|sh|js|mjs|cjs|ts|rb|pl|php)$")
_LOOKING = frozenset((
    "status", "capture", "list", "ls", "show", "log", "get", "view", "help", "info", "describe", "inspect", "logs",
    "search", "--help", "--version",
))  # fmt: skip


def looks(called: str, command: str) -> bool:
    """Whether a command only looks at something, or is a script written for the moment."""
    if called.startswith("gh api") and not _CHANGES.search(command):
        return True
    first, *rest = called.split(" ")
    if first in _PROBES or (rest and rest[0] in _LOOKING and first not in _RUNNERS):
        return True
    if first in _NETWORK and "(" not in called and not _SENDS.search(command):
        return True  # asking whether something answers
    return bool(_INLINE.search(command[:400]))


def bare(response: str) -> str:
    """What a call answered, without what an interpreter prints before it begins."""
    return _SITE.sub("", response)


def why(action: Action) -> str:
    """The line of the output that says what went wrong."""
    tests = action.told("tests")
    failing = tests.get("failing")
    named = ", ".join(str(one) for one in failing[:2]) if isinstance(failing, list) else ""
    best, score = "", 0.0
    said = uncut(action.response)
    said = said if "\n" in said.strip() else said.replace("\\n", "\n")  # a record within a record
    for line in bare(said).split("\n")[:200]:
        text = _RULES.sub("", _STAMP.sub("", line)).strip()
        if len(text) < 8 or _EXIT.match(text) or text.startswith(("at ", "$ ", "> ")) or _data(text):
            continue
        if _LOGGED.match(text) or _CODE.match(text) or "Warning: " in text or "config option" in text:
            continue
        weight = (
            -1.0 * ("warning" in text[:24].lower())
            + 2.0 * bool(cues.GENERIC_ERROR.search(text))
            + 2.0 * bool(_PLACE.match(text))
            + 1.5 * bool(_RAISED.match(text))
            - 1.5 * ("print(" in text)
            - 1.0 * bool(_EMPTY.match(text))
            + (":" in text)
            + 0.5 * (len(text) < 160)
            + (0.3 if not best else 0)
        )
        if weight > score:
            best, score = text, weight
    if score < 2 and named:
        return clip(named, 120)
    return clip(f"{named}: {best}" if named and named not in best else best, 130) if score >= 2 else ""


def _data(line: str) -> bool:
    """Whether a line is a piece of a record that was printed."""
    return len(_DATA.findall(line)) > 1 - (line[0] in "'\"{}[]")


_STAMP = re.compile(r"^\s*(?:\[[^\]]{0,40}\]|\d{4}[-/]\d\d[-/]\d\dT?\S*|\d\d:\d\d:\d\d\S*|\W)+\s*")
_LOGGED = re.compile(r"(?:level=)?(?:INFO|DEBUG|TRACE|NOTICE)\b|.{0,80} (?:INFO|DEBUG|TRACE) ")
_PLACE = re.compile(r"^[\w./\\@-]+\.\w{1,5}[:(]\d+(?:[:,]\d+)?\)?: \S")
"""A line that names the place of an error."""
_EMPTY = re.compile(
    r"^(?:error |fail(?:ed|ure)? )?(?:[\w-]+ )?(?:task|build|tests?|command|job|validation|check)s? failed\W*$"
    r"|^FAIL\s+\S+\s+(?:[\d.]+m?s|\[.*\])$",
    re.IGNORECASE,
)
"""A line that says no more than that it failed."""
_RULES = re.compile(r"[━─═╌┃│]{2,}")
_CODE = re.compile(
    r"^(?:let|const|var|return|throw|import|export|function|def|if|for)\b.*[;{(]\s*$|^\S+ .* --[\w-]+[)\s]*$"
)
"""A line of code, or of a command, that was printed."""
_DATA = re.compile(r"[\w}\]]['\"] ?:|['\"]: ?[\[{'\"\d]")
"""Keys of a record that a tool printed: no sentence."""
_SITE = re.compile(
    r"(?s)(?:Error processing line|\[…\]).{0,20} of [^\n]+\.pth:\n.{0,4000}?Remainder of file ignored\s*"
)
"""What an interpreter prints before it begins: no reason why something failed."""
_RAISED = re.compile(r"^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b:? ?")
"""The line by which a program ends that raised."""
_EXIT = re.compile(r"^(?:Exit code \d+|Error: Exit code|Command failed)", re.IGNORECASE)

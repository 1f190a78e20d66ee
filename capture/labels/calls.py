"""Builds the classifiers' input for one tool call from its stored columns alone, so old rows can be labelled."""

from __future__ import annotations

from capture.labels.commands import clipped, look
from capture.labels.programs import words
from capture.labels.reach import LOCAL_HOSTS
from capture.labels.wishes import afar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW = 4
"""How many of the session's last calls are looked at."""
TEXT = 1_200
"""Characters of a call's content and of a prompt that are read."""
NOT_CALLS = frozenset(("session_start", "session_resume", "session_clear", "session_compact", "marker"))
"""Observations that get no labels."""

_BY_TYPE = {
    "file_read": "read", "file_write": "write", "file_edit": "edit", "search": "search", "test": "check",
    "build": "check", "lint": "check", "install": "install", "git_commit": "commit", "git_push": "push",
    "task_spawn": "delegate", "skill": "skill", "web_fetch": "web", "web_search": "web", "mcp_call": "mcp",
    "question": "ask", "plan": "plan", "todo": "todo", "tool_other": "other",
}  # fmt: skip
_RANK = ("install", "push", "sync", "change", "commit", "stage", "branch", "stop", "serve", "script", "run", "search",
         "read", "see")  # fmt: skip
_WRAPPED = {"Bash": "command", "Read": "file_read", "Edit": "file_edit", "Write": "file_write"}
_SHELL_TYPES = frozenset(
    ("command", "git_other", "github", "test", "build", "lint", "install", "git_commit", "git_push")
)
_SHELL_TOOLS = frozenset(("Bash", "PowerShell", "shell", "run_shell_command", "exec_command", "local_shell",
                          "shell_command", "Monitor", "container.exec", "unified_exec"))  # fmt: skip
_LOCAL_SERVERS = words("""
    acp adb android applescript ast automator backlog beads blender browser calculator ccd chrome codebase
    commander computer dart desktop devtools diagnostics docker duckdb emacs episodic everything filesystem
    flutter fs git godot ide idea ios jetbrains journal jupyter knowledge language local lsp macos maestro mem
    memory mobile neovim nmem node notebook obsidian plan playwright private process puppeteer python repl
    repomix ripgrep roslyn sequential sequentialthinking serena session shell simulator sqlite task taskmaster
    terminal thinking time todo treesitter unity vscode xcode xcodebuild xcodebuildmcp zed
""")
"""Words in the names of MCP servers that work on this machine."""
_SERVICES = words("""
    airtable asana atlassian aws azure brave calendar clickup cloudflare confluence context7 datadog deepwiki
    discord exa figma firebase firecrawl github gitlab gmail google grafana hubspot jira linear netlify notion
    pagerduty perplexity posthog reddit salesforce sentry shopify slack stripe supabase tavily telegram trello
    twitter vercel youtube zapier
""")
"""Words in the names of those that do not, whatever else they are called."""
_QUESTIONS = words("""
    ask browse check count crawl describe diagnostics fetch find get history inspect list logs look lookup map
    open overview query read references resolve retrieve scrape screenshot search sequentialthinking show
    snapshot status symbols think thinking view whoami
""")
_DEEDS = words("""
    add append apply approve archive assign build click close comment commit create delete deploy draft edit
    execute fill insert install invite label mark merge move post press publish push remove rename replace reply
    run schedule send set start stop submit type update upload upsert write
""")
"""Words in the names of servers' tools."""
_BROWSERS = words("playwright puppeteer chrome devtools browser")
_CHANGES = ("edit", "write", "change")
_CUT = str.maketrans("_/-.:", "     ")


class Call:
    """What is known of one call; `role` is what it does, in one word, `changes` whether it changes files."""

    __slots__ = ("base", "changes", "external", "failed", "folder", "heads", "kind", "marks", "path", "role", "roles",
                 "text", "tool")  # fmt: skip

    def __init__(self, kind: str, tool: str, path: str, text: str, failed: bool) -> None:
        self.failed = failed
        self.tool = tool
        if kind == "mcp_call" and tool[-7:].rpartition("_")[2] in _WRAPPED:
            kind, path, text = _wrapped(tool, path, text)
        self.kind = kind
        self.text = clipped(text)
        self.heads: tuple[str, ...] = ()
        self.roles: tuple[str, ...] = ()
        self.marks: tuple[str, ...] = ()
        self.external = kind == "web_search" or (kind == "web_fetch" and not any(host in text for host in LOCAL_HOSTS))
        self.role = _BY_TYPE.get(kind, "run")
        if kind in _SHELL_TYPES or tool in _SHELL_TOOLS:
            self._shell()
        elif kind == "mcp_call":
            self.external = _serves(text)
            self.marks = _asks(text)
        elif kind == "task_spawn":
            self._send(text)
        path = path.replace("\\", "/") if "\\" in path else path
        self.path = path
        self.folder, _, self.base = path.rpartition("/")
        if self.role in ("write", "edit") and _is_plan(path.lower(), self.base.lower()):
            self.role = "plan"
        self.changes = self.role in _CHANGES

    def _send(self, text: str) -> None:
        if self.tool in ("Task", "Agent") and _explores(text):
            self.role = "explore"
        where = afar(text)
        self.external = where == "sure"
        if where:
            self.marks = (f"afar {where}",)

    def _shell(self) -> None:
        seen = look(self.text)
        self.heads, self.roles, self.marks = seen.heads, seen.roles, seen.marks
        self.external = seen.remote
        kind = self.kind
        if kind == "github":
            self.role = "see" if "see" in seen.roles and "run" not in seen.roles else "hub"
        elif kind in ("command", "git_other"):
            self.role = next((role for role in _RANK if role in seen.roles), "run")
            if "redirect" in self.marks and self.role in ("read", "see", "search"):
                self.role = "change"


def _serves(text: str) -> bool:
    """Whether an MCP server is elsewhere, or a browser is sent elsewhere."""
    name = text.partition(" ")[0]
    server = set(name.partition("/")[0].lower().translate(_CUT).split())
    if server & _SERVICES or not server & _LOCAL_SERVERS:
        return True
    return bool(server & _BROWSERS) and "://" in text and not any(host in text for host in LOCAL_HOSTS)


def _asks(text: str) -> tuple[str, ...]:
    """Whether a server's tool is named after a question or after a deed."""
    tool = text[:80].partition(" ")[0].rpartition("/")[2].lower().translate(_CUT).split()
    for word in tool:
        if word in _DEEDS:
            return ("does",)
        if word in _QUESTIONS:
            return ("asks",)
    return ()


def _wrapped(tool: str, path: str, text: str) -> tuple[str, str, str]:
    """A call of an editor's server that stands for the client's own tool."""
    kind = _WRAPPED[tool.rpartition("_")[2]]
    value = text.partition("=")[2]
    return (kind, path, value) if kind == "command" else (kind, path or value.partition(" ")[0], value)


def _is_plan(path: str, base: str) -> bool:
    """Whether a file is written to think in, not to be kept."""
    return base.endswith(".md") and ("/plans/" in path or path.startswith("plans/") or base.startswith("plan"))


def _explores(text: str) -> bool:
    """Whether a subagent is sent to find out, by the first of its words that says either."""
    for word in text[:160].lower().translate(_CUT).split()[:8]:
        if word.startswith(_SEARCHES):
            return True
        if word.startswith(_DOES):
            return False
    return False


_SEARCHES = tuple(sorted(words("""
    explor find search research analy investig underst review audit survey look map locat check inspect trac stud compar
    gather discover where how why summar read list scan examin identif найти изуч finde busca cherch 탐색 조사 分析 調査
    查找 untersuch prüf recherch verif
""")))  # fmt: skip
_DOES = tuple(sorted(words("""
    implement writ fix add creat port refactor updat test build migrat convert generat renam remov replac translat apply
    run mak
""")))  # fmt: skip


class Seen:
    """One call with what came before it."""

    __slots__ = ("call", "previous", "prompt")

    def __init__(self, call: Call, previous: Sequence[Call], prompt: str) -> None:
        self.call = call
        self.previous = previous
        """The session's last calls, newest first, at most WINDOW."""
        self.prompt = prompt
        """The user's prompt of the turn; empty when there is none."""

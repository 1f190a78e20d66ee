"""Lists the classifiers' features of a tool call, from the call, the calls before it, and its prompt."""

from __future__ import annotations

from capture.labels.before import THINKING, before
from capture.labels.wishes import CUT, Asked, asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.labels.calls import Call, Seen

_HEADS = 5
_CONTENT_WORDS = 12
_SPOKEN = frozenset(("delegate", "explore", "mcp", "web", "skill", "ask", "plan", "other"))
_CONFIG = ("json", "toml", "yaml", "yml", "ini", "cfg", "lock", "xml", "env", "none", "gradle", "conf")
_PROSE = ("md", "rst", "txt", "adoc", "mdx")
_FRONT = ("claude.md", "agents.md", "package.json", "pyproject.toml", "cargo.toml", "go.mod")
_LISTERS = ("Glob", "LS", "glob", "list_directory")


def features(seen: Seen) -> list[str]:
    """The words that hold of a call; each at most once."""
    asking, role, out = parts(seen)
    return out + asking.features(role)


def parts(seen: Seen) -> tuple[Asked, str, list[str]]:
    """The prompt and the role, which give words that many calls share, and the words of this call alone."""
    call = seen.call
    prompt = asked(seen.prompt)
    out = _own(call)
    out += before(call, seen.previous, prompt.first)
    if call.base and call.base.lower() in prompt.text:
        out.append(f"named+{call.role}")
    return prompt, call.role, out


def _own(call: Call) -> list[str]:
    """What the call is."""
    role = call.role
    out = [f"role:{role}", f"kind:{call.kind}", f"tool:{call.tool[:30]}"]
    if role not in THINKING:
        out.append("doing")
    out += [f"head:{head}" for head in call.heads[:_HEADS]]
    out += {f"does:{one}" for one in call.roles[:_HEADS] if one != "run" or role == "run"}
    out += [f"mark:{mark}" for mark in call.marks]
    if len(call.heads) > 1:
        out.append("several")
    if call.failed:
        out.append("failed")
        out.append(f"failed+{role}")
    if call.external:
        out += ("external", f"{role}+external")
    if call.path:
        out += _place(call)
    if role in _SPOKEN:
        words = call.text[:300].lower().translate(CUT).split()[:_CONTENT_WORDS]
        out += {f"says:{word[:12]}" for word in words}
    if call.kind == "search":
        out += _pattern(call)
    return out


def _place(call: Call) -> list[str]:
    """What sort of file it is."""
    base, role = call.base.lower(), call.role
    path = "/".join(call.path.rsplit("/", 3)[-3:]).lower()
    extension = base.rpartition(".")[2][:8] if "." in base else "none"
    if "test" in path or "spec" in base:
        sort = "test"
    elif "plan" in path:
        sort = "plan"
    elif extension in _PROSE:
        sort = "doc"
    elif extension in _CONFIG:
        sort = "config"
    else:
        sort = "code"
    out = [f"ext:{extension}", f"file:{sort}", f"{role}+{sort}"]
    if "/." in path or path[:1] == ".":
        out.append("hidden")
    if "readme" in base or base in _FRONT:
        out.append(f"{role}+front")
    return out


def _pattern(call: Call) -> list[str]:
    """How wide a search is."""
    text = call.text
    out = []
    if "**" in text:
        out.append("wide:**")
    if "*" in text:
        out.append("wide:*")
    if "|" in text and not call.heads:
        out.append("wide:|")
    word = text.partition(" in ")[0].strip()
    if word.isidentifier():
        out.append("wide:symbol")
    if call.tool in _LISTERS:
        out.append("wide:names")
    return out

"""Every message of the command line and the cockpit, a line each, to be read through: `python -m tests.messages`.

A message is a text of two words or more that is printed, raised, asked, shown as help or as a toast, or given as the
reason why a key does nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tests.house import House, Module, last_word

SAYS = frozenset(
    ("echo", "say", "tell", "confirm", "prompt", "secho", "option", "argument", "command", "group", "Action", "Setting",
     "Finding", "UsageError", "BadParameter", "ClickException", "Tool", "Param", "Words", "Tab", "notify", "Change")
)  # fmt: skip
REASONS = ("may_", "_why", "why_")


def messages(module: Module) -> Iterator[tuple[int, str]]:
    """Line and text of each message of a module, in the order of the text; {} where something is filled in."""
    seen: set[tuple[int, str]] = set()
    for node in module.nodes:
        for text in said(node):
            if (shown := worded(text)) and (found := (text.lineno, shown)) not in seen:
                seen.add(found)
    yield from sorted(seen)


def said(node: ast.AST) -> Iterator[ast.expr]:
    """The texts within a statement that says something."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        yield from texts(node.exc)
    elif isinstance(node, ast.Call) and last_word(node.func) in SAYS:
        yield from (text for given in (*node.args, *(each.value for each in node.keywords)) for text in texts(given))
    elif isinstance(node, ast.FunctionDef) and node.name.startswith(REASONS):
        yield from (text for each in ast.walk(node) if isinstance(each, ast.Return) and each.value
                    for text in texts(each.value))  # fmt: skip


def texts(node: ast.expr) -> Iterator[ast.expr]:
    """The outermost texts of an expression."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node
    else:
        yield from (
            text for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr) for text in texts(child)
        )


def worded(node: ast.expr) -> str:
    """A text as it is read; empty where it is one word or a statement of SQL."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
    plain = " ".join(text.split())
    return plain if " " in plain and any(each.isalpha() for each in plain) and not plain.isupper() else ""


def main() -> None:
    """Print them all, or those of the modules whose names begin with one of the words given."""
    wanted = tuple(sys.argv[1:]) or ("nmem", "nmem_tui", "capture")
    for name, module in House().modules.items():
        if name.startswith(wanted):
            sys.stdout.writelines(f"{name}:{line}: {text}\n" for line, text in messages(module))


if __name__ == "__main__":
    main()

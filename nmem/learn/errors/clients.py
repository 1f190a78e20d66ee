"""Error patterns of the coding clients' own tools: faulty calls, and calls that the user refused."""

from __future__ import annotations

import re

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import USAGE, WORLD

_REFUSED = re.compile(
    r"user doesn't want to (?:proceed|take this action)|tool use was rejected|Request (?:interrupted|was aborted)"
    r"|Permission to use [\w-]+ .{0,3000}?(?:has been|was) denied|^Sibling tool call|Cancelled: parallel tool call"
    r"|user (?:rejected|denied|declined|cancelled)|Interrupted by user|^Operation cancell?ed by user"
    r"|User chose to (?:stay|keep|continue)|Permission for this action has been denied|requested permissions? to use|doom loop",
    re.IGNORECASE | re.DOTALL,
)


def refused(text: str) -> bool:
    """Whether the call never ran because somebody did not let it."""
    return _REFUSED.search(text[:4_000]) is not None


RULES = (
    rule("client", USAGE, r"String to replace not found in file|string to replace not found|could not find the string to"
         r" replace|old_string not found|Failed to find expected lines",
         "text to replace not found", "Edit: the text to replace is not in the file"),
    rule("client", USAGE, r"Found \d+ matches of the string to replace|old_string is not unique|Expected 1 occurrence",
         "text to replace not unique", "Edit: the text to replace is there more than once"),
    rule("client", USAGE, r"File has not been read yet", "file not read before writing",
         "Write or Edit before the file was read"),
    rule("client", USAGE, r"File has been (?:unexpectedly )?modified since read", "file changed since it was read",
         "Edit: the file has changed since it was read"),
    rule("client", USAGE, r"exceeds maximum allowed (?:tokens|size)", "file too large to read whole",
         "Read: the file is too large to be read whole"),
    rule("client", USAGE, r"old_string and new_string are exactly the same", "edit changes nothing",
         "Edit: old and new text are the same"),
    rule("client", USAGE, r"EISDIR: illegal operation on a directory", "read of a folder", "Read: it is a folder"),
    rule("client", USAGE, r"^Unknown skill: (?P<name>\S+)", "unknown skill {name}", "Unknown skill: {name}"),
    rule("client", USAGE, r"^Skill (?P<name>\S+) is not a prompt-based skill", "no skill {name}", "{name} is no skill"),
    rule("client", USAGE, r"^No task found with ID", "no such task", "TaskOutput: no such task"),
    rule("client", USAGE, r"Agent type '(?P<name>[^']+)' not found", "unknown agent type {name}",
         "Unknown agent type: {name}"),
    rule("client", USAGE, r"No such tool available: (?P<name>\S+)", "no tool {name}", "No such tool: {name}"),
    rule("client", USAGE, r"^(?:<tool_use_error>)?(?:File|Path) does not exist(?:: (?P<tail>[^\s(]+?)[.,]?(?= |$))?",
         "does not exist {tail}", "{tail} does not exist"),
    rule("client", USAGE, r"InputValidationError: (?P<message>.{0,120})", "invalid input {message}",
         "Tool called with invalid input: {message}"),
    rule("client", WORLD, r"^MCP error (?P<code>-?\d+): (?P<message>.{0,120})", "mcp {code} {message}",
         "MCP error {code}: {message}"),
    rule("client", USAGE, r"was blocked\. For security, .{0,60}may only", "folder outside of what is allowed",
         "A folder outside of those that the client may use"),
)  # fmt: skip

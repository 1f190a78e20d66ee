"""Shells and what every program says of its arguments: POSIX, PowerShell, cmd."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import USAGE, WORLD

RULES = (
    rule("shell", WORLD, r"command not found: (?P<name>[^\s:]+)|(?P<program>[^\s:]+): (?:command )?not found$"
         r"|The term '(?P<term>[^']+)' is not recognized|'(?P<word>[^']+)' is not recognized as an internal"
         r"|Unknown command: (?P<unknown>\S+)$|exec: \"(?P<exec>[^\"]+)\": executable file not found",
         "no command {name}{program}{term}{word}{unknown}{exec}", "{name}{program}{term}{word}{unknown}{exec}: command not found",
         "not found|not recognized|Unknown command"),
    rule("shell", USAGE, r"cd: (?P<target>[/~][^\s:]*|[A-Za-z]:[^\s:]+): No such file"
         r"|cd:(?:\d+:)? no such file or directory: (?P<folder>[/~]\S*|[A-Za-z]:\S+)",
         "cd {target}{folder}", "cd {target}{folder}: no such folder", "cd:"),
    rule("shell", USAGE, r"cd: [^\s:]+: No such file or directory|cd:(?:\d+:)? no such file or directory: \S+"
         r"|Set-Location\b.{0,20}Cannot find path", "cd relative",
         "A relative `cd` fails: the shell is in another folder than expected", "cd:|Set-Location"),
    rule("shell", USAGE, r"(?:no matches found): (?P<argument>\S+)", "no match for a pattern",
         "The shell finds nothing for an unquoted pattern", "no matches found"),
    rule("shell", USAGE, r"(?:unexpected EOF while looking for matching|syntax error near unexpected token|parse error near"
         r"|unterminated quoted string|unmatched [\"'`]|bad substitution|bad pattern)", "syntax", "The shell cannot read the command"),
    rule("shell", USAGE, r"The token '(?P<token>&&|\|\|)' is not a valid statement separator", "powershell {token}",
         "PowerShell knows no {token}"),
    rule("shell", USAGE, r"ParserError|Unexpected token .{1,60} in expression or statement", "powershell syntax",
         "PowerShell cannot read the command"),
    rule("program", USAGE, r"^(?:[\w./-]+: )?(?P<said>(?:unrecognized|unknown|invalid|unexpected|illegal) (?:sub)?(?:option|command|argument|flag|subcommand)"
         r"s?\b.{0,100})", "{said}", "{said}", "nrecognized|nknown|nvalid|nexpected|llegal"),
    rule("program", USAGE, r"^error: (?P<said>(?:unrecognized|unknown|invalid|unexpected) .{1,100})", "{said}", "{said}", "error: "),
    rule("program", USAGE, r"the following (?:required )?arguments (?:are required|were not provided)(?:: (?P<argument>[^\s]+))?",
         "argument missing {argument}", "An argument is missing: {argument}", "arguments"),
    rule("shell", WORLD, r"(?P<program>[\w.-]+): (?P<file>[^:]{1,200}): Permission denied|[Pp]ermission denied(?:: (?P<name>\S+))?|\bEACCES\b",
         "permission denied {file}{name}", "Permission denied: {file}{name}", "ermission denied|EACCES"),
    rule("program", WORLD, r"Operation not permitted|\bEPERM\b", "not permitted", "Operation not permitted"),
    rule("shell", USAGE, r"(?:(?P<program>[\w.-]+): )?(?:cannot (?:access|stat|open|remove) |can't (?:open|read) (?:input file: |file )?)?"
         r"['\"‘]?(?P<file>[^'\"’:\s]{1,200})['\"’]?: No such file or directory", "no file {file}", "No such file: {file}",
         "No such file"),
    rule("shell", USAGE, r"^(?:\(eval\)|zsh|-?bash):(?:\d+:)? no such file or directory: (?P<file>\S+)", "no file {file}",
         "No such file: {file}", "no such file"),
    rule("shell", USAGE, r"ENOENT: no such file or directory, (?P<call>\w+) '(?P<file>[^']+)'", "no file {file}", "No such file: {file}",
         "ENOENT"),
    rule("program", WORLD, r"^(?:Command timed out after|timeout: sending signal|.{0,40}timed out after \d)", "time out", "The command times out",
         "imed out|timeout:"),
    rule("program", WORLD, r"^(?:Killed|.{0,60}Out of memory|.{0,40}signal: killed)", "killed", "The command is killed", "illed|Out of memory"),
    rule("program", WORLD, r"Argument list too long", "too many arguments", "The argument list is too long"),
    rule("program", WORLD, r"^(?:zsh: )?[Ss]egmentation fault", "segmentation fault", "Segmentation fault"),
)  # fmt: skip

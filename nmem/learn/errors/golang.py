"""Go: the compiler, modules, tests."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, TEST, USAGE, WORLD

RULES = (
    rule("go", TEST, r"^(?:\s*)--- FAIL: (?P<test>[^\s(]+)", "test {test}", "test {test} fails", "--- FAIL"),
    rule("go", WORLD, r"no required module provides package (?P<package>[\w./-]+)", "no module for {package}",
         "No required Go module provides {package}", "no required module"),
    rule("go", WORLD, r"missing go\.sum entry", "go.sum entry missing", "go.sum lacks an entry: go mod tidy"),
    rule("go", WORLD, r"go(?:\.mod)?: .{0,60}(?:updates to go\.mod needed|inconsistent vendoring)", "go.mod out of date",
         "go.mod is out of date: go mod tidy", "go"),
    rule("go", WORLD, r"requires go >= [\d.]+", "go too old", "Another version of Go is needed", "requires go"),
    rule("go", USAGE, r"directory prefix \S+ does not contain (?:main module|modules listed)", "folder of no module",
         "go is run outside of the module's folder", "directory prefix"),
    rule("go", USAGE, r"go(?:\.mod file not found in current directory|: cannot find main module)", "no go.mod here",
         "There is no go.mod here", "go"),
    rule("go", USAGE, r"named files must (?:be \.go files|all be in one directory)", "files of several packages",
         "go is given files that are no package", "named files must"),
    rule("go", USAGE, r"^(?:stat|lstat) (?P<file>\S+): (?:directory|no such file)", "no folder {file}",
         "go: no such folder: {file}", "stat "),
    rule("go", USAGE, r"(?:no Go files in|build constraints exclude all Go files in) (?P<file>\S+)", "no Go files in {file}",
         "no Go files in {file}", "Go files"),
    rule("go", USAGE, r"^flag provided but not defined: (?P<argument>-[\w-]+)", "no flag {argument}",
         "no such flag: {argument}", "flag provided"),
    rule("go", USAGE, r"^package (?P<package>[\w./-]+) is not in (?:std|GOROOT)", "no package {package}",
         "no Go package {package}", "is not in"),
    rule("go", TEST, r"^panic: test timed out after", "tests time out", "The tests time out"),
    rule("go", CODE, r"^panic: (?P<said>.{1,160})", "panic {said}", "panic: {said}", "panic: "),
    rule("go", CODE, r"(?P<file>[\w.-]+\.go):\d+:\d+: (?P<said>(?:undefined: |cannot use |declared and not used|.{0,80}imported and"
         r" not used|missing return|syntax error|invalid operation|too many |not enough |assignment mismatch|unknown field"
         r"|duplicate |.{0,60}redeclared|could not import|cannot ).{0,160})$",
         "{file} {said}", "{said} ({file})", ".go:"),
)  # fmt: skip

"""Ruby, PHP, Elixir, .NET, Swift, databases: a few lines each."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, TEST, WORLD

RULES = (
    rule("rspec", TEST, r"^rspec (?P<where>\./\S+?):\d+ # (?P<test>.{1,160})", "test {test}", "test {test} fails", "rspec ./"),
    rule("exunit", TEST, r"^\d+\) (?P<test>test .{1,140}) \((?P<module>[\w.]+)\)$", "test {module} {test}", "{test} fails", ") test "),
    rule("phpunit", TEST, r"^\d+\) (?P<test>[\w\\]+::\w+)", "test {test}", "test {test} fails", "::"),
    rule("dotnet", TEST, r"^Failed (?P<test>[\w.]+(?:\([^)]{0,80}\))?) \[", "test {test}", "test {test} fails", "Failed "),
    rule("dotnet", CODE, r"error (?P<code>(?:CS|NU|NETSDK|FS)\d{4}): (?P<said>.{1,160}?)(?: \[[^\]]+\])?$", "{code} {said}", "{code}: {said}", "error "),
    rule("ruby", WORLD, r"cannot load such file -- (?P<file>\S+)", "no file {file}", "Ruby cannot load {file}", "cannot load"),
    rule("php", CODE, r"PHP (?:Fatal|Parse) error: +(?P<said>.{1,160})", "{said}", "PHP: {said}", "PHP "),
    rule("database", WORLD, r"database is locked|SQLITE_BUSY", "sqlite locked", "The SQLite database is locked"),
    rule("database", WORLD, r"(?:FATAL: +|error: )?(?P<what>database|role|relation|table) \"(?P<name>[^\"]+)\" does not exist",
         "no {what} {name}", "The {what} {name} does not exist", "does not exist"),
    rule("database", WORLD, r"no such (?P<what>table|column): (?P<name>[\w.]+)", "no {what} {name}", "There is no {what} {name}",
         "no such"),
    rule("database", WORLD, r"password authentication failed for user", "authentication fails", "The database refuses the password"),
)  # fmt: skip

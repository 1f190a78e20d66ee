"""Rust: rustc, cargo and its tests."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, TEST, USAGE, WORLD

RULES = (
    rule("cargo", WORLD, r"^error: no such (?:sub)?command: `(?P<name>[\w-]+)`", "no command {name}",
         "cargo {name} is not installed", "no such"),
    rule("cargo", WORLD, r"linker `(?P<name>[^`]+)` not found", "no linker {name}", "The linker {name} is not found"),
    rule("cargo", WORLD, r"can't find crate for `(?P<name>\w+)`", "no crate {name}", "Rust crate {name} is not found"),
    rule("cargo", WORLD, r"failed to select a version for (?:the requirement )?`(?P<name>[\w-]+)",
         "no version of {name}", "cargo finds no version of {name}"),
    rule("cargo", WORLD, r"could not find `Cargo\.toml`", "no Cargo.toml", "There is no Cargo.toml here"),
    rule("cargo", USAGE, r"package ID specification `(?P<name>[^`]+)` did not match any packages", "no package {name}",
         "cargo knows no package {name}"),
    rule("cargo", USAGE, r"^error: no (?P<what>bin|test|example|bench|lib) target named `(?P<name>[^`]+)`",
         "no {what} {name}", "cargo knows no {what} target {name}", "target named"),
    rule("cargo", USAGE, r"Package `(?P<name>[^`]+)` does not have feature `(?P<feature>[^`]+)`",
         "no feature {feature} of {name}", "{name} has no feature {feature}"),
    rule("cargo", WORLD, r"error: failed to run custom build command for `(?P<name>[\w-]+)", "build script of {name}",
         "The build script of {name} fails"),
    rule("cargo", WORLD, r"rustc [\d.]+ is not supported by|requires rustc [\d.]+ or newer", "rustc too old",
         "Another version of rustc is needed"),
    rule("rust", CODE, r"^error\[(?P<code>E\d{4})\]: (?P<said>.{1,200})", "{code} {said}", "{code}: {said}", "error[E"),
    rule("cargo", TEST, r"^test (?P<test>[\w:]+)(?: - [^.]{0,60})? \.\.\. FAILED$", "test {test}", "test {test} fails",
         "... FAILED"),
    rule("cargo", TEST, r"^---- (?P<test>[\w:]+) stdout ----$", "test {test}", "test {test} fails", "stdout ----"),
    rule("cargo", TEST, r"^(?:FAIL|SIGABRT|TIMEOUT) \[ *[\d.]+s\] (?:\([\s\d/]+\) )?(?P<crate>\S+) (?P<test>[\w:]+)$",
         "test {test}", "test {test} fails", "s]"),
)  # fmt: skip

"""JavaScript and TypeScript: tsc, node, jest, vitest, bun, playwright."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, TEST, USAGE, WORLD

RULES = (
    rule("typescript", WORLD, r"error TS2307: Cannot find module '(?P<said>(?:@[\w.-]+/)?[A-Za-z][^']*)'",
         "TS2307 {said}", "TS2307: cannot find module {said}"),
    rule("typescript", USAGE, r"error (?P<code>TS(?:5\d{3}|6\d{3}|18\d{3})): (?P<said>.{1,200})",
         "{code} {said}", "{code}: {said}", "error TS"),
    rule("typescript", CODE, r"error (?P<code>TS\d{3,5}): (?P<said>.{1,220})", "{code} {said}", "{code}: {said}",
         "error TS"),
    rule("node", WORLD, r"(?:Cannot find (?:module|package)|Could not resolve|Can't resolve)"
         r":? ['\"](?P<module>(?:@[\w.-]+/)?[A-Za-z][\w.-]*)(?:/[^'\"]*)?['\"]",
         "no module {module}", "JavaScript module {module} is not found", "Cannot find|Could not resolve|Can't resolve"),
    rule("node", CODE, r"(?:Cannot find module|Could not resolve|Can't resolve|Module not found).{0,20}['\"](?P<file>[^'\"]+)['\"]",
         "no module file {file}", "JavaScript module {file} is not found", "module|Module|resolve"),
    rule("node", WORLD, r"\b(?P<code>ERR_REQUIRE_ESM|ERR_UNKNOWN_FILE_EXTENSION|ERR_UNSUPPORTED_DIR_IMPORT|ERR_DLOPEN_FAILED"
         r"|ERR_OSSL_EVP_UNSUPPORTED|ERR_PACKAGE_PATH_NOT_EXPORTED)\b", "{code}", "{code}", "ERR_"),
    rule("node", WORLD, r"JavaScript heap out of memory", "heap out of memory", "JavaScript heap out of memory"),
    rule("node", WORLD, r"(?:The engine \"node\" is incompatible|Unsupported engine|requires Node(?:\.js)? (?:version )?[>^~\d])",
         "node version", "Another version of Node is needed"),
    rule("vitest", WORLD, r"Cannot find dependency '(?P<module>[^']+)'", "no module {module}", "{module} is not installed"),
    rule("playwright", WORLD, r"Executable doesn't exist at|Please run the following command to download new browsers",
         "no browser installed", "Playwright's browser is not installed"),
    rule("jest", TEST, r"^● (?P<test>[^›]{1,120} › .{1,160})$", "test {test}", "test {test} fails", "●"),
    rule("vitest", TEST, r"^(?:FAIL|❯|×) +(?P<file>\S+\.(?:test|spec)\.[cm]?[jt]sx?) > (?P<test>.{1,160})$",
         "test {file} {test}", "test {test} fails", " > "),
    rule("bun", TEST, r"^\(fail\) (?P<test>.{1,160}?)(?: \[[\d.]+m?s\])?$", "test {test}", "test {test} fails", "(fail)"),
    rule("jest", TEST, r"^FAIL +(?P<file>\S+\.(?:test|spec)\.[cm]?[jt]sx?)", "tests of {file}", "tests of {file} fail",
         "FAIL"),
    rule("jest", USAGE, r"^No tests found|No test files found", "no tests found", "No tests found"),
    rule("bun", USAGE, r"The following filters did not match any test files", "no tests found", "No tests found"),
    rule("node", CODE, r"^(?:Uncaught )?(?P<type>(?:Reference|Range)Error|TypeError(?=: .{0,160}(?:is not a (?:function|constructor)|undefined|null|is not iterable$))): (?P<said>.{1,200})$",
         "{type} {said}", "{type}: {said}", "Error: "),
)  # fmt: skip

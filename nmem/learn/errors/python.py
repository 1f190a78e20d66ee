"""Python: tracebacks, pytest and unittest, the interpreter's own complaints."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, TEST, USAGE, WORLD

RULES = (
    rule("python", WORLD, r"ModuleNotFoundError: No module named ['\"](?P<module>[\w.]+)",
         "no module {module}", "Python module {module} is not installed"),
    rule("python", WORLD, r"No module named (?P<module>[A-Za-z_][\w.]*)$",
         "no module {module}", "Python module {module} is not installed", "No module named"),
    rule("python", CODE, r"ImportError: cannot import name ['\"](?P<symbol>\w+)['\"] from ['\"](?P<module>[\w.]+)",
         "cannot import {symbol} from {module}", "cannot import {symbol} from {module}"),
    rule("python", USAGE, r"can't open file ['\"]?(?P<file>[^'\"]+?)['\"]?: \[Errno 2\]",
         "no script {file}", "Python script {file} does not exist", "can't open file"),
    rule("python", WORLD, r"(?:error: |ERROR: )?externally-managed-environment",
         "externally managed environment", "pip may not install here: the environment is managed externally"),
    rule("pytest", TEST, r"^(?:FAILED|ERROR) (?P<where>[^\s:]+\.py)::(?P<test>[\w\[\]:.-]+)",
         "test {test}", "test {test} fails", "FAILED|ERROR"),
    rule("pytest", TEST, r"^_{3,} (?:ERROR at \w+ of )?(?P<test>[\w.\[\]-]+) _{3,}$",
         "test {test}", "test {test} fails", "___"),
    rule("pytest", USAGE, r"^ERROR: file or directory not found: (?P<file>\S+)",
         "no test file {file}", "pytest: no such test file: {file}"),
    rule("pytest", USAGE, r"^ERROR: not found: \S*?(?P<file>[^/\s:]+::[\w:\[\]-]+)",
         "no test {file}", "pytest: no such test: {file}"),
    rule("pytest", USAGE, r"^(?:ERROR: |\S+: error: )unrecognized arguments: (?P<argument>-{0,2}[\w-]+)",
         "unrecognized argument {argument}", "unrecognized argument {argument}", "unrecognized arguments"),
    rule("pytest", CODE, r"^ERROR collecting (?P<file>\S+)|^ERROR (?P<name>\S+\.py)$",
         "cannot collect {file}{name}", "pytest cannot collect {file}{name}", "ERROR"),
    rule("unittest", TEST, r"^(?:FAIL|ERROR): (?P<test>\w+) \((?P<class>[\w.]+)\)",
         "test {class}.{test}", "test {test} fails", "FAIL: |ERROR: "),
    rule("python", WORLD, r"^(?P<type>PermissionError|FileNotFoundError|IsADirectoryError|OSError): \[Errno (?P<code>(?!98|48)\d+)\]"
         r" (?P<said>.{1,200})", "{type} {code} {said}", "{type}: {said}", "[Errno"),
    rule("python", WORLD, r"(?P<type>ConnectionRefusedError|TimeoutError|ReadTimeout|ConnectTimeout|ConnectionError"
         r"|SSLError|OperationalError): (?P<message>.{0,160})", "{type} {message}", "{type}: {message}", "Error|Timeout"),
    rule("python", CODE, r"^(?:E +)?(?:[\w]+\.)*(?P<type>(?!ReferenceError|RangeError|OSError)[A-Z]\w*(?:Error|Exception|Warning|Interrupt))"
         r"(?:: (?P<said>.{0,200}))?$", "{type} {said}", "{type}: {said}", "Error|Exception|Warning|Interrupt"),
)  # fmt: skip

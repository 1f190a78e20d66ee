"""C and C++: gcc, clang, linkers, make, CMake."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, USAGE, WORLD

RULES = (
    rule("c", WORLD, r"fatal error: '?(?P<header>[\w./+-]+\.(?:h|hpp|hh|hxx))'?(?:: No such file| file not found)",
         "no header {header}", "The header {header} is not found", "fatal error"),
    rule("linker", WORLD, r"(?:cannot find -l|library not found for -l|library '|unable to find library -l)(?P<name>[\w+.-]+)",
         "no library {name}", "The library {name} is not found", "librar|cannot find -l"),
    rule("linker", CODE, r"undefined reference to [`'\"](?P<symbol>[^'`\"]{1,160})['`\"]", "undefined {symbol}",
         "undefined reference to {symbol}", "undefined reference"),
    rule("linker", CODE, r"^\"?_?(?P<symbol>[\w:~<>(), *&]{1,120})\"?, referenced from:", "undefined {symbol}",
         "undefined symbol {symbol}", "referenced from:"),
    rule("linker", CODE, r"multiple definition of [`'\"](?P<symbol>[^'`\"]{1,120})", "multiple {symbol}",
         "multiple definition of {symbol}"),
    rule("c", CODE, r"(?P<file>[\w.+-]+\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|cu|swift)):\d+(?::\d+)?: (?:fatal )?error: (?P<said>.{1,180})",
         "{file} {said}", "{said} ({file})", "error:"),
    rule("msvc", CODE, r"(?P<file>[\w.+-]+)\(\d+(?:,\d+)?\): (?:fatal )?error (?P<code>(?:C|LNK|D|RC|MSB)\d{4}): (?P<said>.{1,160})",
         "{code} {said}", "{code}: {said}", "error "),
    rule("make", USAGE, r"No rule to make target [`'\"](?P<file>[^'`\"]+)['`\"]", "no target {file}",
         "make knows no target {file}", "No rule to make"),
    rule("make", USAGE, r"No targets specified and no makefile found", "no makefile", "There is no makefile here"),
    rule("cmake", WORLD, r"Could NOT find (?P<name>\w+)|Could not find a package configuration file provided by \"(?P<package>\w+)",
         "cannot find {name}{package}", "CMake cannot find {name}{package}", "Could "),
    rule("cmake", CODE, r"^CMake Error(?: at (?P<file>[\w./-]+)(?::\d+)?)?", "error {file}", "CMake error in {file}"),
)  # fmt: skip

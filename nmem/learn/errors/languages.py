"""Error patterns of compilers, runtimes, test runners and linters, by language."""

from __future__ import annotations

from nmem.learn.errors.rules import CODE, RULE, TEST, USAGE, WORLD, rule

JAVASCRIPT = (
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
"""JavaScript and TypeScript: tsc, node, jest, vitest, bun, playwright."""

PYTHON = (
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
"""Python: tracebacks, pytest and unittest, the interpreter's own complaints."""

RUST = (
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
"""Rust: rustc, cargo and its tests."""

GOLANG = (
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
"""Go: the compiler, modules, tests."""

JVM = (
    rule("maven", WORLD, r"Could not (?:resolve|find) (?:dependencies|artifact|plugin)\w*(?: for project)? (?P<said>[\w.:-]+)",
         "no artifact {said}", "Maven cannot resolve {said}", "Could not"),
    rule("maven", USAGE, r"there is no POM in this directory", "no POM here", "There is no POM in this folder"),
    rule("maven", USAGE, r"Could not find the selected project in the reactor: (?P<said>\S+)", "no project {said}",
         "Maven knows no project {said}"),
    rule("maven", USAGE, r"Unknown lifecycle phase \"(?P<name>[^\"]+)\"", "no phase {name}", "Maven knows no phase {name}"),
    rule("gradle", USAGE, r"Task '(?P<name>[^']+)' not found in", "no task {name}", "Gradle knows no task {name}"),
    rule("gradle", WORLD, r"Could not (?:resolve|find|get) (?:all \w+ for configuration '(?P<configuration>[^']+)'|(?P<said>[\w.-]+:[\w.:-]+))",
         "cannot resolve {configuration}{said}", "Gradle cannot resolve {configuration}{said}", "Could not"),
    rule("gradle", WORLD, r"Gradle build daemon disappeared unexpectedly", "daemon disappeared",
         "The Gradle daemon disappeared"),
    rule("gradle", WORLD, r"SDK location not found", "no Android SDK", "The Android SDK is not found"),
    rule("jvm", WORLD, r"(?:Unsupported class file major version|invalid (?:source|target) release|has been compiled by a more"
         r" recent version|UnsupportedClassVersionError|Unable to locate a Java Runtime|JAVA_HOME is (?:not set|set to an))",
         "java version", "Another Java is needed"),
    rule("jvm", WORLD, r"java\.lang\.OutOfMemoryError|Java heap space", "out of memory", "Java runs out of memory"),
    rule("surefire", TEST, r"^\[ERROR\]\s+(?P<test>\w+\.\w+)(?::\d+)?(?:»|->| )", "test {test}", "test {test} fails",
         "[ERROR]"),
    rule("gradle", TEST, r"^(?P<test>\w+(?:Test|Tests|Spec|IT) > .{1,120}?)(?:\(\))? FAILED$", "test {test}",
         "test {test} fails", "FAILED"),
    rule("javac", CODE, r"(?P<file>\w+\.(?:java|kt|scala)):\[?\d+(?:[,:]\d+)?\]?:? (?:error: )?(?P<said>.{3,160})",
         "{file} {said}", "{said} ({file})", ".java:|.kt:|.scala:"),
    rule("gradle", CODE, r"Execution failed for task '(?P<task>[^']+)'", "task {task}", "Gradle task {task} fails"),
    rule("jvm", CODE, r"(?:Exception in thread \"[^\"]*\"|Caused by:) (?:[\w$]+\.)*(?P<type>[\w$]+)(?:: (?P<message>.{0,160}))?$",
         "{type} {message}", "{type}: {message}", "Exception in|Caused by"),
)  # fmt: skip
"""Java and Kotlin: javac, Maven, Gradle, surefire."""

_GO = (
    "errcheck|gosec|dupl|nilerr|wrapcheck|unused|ineffassign|staticcheck|gocritic|revive|gocyclo|funlen|lll|nestif|goconst"
    "|misspell|unparam|unconvert|prealloc|stylecheck|typecheck|govet|gosimple|bodyclose|noctx|exhaustive|forcetypeassert"
    "|maintidx|cyclop|gocognit|nakedret|perfsprint|testifylint|usetesting|intrange|modernize|errorlint|nolintlint|forbidigo"
    "|deprecatedComment|recvcheck|ireturn|nilnil|thelper|paralleltest|tparallel|copyloopvar|gofumpt|gci|gofmt|goimports"
    "|whitespace|wsl|godot|varnamelen|contextcheck|containedctx|mnd|depguard|exhaustruct|dogsled|asciicheck|gochecknoglobals"
)

LINTERS = (
    rule("golangci", RULE, r"\.go:\d+(?::\d+)?: (?P<code>G\d{3}|SA\d{4}|S\d{4}|ST\d{4}|QF\d{4}|[a-z][A-Za-z-]{3,30}): .{0,400}"
         r"\((?P<rule>gosec|staticcheck|stylecheck|gosimple|gocritic|revive|govet|modernize)\)$", "{rule} {code}",
         "golangci-lint: {rule} {code}", ".go:"),
    rule("golangci", RULE, rf"\.go:\d+(?::\d+)?: .{{0,400}}\((?P<rule>{_GO})\)$", "{rule}",
         "golangci-lint: {rule}", ".go:"),
    rule("golangci", RULE, r"\.go:\d+(?::\d+)?: error returned from (?:external package|interface method) .{0,20}(?:is unwrapped|should be wrapped)",
         "wrapcheck", "golangci-lint: wrapcheck", "should be wrapped|is unwrapped"),
    rule("golangci", RULE, r"\.go:\d+(?::\d+)?: string `.{0,200}` has \d+ occurrences", "goconst", "golangci-lint: goconst", "occurrences"),
    rule("golangci", RULE, r"\.go:\d+(?::\d+)?: missing cases in switch of type", "exhaustive", "golangci-lint: exhaustive", "missing cases"),
    rule("mypy", WORLD, r"Cannot find implementation or library stub for module named \"(?P<module>[\w.]+)\"",
         "no module {module}", "mypy finds no module {module}"),
    rule("mypy", WORLD, r"Library stubs not installed for \"(?P<module>[\w.]+)\"", "no stubs {module}",
         "mypy: stubs of {module} are not installed"),
    rule("mypy", CODE, r"\.py:\d+(?::\d+)?: error: (?P<said>.{1,200}?) +\[(?P<code>[a-z-]+)\]$", "{code} {said}",
         "mypy: {said}", ": error:"),
    rule("pyright", CODE, r"\.pyi?:\d+:\d+ - error: (?P<said>.{1,180}?)(?: \((?P<code>report\w+)\))?$", "{code} {said}",
         "pyright: {said}", " - error:"),
    rule("ruff", RULE, r"^(?:\S+\.pyi?:\d+:\d+: )?(?P<code>[A-Z]{1,4}\d{3,4}) (?:\[\*\] )?(?P<message>[A-Za-z`'\"].{3,160})$",
         "{code}", "{code}: {message}"),
    rule("pylint", RULE, r"\.py:\d+:\d+: (?P<code>[CRWEF]\d{4}): .{1,300}\((?P<rule>[a-z-]+)\)$", "{rule}", "pylint: {rule}",
         ".py:"),
    rule("ruff", RULE, r"^Would reformat: |^\d+ files? would be reformatted|^would reformat ", "would reformat",
         "The Python formatter would change files", "eformat"),
    rule("biome", RULE, r"Formatter would have printed|File content differs from formatting output",
         "format", "biome: the formatter would change files"),
    rule("biome", RULE, r"\b(?P<rule>(?:lint|assist)/[a-z0-9A-Z]+/[a-zA-Z0-9]+)\b", "{rule}", "biome: {rule}", "lint/|assist/"),
    rule("prettier", RULE, r"Code style issues (?:found|were found) in|^\[warn\] .{1,200}Run Prettier", "format",
         "prettier would change files"),
    rule("eslint", RULE, r"^\d+:\d+ +(?:error|✖) +.{1,300}? +(?P<rule>@?[a-z][\w/-]*[a-z])$", "{rule}", "eslint: {rule}"),
    rule("eslint", WORLD, r"ESLint couldn't find (?:an eslint\.config|a configuration|the (?:config|plugin) \"(?P<name>[^\"]+))",
         "no configuration {name}", "ESLint finds no configuration {name}"),
    rule("stylelint", RULE, r"^\d+:\d+ +✖ .{1,200}? +(?P<rule>[a-z][a-z-]+)$", "{rule}", "stylelint: {rule}", "✖"),
    rule("markdownlint", RULE, r"\b(?P<rule>MD\d{3})(?:/[\w-]+)? ", "{rule}", "markdownlint: {rule}", "MD0"),
    rule("shellcheck", RULE, r"\b(?P<rule>SC\d{4})\b", "{rule}", "shellcheck: {rule}", "SC1|SC2|SC3"),
    rule("hadolint", RULE, r"\b(?P<rule>DL\d{4})\b", "{rule}", "hadolint: {rule}", "DL"),
    rule("rubocop", RULE, r":\d+:\d+: [CWEF]: (?:\[Corr\w+\] )?(?P<rule>[A-Z]\w+/\w+)", "{rule}", "rubocop: {rule}"),
    rule("clippy", RULE, r"(?:rust-clippy/[^#\s]*#|clippy::)(?P<rule>[a-z_]+)", "{rule}", "clippy: {rule}", "clippy"),
    rule("rustfmt", RULE, r"^Diff in \S+\.rs", "format", "rustfmt would change files", "Diff in"),
    rule("credo", RULE, r"^\[[RCDFW]\] [→↗↘↓↑] (?P<message>.{1,160})", "{message}", "credo: {message}"),
)  # fmt: skip
"""Linters, formatters and type checkers: the rule that was broken is the cause, not the place."""

NATIVE = (
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
"""C and C++: gcc, clang, linkers, make, CMake."""

"""Linters, formatters and type checkers: the rule that was broken is the cause, not the place."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, RULE, WORLD

_GO = (
    "errcheck|gosec|dupl|nilerr|wrapcheck|unused|ineffassign|staticcheck|gocritic|revive|gocyclo|funlen|lll|nestif|goconst"
    "|misspell|unparam|unconvert|prealloc|stylecheck|typecheck|govet|gosimple|bodyclose|noctx|exhaustive|forcetypeassert"
    "|maintidx|cyclop|gocognit|nakedret|perfsprint|testifylint|usetesting|intrange|modernize|errorlint|nolintlint|forbidigo"
    "|deprecatedComment|recvcheck|ireturn|nilnil|thelper|paralleltest|tparallel|copyloopvar|gofumpt|gci|gofmt|goimports"
    "|whitespace|wsl|godot|varnamelen|contextcheck|containedctx|mnd|depguard|exhaustruct|dogsled|asciicheck|gochecknoglobals"
)

RULES = (
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

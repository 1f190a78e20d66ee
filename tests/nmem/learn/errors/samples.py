"""Invented outputs of failed calls: each cause told twice, on two machines and days."""

from __future__ import annotations

from typing import NamedTuple


class Sample(NamedTuple):
    """One cause in two outputs."""

    ecosystem: str
    nature: str
    one: str
    other: str


SAMPLES = (
    # Python
    Sample("python", "world", "Traceback (most recent call last):\n  File \"/home/ana/shop/app.py\", line 3, in <module>\n"
           "ModuleNotFoundError: No module named 'yaml'",
           "Traceback (most recent call last):\n  File \"C:\\work\\till\\main.py\", line 91, in run\n"
           "ModuleNotFoundError: No module named 'yaml'"),
    Sample("python", "world", "/usr/bin/python3: No module named pytest", "/opt/py/bin/python3.12: No module named pytest"),
    Sample("python", "code", "ImportError: cannot import name 'Basket' from 'shop.cart' (/home/a/shop/cart.py)",
           "E   ImportError: cannot import name 'Basket' from 'shop.cart' (/srv/ci/shop/cart.py)"),
    Sample("python", "usage", "python: can't open file '/home/ana/shop/tools/seed.py': [Errno 2] No such file or directory",
           "python3: can't open file '/Users/bo/shop/tools/seed.py': [Errno 2] No such file or directory"),
    Sample("python", "world", "error: externally-managed-environment\n\n× This environment is externally managed",
           "error: externally-managed-environment\nhint: see PEP 668"),
    Sample("pytest", "test", "FAILED tests/test_cart.py::test_total - assert 12 == 24\n1 failed in 0.31s",
           "FAILED /ci/build-77/tests/test_cart.py::test_total - assert 3 == 9\n1 failed in 12.02s"),
    Sample("pytest", "test", "____________ test_refund_is_rounded ____________\n\n    def test_refund_is_rounded():",
           "______ test_refund_is_rounded ______"),
    Sample("pytest", "usage", "ERROR: file or directory not found: tests/unit/test_gone.py\n",
           "ERROR: file or directory not found: /w/shop/tests/unit/test_gone.py"),
    Sample("pytest", "usage", "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=shop",
           "__main__.py: error: unrecognized arguments: --cov"),
    Sample("unittest", "test", "FAIL: test_price (shop.tests.PriceTest)\n-----", "FAIL: test_price (shop.tests.PriceTest)"),
    Sample("python", "world", "sqlite3.OperationalError: attempt to write a readonly database",
           "OperationalError: attempt to write a readonly database"),
    Sample("python", "code", "KeyError: 'voucher'", "E       KeyError: 'voucher'"),
    # JavaScript and TypeScript
    Sample("typescript", "code", "src/cart.ts(12,5): error TS2339: Property 'vat' does not exist on type 'Line'.",
           "packages/till/src/cart.ts:40:11 - error TS2339: Property 'vat' does not exist on type 'Line'."),
    Sample("typescript", "world", "src/app.ts(1,20): error TS2307: Cannot find module 'fastify' or its corresponding",
           "api/server.ts(3,1): error TS2307: Cannot find module 'fastify' or its corresponding type declarations."),
    Sample("typescript", "usage", "error TS5083: Cannot read file '/a/shop/tsconfig.base.json'.",
           "error TS5083: Cannot read file '/b/till/tsconfig.base.json'."),
    Sample("node", "world", "Error: Cannot find module 'express'\nRequire stack:\n- /home/ana/shop/index.js",
           "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'express' imported from /srv/x/index.mjs"),
    Sample("node", "world", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
           "[48211:0x5581] 90233 ms: JavaScript heap out of memory"),
    Sample("jest", "test", "  ● Cart › adds a voucher\n\n    expect(received).toBe(expected)", "● Cart › adds a voucher"),
    Sample("vitest", "test", " FAIL  src/cart.test.ts > Cart > counts items\nAssertionError: expected 2 to be 3",
           "× /ci/9/src/cart.test.ts > Cart > counts items"),
    Sample("bun", "test", "(fail) till > opens the drawer [12.11ms]", "(fail) till > opens the drawer [0.20ms]"),
    Sample("playwright", "world", "browserType.launch: Executable doesn't exist at /home/ana/.cache/ms-playwright/chromium-1148",
           "Executable doesn't exist at C:\\pw\\chromium-1091\\chrome.exe"),
    Sample("node", "code", "ReferenceError: basket is not defined\n    at /a/b.js:3:1", "ReferenceError: basket is not defined"),
    # Rust
    Sample("rust", "code", "error[E0425]: cannot find value `tax` in this scope\n --> src/lib.rs:4:9",
           "error[E0425]: cannot find value `tax` in this scope\n --> crates/till/src/main.rs:88:21"),
    Sample("cargo", "world", "error: no such command: `nextest`", "error: no such command: `nextest`\n\n\thelp: view all"),
    Sample("cargo", "test", "test cart::adds_up ... FAILED", "---- cart::adds_up stdout ----\nthread panicked at src/cart.rs:9:5"),
    Sample("cargo", "world", "error: linker `cc` not found", "error: linker `cc` not found\n  |\n  = note: No such file"),
    # Go
    Sample("go", "test", "--- FAIL: TestRefund (0.00s)\n    refund_test.go:12: got 3", "    --- FAIL: TestRefund (1.72s)"),
    Sample("go", "code", "./till.go:12:2: undefined: Drawer", "cmd/shop/till.go:90:14: undefined: Drawer"),
    Sample("go", "world", "main.go:4:2: no required module provides package github.com/acme/vat; to add it:\n\tgo get",
           "x/y.go:9:1: no required module provides package github.com/acme/vat; to add it"),
    Sample("go", "usage", "pattern ./...: directory prefix . does not contain main module or its selected dependencies",
           "pattern ./till/...: directory prefix till does not contain main module or its selected dependencies"),
    Sample("go", "usage", "go: go.mod file not found in current directory or any parent directory; see 'go help modules'",
           "go: cannot find main module, but found .git/config in /home/ana/shop"),
    # Java
    Sample("javac", "code", "[ERROR] /home/ana/shop/src/main/java/Cart.java:[14,9] cannot find symbol",
           "/ci/3/src/main/java/Cart.java:22: error: cannot find symbol"),
    Sample("maven", "world", "[ERROR] Could not resolve dependencies for project com.acme:shop:jar:1.0",
           "[ERROR] Failed: Could not resolve dependencies for project com.acme:shop:jar:1.0"),
    Sample("gradle", "usage", "Task 'shipIt' not found in root project 'shop'.", "* What went wrong:\nTask 'shipIt' not found in project ':a'"),
    Sample("jvm", "world", "error: invalid target release: 21", "class has been compiled by a more recent version of the Java Runtime"),
    Sample("gradle", "test", "CartTest > addsUp() FAILED\n    org.opentest4j at CartTest.java:9", "CartTest > addsUp() FAILED"),
    # C and C++
    Sample("c", "world", "src/till.c:3:10: fatal error: openssl/ssl.h: No such file or directory",
           "/b/x.cpp:18:10: fatal error: 'openssl/ssl.h' file not found"),
    Sample("linker", "code", "/usr/bin/ld: /tmp/ccX1.o: in function `main': undefined reference to `drawer_open'",
           "till.cpp:(.text+0x1f): undefined reference to `drawer_open'"),
    Sample("linker", "world", "/usr/bin/ld: cannot find -lsodium: No such file or directory", "ld: library not found for -lsodium"),
    Sample("make", "usage", "make: *** No rule to make target 'shipit'.  Stop.", "make[2]: *** No rule to make target 'shipit'.  Stop."),
    Sample("cmake", "world", "CMake Error: Could NOT find Boost (missing: Boost_INCLUDE_DIR)", "-- Could NOT find Boost"),
    # Packages
    Sample("npm", "usage", 'npm error Missing script: "typecheck"\nnpm error', 'error: Script not found "typecheck"'),
    Sample("npm", "world", "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree", "npm error code ERESOLVE"),
    Sample("npm", "world", "ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\"", " ERR_PNPM_OUTDATED_LOCKFILE  x"),
    Sample("pip", "world", "ERROR: Could not find a version that satisfies the requirement torchx==9 (from versions: none)",
           "ERROR: No matching distribution found for torchx"),
    Sample("uv", "world", "error: Failed to spawn: `alembic`\n  Caused by: No such file or directory (os error 2)",
           "error: Failed to spawn: `alembic`"),
    Sample("task", "usage", "mise ERROR no task deploy found", "mise ERROR no task deploy found in /x"),
    # git
    Sample("git", "usage", "fatal: The current branch feat/a has no upstream branch.", "fatal: The current branch bo-17 has no upstream branch."),
    Sample("git", "world", " ! [rejected]        main -> main (fetch first)", " ! [rejected]  dev -> dev (fetch first)"),
    Sample("git", "world", "fatal: Unable to create '/home/ana/shop/.git/index.lock': File exists.",
           "fatal: Unable to create 'D:/w/.git/index.lock': File exists."),
    Sample("git", "usage", "error: pathspec 'relaese' did not match any file(s) known to git", "fatal: pathspec 'relaese' did not match any files"),
    Sample("git", "world", "git@github.com: Permission denied (publickey).\nfatal: Could not read", "fatal: Authentication failed for 'https://x.y/z'"),
    Sample("git", "work", "CONFLICT (content): Merge conflict in src/a.go", "CONFLICT (add/add): Merge conflict in b.go"),
    # Containers
    Sample("docker", "world", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
           "error during connect: this error may indicate that the docker daemon is not running"),
    Sample("docker", "world", "Bind for 0.0.0.0:5432 failed: port is already allocated", "Error: port is already allocated"),
    Sample("docker", "usage", "no such service: webb", "no such service: webb\n"),
    Sample("system", "world", "cp: error writing '/a/b': No space left on device", "ENOSPC: no space left on device, write"),
    # Shell
    Sample("shell", "world", "bash: line 1: jqq: command not found", "zsh: command not found: jqq"),
    Sample("shell", "usage", "bash: line 1: cd: web: No such file or directory", "(eval):cd:1: no such file or directory: api/v2"),
    Sample("shell", "usage", "zsh: no matches found: src/[id]/page.tsx", "(eval):1: no matches found: app/*.x"),
    Sample("shell", "usage", "bash: -c: line 1: unexpected EOF while looking for matching `\"'", "bash: syntax error near unexpected token `('"),
    Sample("shell", "world", "bash: ./run.sh: Permission denied", "zsh: line 3: /home/u/run.sh: Permission denied"),
    Sample("program", "usage", "error: unrecognized subcommand 'bunn'\n\nUsage: rtk", "error: unrecognized subcommand 'bunn'"),
    Sample("program", "world", "Command timed out after 2m 0s", "Command timed out after 10m 0.0s"),
    # Network
    Sample("network", "world", "Error: listen EADDRINUSE: address already in use :::3000", "OSError: [Errno 98] Address already in use"),
    Sample("network", "world", "curl: (6) Could not resolve host: registry.acme.dev", "getaddrinfo ENOTFOUND registry.acme.dev"),
    Sample("program", "world", "Error: connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 10.0.0.9:6543"),
    Sample("program", "world", "Request failed with status code 429", "server answered HTTP/1.1 429 Too Many"),
    # Linters
    Sample("eslint", "rule", "/a/cart.ts\n  12:7  error  'x' is assigned a value but never used  no-unused-vars",
           "  3:1  error  'basket' is defined but never used  no-unused-vars"),
    Sample("ruff", "rule", "shop/cart.py:3:8: F401 [*] `os` imported but unused", "F401 [*] `json` imported but unused\n --> a.py:1:1"),
    Sample("biome", "rule", "src/a.ts format ━━━\n  × Formatter would have printed the following content:",
           "x/y.tsx format\n × Formatter would have printed the following content:"),
    Sample("golangci", "rule", "a/till.go:9:2: Error return value of `f.Close` is not checked (errcheck)",
           "b.go:123:14: Error return value of `w.Flush` is not checked (errcheck)"),
    Sample("golangci", "rule", "a/till.go:9:2: G104: Errors unhandled (gosec)", "z.go:1:1: G104: Errors unhandled (gosec)"),
    Sample("mypy", "code", 'shop/a.py:3: error: Name "basket" is not defined  [name-defined]',
           'till/b.py:30: error: Name "basket" is not defined  [name-defined]'),
    Sample("shellcheck", "rule", "In run.sh line 3:\n^-- SC2086 (info): Double quote to prevent globbing", "SC2086: Double quote"),
    Sample("clippy", "rule", "error: this could be simplified\n  = help: https://rust-lang.github.io/rust-clippy/master/index.html#needless_return",
           "= note: `#[deny(clippy::needless_return)]` on by default"),
    # The clients' own tools
    Sample("client", "usage", "String to replace not found in file.\nString: \tfoo(1)", "String to replace not found in file.\nString: bar"),
    Sample("client", "usage", "Found 2 matches of the string to replace, but replace_all is false.", "Found 17 matches of the string to replace, but"),
    Sample("client", "usage", "File has not been read yet. Read it first before writing to it.", "<tool_use_error>File has not been read yet."),
    Sample("client", "usage", "File has been modified since read, either by the user or by a linter.", "File has been unexpectedly modified since read"),
    Sample("client", "usage", "File content (17791 tokens) exceeds maximum allowed tokens (10000).", "File content (90 KB) exceeds maximum allowed size (256KB)"),
    Sample("client", "usage", "Unknown skill: ship", "Unknown skill: ship\n"),
    # Others
    Sample("exunit", "test", "  1) test opens the till (Shop.TillTest)\n     test/till_test.exs:4", "  7) test opens the till (Shop.TillTest)"),
    Sample("dotnet", "code", "Cart.cs(3,9): error CS0103: The name 'vat' does not exist in the current context [/a/b.csproj]",
           "X.cs(90,1): error CS0103: The name 'vat' does not exist in the current context [/a/b.csproj]"),
    Sample("database", "world", 'FATAL:  database "shop_test" does not exist', 'psql: error: FATAL: database "shop_test" does not exist'),
    Sample("database", "world", "sqlite3.Error: database is locked", "SQLITE_BUSY: database is locked"),
)  # fmt: skip

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit ...",
    "[Request interrupted by user for tool use]",
    "Permission to use Bash with command rm -rf build has been denied.",
    "User rejected the command",
    "Sibling tool call errored",
    "User chose to stay in plan mode and continue planning",
)
SILENT = ("", "ok", "3 passed in 0.2s", "drwxr-xr-x 2 ana ana 4096 src", "  total 12", "sizes: 419 vs 419")

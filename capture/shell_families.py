"""Which family of work a program belongs to: tests, builds, lints, installs, git, searches, reads ...

`families(argv)` answers for one command whose wrappers are off. Families other than the obs_types:
network container read write edit trivial.
"""

from __future__ import annotations

from capture.shell_wrappers import program

_PROGRAMS: dict[str, str] = {}
for _family, _names in {
    "test": "pytest py.test nosetests nose2 tox nox jest vitest mocha ava tap jasmine karma phpunit pest rspec ctest bats"
    " behave robot newman gotestsum ginkgo busted testcafe minitest parallel_rspec paratest green stestr trial cucumber",
    "lint": "ruff flake8 pylint black isort mypy dmypy pyright basedpyright ty pyflakes pycodestyle pydocstyle bandit eslint"
    " eslint_d prettier stylelint biome oxlint tslint vue-tsc shellcheck shfmt hadolint yamllint markdownlint"
    " markdownlint-cli2 golangci-lint staticcheck gofmt goimports govulncheck rubocop standardrb clang-format clang-tidy"
    " cppcheck ktlint detekt swiftlint swiftformat pre-commit lefthook phpstan psalm php-cs-fixer phpcs pint rustfmt"
    " sqlfluff actionlint vulture radon xenon codespell lint-imports import-linter djlint autoflake pyupgrade buf tflint"
    " svelte-check knip xo standard checkov semgrep interrogate deptry typos dprint mdformat stylua luacheck",
    "build": "gcc g++ cc c++ clang clang++ rustc javac kotlinc scalac swiftc ghc ninja webpack webpack-cli rollup esbuild"
    " parcel tsup swc babel xcodebuild msbuild meson protoc wasm-pack pyinstaller nuitka tsc elm ocamlc dune latexmk"
    " pdflatex xelatex bazel-build electron-builder ncc pkg ld ar buildah kaniko sphinx-build mkdocs",
    "install": "apt apt-get apk dnf yum zypper pacman yay port choco winget scoop snap flatpak nvm fnm volta asdf"
    " corepack pip pip3 pip-sync easy_install gem conda mamba micromamba brew composer",
    "network": "curl wget http https httpie xh ssh scp sftp rsync nc ncat netcat ping dig nslookup host telnet traceroute"
    " openssl-s_client websocat grpcurl aria2c ftp lftp Invoke-WebRequest Invoke-RestMethod iwr irm",
    "github": "gh glab hub",
    "container": "docker podman docker-compose kubectl helm minikube kind k9s skaffold nerdctl crictl",
    "search": "grep egrep fgrep rg ag ack find fd fdfind ls tree exa eza locate ripgrep dir ast-grep sg zgrep Select-String"
    " Get-ChildItem gci",
    "read": "cat head tail less more bat batcat nl tac sed awk gawk jq yq wc od xxd hexdump strings Get-Content gc type column",
    "trivial": "cd pushd popd echo printf true false : export set unset source . pwd sleep date wait read local declare"
    " shopt trap exit return break continue ulimit umask alias shift mkdir clear test [ [[ eval-none nl-none"
    " Write-Host Write-Output Set-Location Start-Sleep sync",
}.items():
    for _name in _names.split():
        _PROGRAMS[_name] = _family

# tool -> subcommand -> family; "" is the bare tool, "*" any other subcommand
_TOOLS: dict[str, dict[str, str]] = {}
for _tool, _verbs in {
    "cargo": "test:test,t,nextest,tarpaulin,llvm-cov,miri,insta build:build,b,check,c,rustc,doc,d,package,zigbuild,xwin"
    " lint:clippy,fmt,audit,deny,machete,udeps,fix,hack install:install,add,remove,rm,update,fetch,binstall,uninstall",
    "go": "test:test build:build,generate lint:vet,fmt,fix install:install,get,mod",
    "deno": "test:test,bench lint:lint,fmt,check install:install,add,cache,remove build:compile,bundle",
    "dotnet": "test:test,vstest build:build,publish,pack,msbuild,clean install:restore,add,tool,workload lint:format",
    "swift": "test:test build:build install:package lint:format",
    "flutter": "test:test,drive build:build install:pub,create,upgrade lint:analyze,format",
    "dart": "test:test build:compile,run-build install:pub lint:analyze,format,fix",
    "mix": "test:test build:compile,release install:deps.get,deps.update,local.hex lint:format,credo,dialyzer",
    "bazel": "test:test,coverage build:build,fetch",
    "bazelisk": "test:test build:build",
    "buck2": "test:test build:build",
    "pants": "test:test build:package,compile lint:lint,fmt,check",
    "zig": "test:test build:build,build-exe,build-lib,cc lint:fmt",
    "stack": "test:test build:build,install",
    "cabal": "test:test build:build install:install,update",
    "sbt": "test:test build:compile,package,assembly",
    "rustup": "install:*",
    "pyenv": "install:install",
    "rbenv": "install:install",
    "mise": "install:install,use,i",
    "uv": "install:sync,add,remove,lock,pip,venv,tool,python,init build:build lint:format",
    "poetry": "install:install,add,remove,update,lock,sync build:build,publish lint:check",
    "pdm": "install:install,add,remove,update,lock,sync build:build",
    "rye": "install:sync,add,remove,lock build:build lint:lint,fmt test:test",
    "hatch": "build:build test:test lint:fmt install:env",
    "pipenv": "install:install,update,lock,sync,uninstall",
    "pipx": "install:install,upgrade,inject",
    "flit": "build:build install:install",
    "maturin": "build:build,develop",
    "bundle": "install:install,update,add,lock",
    "pod": "install:install,update",
    "cypress": "test:run,open install:install",
    "playwright": "test:test install:install,install-deps",
    "meson": "test:test build:setup,compile,configure install:install",
    "ng": "test:test,e2e,t build:build,b lint:lint",
    "vite": "build:build",
    "next": "build:build lint:lint",
    "nuxt": "build:build,generate",
    "nuxi": "build:build,generate lint:typecheck",
    "astro": "build:build lint:check",
    "remix": "build:build",
    "gatsby": "build:build",
    "hugo": "build:*",
    "expo": "build:build,export lint:lint install:install",
    "nx": "test:test,e2e,affected:test build:build lint:lint,format",
    "turbo": "",
    "lerna": "",
    "react-scripts": "test:test build:build",
    "terraform": "lint:fmt,validate install:init",
    "tofu": "lint:fmt,validate install:init",
    "forge": "test:test build:build lint:fmt install:install",
    "hardhat": "test:test build:compile",
    "anchor": "test:test build:build",
    "gleam": "test:test build:build lint:format",
    "rails": "test:test,test:system",
    "rake": "test:test,spec lint:rubocop",
    "artisan": "test:test",
    "tsx": "",
    "node": "",
    "hatchling": "build:build",
    "packer": "build:build lint:validate",
    "pio": "build:run test:test",
    "esphome": "build:compile lint:config",
    "arduino-cli": "build:compile install:lib,core",
    "west": "build:build",
    "idf.py": "build:build",
    "wails": "build:build",
    "tauri": "build:build",
    "code": "",
    "apm": "install:install",
    "opam": "install:install",
    "luarocks": "install:install",
    "nimble": "install:install test:test build:build",
    "elm-test": "test:*",
    "lein": "test:test build:uberjar",
    "clj": "",
    "storybook": "build:build",
    "docker-compose": "build:build",
}.items():
    _TOOLS[_tool] = {v: f for f, _, vs in (e.partition(":") for e in _verbs.split()) for v in vs.split(",")}  # fmt: skip

_NODE = frozenset("npm pnpm yarn bun ni cnpm".split())
_NODE_INSTALL = frozenset(
    "install i ci add remove rm uninstall un update up upgrade link dedupe prune import rebuild".split()
)
_QUERIES = frozenset(
    "list ls show freeze info search view outdated why config --version -v -V help cache which tree".split()
)
_WORDS = {
    "test": "test", "tests": "test", "testing": "test", "e2e": "test", "spec": "test", "specs": "test", "jest": "test",
    "vitest": "test", "cypress": "test", "playwright": "test", "pytest": "test", "unittest": "test", "coverage": "test", "smoke": "test",
    "integration": "test", "unit": "test", "build": "build", "compile": "build", "bundle": "build", "dist": "build",
    "lint": "lint", "format": "lint", "fmt": "lint", "typecheck": "lint", "types": "lint", "tsc": "lint", "eslint": "lint",
    "prettier": "lint", "check": "lint", "mypy": "lint", "ruff": "lint", "clippy": "lint", "style": "lint", "linter": "lint",
    "verify": "test", "validate": "lint", "install": "install", "bootstrap": "install", "deps": "install",
}  # fmt: skip
_SCRIPTED = frozenset("test tests build lint install".split())
_MODULES = {
    "pytest": "test", "unittest": "test", "tox": "test", "nox": "test", "doctest": "test", "nose2": "test", "pip": "install",
    "build": "build", "py_compile": "lint", "compileall": "lint", "venv": "install", "virtualenv": "install",
    "PyInstaller": "build", "ensurepip": "install", "coverage": "test", "behave": "test", "robot": "test",
}  # fmt: skip
_GIT_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")


def families(argv: list[str]) -> tuple[str, ...]:
    """The families of one command, the one that names it first; () for a program of no family."""
    name = program(argv[0])
    if len(argv) == 2 and argv[1] in ("--version", "--help", "-V", "-h", "version", "help") and name != "git":
        return ()
    special = _SPECIAL.get(name)
    if special is not None:
        return special(name, argv)
    if name in _NODE:
        return _node(argv)
    if name in _TOOLS:
        return _one(_tool(_TOOLS[name], argv))
    if name in _PROGRAMS:
        return _listed(_PROGRAMS[name], argv)
    return _one(_script(argv[0], name)) if "." in name or "/" in argv[0] else ()


def git(argv: list[str]) -> tuple[str, int]:
    """git's own subcommand and where it stands, past -C dir and -c key=value."""
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in _GIT_VALUED else 1
    return (argv[at], at) if at < len(argv) else ("", 0)


def positionals(argv: list[str], valued: tuple[str, ...] = ()) -> list[str]:
    """The words that are no options and no options' values."""
    out, at = [], 1
    while at < len(argv):
        word = argv[at]
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in valued else 1
            continue
        out.append(word)
        at += 1
    return out


def _one(family: str) -> tuple[str, ...]:
    return (family,) if family else ()


def _tool(verbs: dict[str, str], argv: list[str]) -> str:
    words = [word for word in argv[1:6] if not word.startswith(("-", "+"))]
    for word in words[:1]:
        return verbs.get(word) or verbs.get("*", "")
    return verbs.get("*", "")


def _listed(family: str, argv: list[str]) -> tuple[str, ...]:
    if family == "install":
        return ("install",) if not _QUERIES.intersection(argv[1:2]) else ()
    return (family,)


def _script(path: str, name: str) -> str:
    """A script by the words of its name: ./run-tests.sh, scripts/lint.py, test_x.js."""
    stem = name.partition(".")[0] if not name.startswith(".") else name
    words = stem.replace("-", "_").lower().split("_")
    extra = name.lower().split(".")[1:-1]
    for word in (*words, *extra):
        if word in _SCRIPTED or word == "spec":
            return _WORDS[word]
    return "test" if "/tests/" in "/" + path and stem.startswith("run") else ""


def _git(_: str, argv: list[str]) -> tuple[str, ...]:
    verb, at = git(argv)
    rest = argv[at + 1 :]
    if verb == "commit" and not {"--dry-run", "--help", "-h"}.intersection(rest):
        return ("git_commit",)
    if verb == "push" and not {"--dry-run", "-n", "--help", "-h"}.intersection(rest):
        return ("git_push",)
    if verb == "subtree" and rest[:1] == ["push"]:
        return ("git_push",)
    return ("search",) if verb in ("grep", "ls-files") else ("git_other",)


def _node(argv: list[str]) -> tuple[str, ...]:
    words = positionals(argv, ("--prefix", "-C", "--filter", "-F", "-w", "--workspace", "--cwd", "--dir"))
    verb = words[0] if words else ""
    if verb in _NODE_INSTALL or (
        not verb and program(argv[0]) == "yarn" and "-v" not in argv and "--version" not in argv
    ):
        return ("install",)
    if verb in ("workspace",):
        words = words[2:]
        verb = words[0] if words else ""
    if verb in ("run", "run-script", "rum"):
        return _one(target(words[1])) if len(words) > 1 else ()
    if verb in ("test", "t", "tst"):
        return ("test",)
    if verb in ("audit",):
        return ("lint",)
    if verb in _QUERIES or not verb:
        return ()
    return _one(target(verb)) or (families(argv[argv.index(verb) :]) if verb in argv[1:] else ())


def target(name: str) -> str:
    """The family of a script or task by its name: test:unit, build-prod, lint."""
    for char in ":-_./":
        name = name.replace(char, " ")
    for word in name.lower().split():
        if word in _WORDS:
            return _WORDS[word]
        if word in ("dev", "start", "serve", "watch", "preview", "deploy", "migrate", "db", "clean", "release"):
            return ""
    return ""


def _make(name: str, argv: list[str]) -> tuple[str, ...]:
    words = [w for w in positionals(argv, ("-C", "-f", "-j", "-l", "-o", "-d")) if "=" not in w and not w.isdigit()]
    for word in words:
        if word == "check" and name.endswith("make"):
            return ("test",)
        found = target(word)
        if found:
            return (found,)
    return ("build",) if not words and name.endswith("make") else ()


def _maven(name: str, argv: list[str]) -> tuple[str, ...]:
    skip = any(w.startswith(("-DskipTests", "-Dmaven.test.skip")) for w in argv) or ("-x" in argv and "test" in argv)
    found = ""
    for word in argv[1:]:
        goal = word.rpartition(":")[2].lower()
        if word.startswith("-"):
            continue
        if (
            ("test" in goal or goal in ("verify", "check"))
            and not skip
            and not goal.startswith(("assemble", "compile"))
        ):
            return ("test",)
        if (
            goal.startswith(("lint", "ktlint", "spotless", "detekt", "checkstyle", "pmd", "apply"))
            or "spotless" in word
        ):
            found = found or "lint"
        elif goal.startswith(
            (
                "build",
                "assemble",
                "compile",
                "package",
                "install",
                "bootjar",
                "jar",
                "deploy",
                "verify",
                "bundle",
                "publish",
                "clean",
            )
        ):
            found = found or "build"
    return _one(found)


def _python(_: str, argv: list[str]) -> tuple[str, ...]:
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        if argv[at] == "-m" and at + 1 < len(argv):
            module = argv[at + 1]
            rest = argv[at + 1 :]
            if module == "pip" and _QUERIES.intersection(rest[1:2]):
                return ()
            return _one(_MODULES.get(module, "")) or (families(rest) if module in _PROGRAMS else ())
        if argv[at] in ("-c", "-"):
            return ()
        at += 2 if argv[at] in ("-W", "-X") else 1
    if at >= len(argv):
        return ()
    script, rest = argv[at], argv[at + 1 : at + 2]
    name = program(script)
    if name == "setup.py":
        return _one({"test": "test", "install": "install", "develop": "install"}.get(rest[0], "build")) if rest else ()
    if name in ("manage.py", "artisan", "console"):
        return ("test",) if rest == ["test"] else ()
    return _one(_script(script, name))


def _node_run(_: str, argv: list[str]) -> tuple[str, ...]:
    if "--test" in argv:
        return ("test",)
    if "--check" in argv or "-c" in argv[1:2]:
        return ("lint",)
    if {"-e", "--eval", "-p", "--print"}.intersection(argv):
        return ()
    words = positionals(argv, ("-r", "--require", "--import", "--loader"))
    if not words:
        return ()
    name = program(words[0])
    inner = _PROGRAMS.get(name.partition(".")[0], "") if "node_modules" in words[0] or "vendor" in words[0] else ""
    return _one(inner or _script(words[0], name))


def _shell(_: str, argv: list[str]) -> tuple[str, ...]:
    if "-n" in argv[1:2]:
        return ("lint",)
    words = positionals(argv, ("-o",))
    return _one(_script(words[0], program(words[0]))) if words else ()


def _docker(name: str, argv: list[str]) -> tuple[str, ...]:
    words = positionals(argv, ("-f", "-p", "--file", "--profile", "--context", "-H"))
    build = words[:1] in (["build"], ["buildx"], ["bake"]) or words[:2] == ["image", "build"] or "--build" in argv
    return ("build", "container") if build else ("container",)


def _cmake(_: str, argv: list[str]) -> tuple[str, ...]:
    if "--install" in argv:
        return ("install",)
    return ("test",) if "test" in argv and "--target" in argv else ("build",)


def _tsc(_: str, argv: list[str]) -> tuple[str, ...]:
    return ("lint",) if "--noEmit" in argv or "--noemit" in argv else ("build",)


def _find(_: str, argv: list[str]) -> tuple[str, ...]:
    return () if {"-delete", "-exec", "-execdir"}.intersection(argv) and not _looks(argv) else ("search",)


def _looks(argv: list[str]) -> bool:
    """find -exec grep and the like only look."""
    for at, word in enumerate(argv[:-1]):
        if word in ("-exec", "-execdir"):
            return _PROGRAMS.get(program(argv[at + 1]), "") in ("search", "read")
    return False


def _sed(_: str, argv: list[str]) -> tuple[str, ...]:
    return ("edit",) if any(w.startswith(("-i", "--in-place")) for w in argv[1:]) else ("read",)


def _perl(_: str, argv: list[str]) -> tuple[str, ...]:
    return (
        ("edit",)
        if any(w.startswith("-") and "i" in w and "e" in w and len(w) < 7 for w in argv[1:3]) or "-i" in argv
        else ()
    )


def _brew(_: str, argv: list[str]) -> tuple[str, ...]:
    verbs = "install uninstall upgrade update add remove del purge dist-upgrade reinstall tap create env require dump-autoload -S -Syu"
    return ("install",) if set(verbs.split()).intersection(argv[1:5]) else ()


def _xcode(_: str, argv: list[str]) -> tuple[str, ...]:
    return ("test",) if {"test", "test-without-building"}.intersection(argv) else () if "-list" in argv else ("build",)


def _pip(_: str, argv: list[str]) -> tuple[str, ...]:
    return (
        ("install",) if {"install", "uninstall", "sync", "download", "wheel", "compile"}.intersection(argv[1:4]) else ()
    )


def _uv(_: str, argv: list[str]) -> tuple[str, ...]:
    if argv[1:2] == ["pip"]:
        return _pip("pip", argv[1:])
    return () if argv[1:2] in (["tool"], ["python"]) and argv[2:3] == ["list"] else _one(_tool(_TOOLS["uv"], argv))


def _turbo(_: str, argv: list[str]) -> tuple[str, ...]:
    for word in positionals(argv, ("--filter", "-t", "--target", "-p")):
        found = target(word)
        if found:
            return (found,)
    return ()


def _sbt(_: str, argv: list[str]) -> tuple[str, ...]:
    for word in argv[1:]:
        if "test" in word.lower():
            return ("test",)
        if word.rpartition("/")[2] in ("compile", "package", "assembly", "publishLocal"):
            return ("build",)
    return ()


_SPECIAL = {
    "git": _git, "make": _make, "gmake": _make, "just": _make, "task": _make, "nmake": _make, "invoke": _make, "inv": _make, "rake": _make, "composer-run": _make,
    "mage": _make, "mvn": _maven, "mvnw": _maven, "gradle": _maven, "gradlew": _maven, "gradlew.bat": _maven, "python": _python, "python3": _python,
    "py": _python, "python2": _python, "pypy3": _python, "node": _node_run, "nodejs": _node_run, "tsx": _node_run, "ts-node": _node_run, "php": _python,
    "ruby": _node_run, "bash": _shell, "sh": _shell, "zsh": _shell, "docker": _docker, "docker-compose": _docker, "podman": _docker, "cmake": _cmake, "tsc": _tsc,
    "find": _find, "fd": _find, "sed": _sed, "gsed": _sed, "perl": _perl, "brew": _brew, "apt": _brew, "apt-get": _brew, "apk": _brew, "dnf": _brew, "yum": _brew,
    "pacman": _brew, "conda": _brew, "mamba": _brew, "composer": _brew, "gem": _brew, "snap": _brew, "choco": _brew, "winget": _brew, "scoop": _brew, "nvm": _brew, "xcodebuild": _xcode,
    "pip": _pip, "pip3": _pip, "uv": _uv, "turbo": _turbo, "lerna": _turbo, "nx": _turbo, "sbt": _sbt, "mill": _sbt, "moon": _turbo,
}  # fmt: skip
for _version in ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14"):
    _SPECIAL["python" + _version] = _python
    _SPECIAL["pip" + _version] = _pip

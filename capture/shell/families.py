"""Classifies a command by its kind of work: test, build, lint, install, git, search, read ...

`families(argv)` answers for one command whose wrappers are off. Families other than the obs_types:
network container read write edit trivial.
"""

from __future__ import annotations

from capture.shell.tables import family as family_of
from capture.shell.tables import verbs, words
from capture.shell.wrappers import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NODE = words("npm pnpm yarn bun ni cnpm")
_NODE_INSTALL = words("install i ci add remove rm uninstall un update up upgrade link dedupe prune import rebuild")
_QUERIES = words("list ls show freeze info search view outdated why config --version -v -V help cache which tree")
_PACKAGES = words(
    "install uninstall upgrade update add remove del purge dist-upgrade reinstall tap create env require dump-autoload"
    " -S -Syu"
)
_UNNAMED = words("dev start serve watch preview deploy migrate db clean release")

# words in the names of scripts, tasks and make targets
_WORDS = {
    word: family
    for family, listed in (
        ("test", "test tests testing e2e spec specs jest vitest cypress playwright pytest unittest coverage smoke"),
        ("test", "integration unit verify runtests"),
        ("build", "build compile bundle dist"),
        ("lint", "lint format fmt typecheck types tsc eslint prettier check mypy ruff clippy style linter validate"),
        ("install", "install bootstrap deps"),
    )
    for word in listed.split()
}
_SCRIPTED = words("test tests runtests spec build lint install")
_EXTENSIONS = words("sh bash zsh py js mjs cjs ts mts tsx rb pl ps1 bat cmd php fish exs jl")
_MODULES = {
    "pytest": "test", "unittest": "test", "tox": "test", "nox": "test", "doctest": "test", "nose2": "test",
    "coverage": "test", "behave": "test", "robot": "test", "pip": "install", "venv": "install", "virtualenv": "install",
    "ensurepip": "install", "build": "build", "PyInstaller": "build", "py_compile": "lint", "compileall": "lint",
}  # fmt: skip
_GIT_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")


_NESTED = 4
"""So many package managers that run one another are followed: `yarn npm audit`."""


def families(argv: list[str], depth: int = 0) -> tuple[str, ...]:
    """The families of one command, the one that names it first; () for a program of no family."""
    found = _families(argv, depth)
    if found[:1] != ("test",):
        return found
    if "--no-run" in argv or ("-c" in argv and program(argv[0]) == "go"):
        return ("build",)
    return ("search",) if _LISTS_TESTS.intersection(argv) else found


_LISTS_TESTS = words("--collect-only --co --listTests --list-tests -list")
"""By which a test runner names its tests and runs none."""


def _families(argv: list[str], depth: int) -> tuple[str, ...]:
    name = program(argv[0])
    if len(argv) == 2 and argv[1] in ("--version", "--help", "-V", "-h", "version", "help") and name != "git":
        return ()
    special = _SPECIAL.get(name)
    if special is not None:
        return special(name, argv)
    if name in _NODE:
        return _node(argv, depth)
    kinds = verbs(name)
    if kinds:
        return _one(_tool(kinds, argv))
    listed = family_of(name)
    if listed:
        return _listed(listed, argv)
    return _one(_script(name)) if "." in name or "/" in argv[0] else ()


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


def _tool(kinds: dict[str, str], argv: list[str]) -> str:
    plain = [word for word in argv[1:6] if not word.startswith(("-", "+"))]
    if len(argv) > 1 and argv[1].startswith("-"):  # some of them may be options' values
        plain = [word for word in plain if word in kinds]
    return (kinds.get(plain[0], "") if plain else "") or kinds.get("*", "")


def _listed(family: str, argv: list[str]) -> tuple[str, ...]:
    if family == "install":
        return ("install",) if not _QUERIES.intersection(argv[1:2]) else ()
    return (family,)


def _script(name: str) -> str:
    """A script by the words of its name: ./run-tests.sh, lint.py, test_x.js; a program with such a name is none."""
    parts = name.lower().split(".")
    plain = [word for part in parts for word in part.replace("-", "_").split("_")]
    if len(parts) == 1 and (plain[0] not in _SCRIPTED or len(plain) > 1) and plain[0] != "run":
        return ""
    if len(parts) > 1 and parts[-1] not in _EXTENSIONS:
        return ""
    for word in plain:
        if word in _SCRIPTED:
            return _WORDS[word]
    return ""


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


def _node(argv: list[str], depth: int) -> tuple[str, ...]:
    plain = positionals(argv, ("--prefix", "-C", "--filter", "-F", "-w", "--workspace", "--cwd", "--dir"))
    verb = plain[0] if plain else ""
    if verb in _NODE_INSTALL or (
        not verb and program(argv[0]) == "yarn" and "-v" not in argv and "--version" not in argv
    ):
        return ("install",)
    if verb == "workspace":
        plain = plain[2:]
        verb = plain[0] if plain else ""
    if verb in ("run", "run-script", "rum"):
        return _one(target(plain[1])) if len(plain) > 1 else ()
    if verb in ("test", "t", "tst"):
        return ("test",)
    if verb == "audit":
        return ("lint",)
    if verb in _QUERIES or not verb:
        return ()
    if depth == _NESTED or verb not in argv[1:]:
        return _one(target(verb))
    return _one(target(verb)) or families(argv[argv.index(verb, 1) :], depth + 1)


def target(name: str) -> str:
    """The family of a script or task by its name: test:unit, build-prod, lint."""
    for char in ":-_./":
        name = name.replace(char, " ")
    for word in name.lower().split():
        if word in _WORDS:
            return _WORDS[word]
        if word in _UNNAMED:
            return ""
    return ""


def _make(name: str, argv: list[str]) -> tuple[str, ...]:
    plain = [w for w in positionals(argv, ("-C", "-f", "-j", "-l", "-o", "-d")) if "=" not in w and not w.isdigit()]
    for word in plain:
        if word == "check" and name.endswith("make"):
            return ("test",)
        found = target(word)
        if found:
            return (found,)
    return ("build",) if not plain and name.endswith("make") else ()


_JVM_LINT = ("lint", "ktlint", "spotless", "detekt", "checkstyle", "pmd", "apply")
_JVM_BUILD = ("build", "assemble", "compile", "package", "install", "bootjar", "jar", "deploy", "verify", "bundle",
              "publish", "clean")  # fmt: skip


def _maven(_: str, argv: list[str]) -> tuple[str, ...]:
    skip = any(w.startswith(("-DskipTests", "-Dmaven.test.skip")) for w in argv) or ("-x" in argv and "test" in argv)
    found = ""
    for word in argv[1:]:
        goal = word.rpartition(":")[2].lower()
        if word.startswith("-"):
            continue
        tests = "test" in goal or goal in ("verify", "check")
        if tests and not skip and not goal.startswith(("assemble", "compile")):
            return ("test",)
        if goal.startswith(_JVM_LINT) or "spotless" in word:
            found = found or "lint"
        elif goal.startswith(_JVM_BUILD):
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
            if module == "django":
                return ("test",) if rest[1:2] == ["test"] else ()
            return _one(_MODULES.get(module, "")) or (families(rest) if family_of(module) else ())
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
    return _one(_script(name))


def _node_run(_: str, argv: list[str]) -> tuple[str, ...]:
    if "--test" in argv:
        return ("test",)
    if "--check" in argv or "-c" in argv[1:2]:
        return ("lint",)
    if {"-e", "--eval", "-p", "--print"}.intersection(argv):
        return ()
    plain = positionals(argv, ("-r", "--require", "--import", "--loader"))
    if not plain:
        return ()
    name = program(plain[0])
    inner = family_of(name.partition(".")[0]) if "node_modules" in plain[0] or "vendor" in plain[0] else ""
    return _one(inner or _script(name))


def _shell(_: str, argv: list[str]) -> tuple[str, ...]:
    if "-n" in argv[1:2]:
        return ("lint",)
    plain = positionals(argv, ("-o",))
    return _one(_script(program(plain[0]))) if plain else ()


def _docker(_: str, argv: list[str]) -> tuple[str, ...]:
    plain = positionals(argv, ("-f", "-p", "--file", "--profile", "--context", "-H"))
    build = plain[:1] in (["build"], ["buildx"], ["bake"]) or plain[:2] == ["image", "build"] or "--build" in argv
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
            return family_of(program(argv[at + 1])) in ("search", "read")
    return False


def _sed(_: str, argv: list[str]) -> tuple[str, ...]:
    return ("edit",) if any(w.startswith(("-i", "--in-place")) for w in argv[1:]) else ("read",)


def _perl(_: str, argv: list[str]) -> tuple[str, ...]:
    return (
        ("edit",)
        if any(w.startswith("-") and "i" in w and "e" in w and len(w) < 7 for w in argv[1:3]) or "-i" in argv
        else ()
    )


def _packages(_: str, argv: list[str]) -> tuple[str, ...]:
    return ("install",) if _PACKAGES.intersection(argv[1:5]) else ()


def _xcode(_: str, argv: list[str]) -> tuple[str, ...]:
    return ("test",) if {"test", "test-without-building"}.intersection(argv) else () if "-list" in argv else ("build",)


def _pip(_: str, argv: list[str]) -> tuple[str, ...]:
    return (
        ("install",) if {"install", "uninstall", "sync", "download", "wheel", "compile"}.intersection(argv[1:4]) else ()
    )


def _uv(_: str, argv: list[str]) -> tuple[str, ...]:
    if argv[1:2] == ["pip"]:
        return _pip("pip", argv[1:])
    return () if argv[1:2] in (["tool"], ["python"]) and argv[2:3] == ["list"] else _one(_tool(verbs("uv"), argv))


def _tasks(_: str, argv: list[str]) -> tuple[str, ...]:
    for word in positionals(argv, ("--filter", "-t", "--target", "-p")):
        found = target(word)
        if found:
            return (found,)
    return ()


def _mise(_: str, argv: list[str]) -> tuple[str, ...]:
    if argv[1:2] in (["run"], ["r"]):
        plain = positionals(argv)[1:]
        return _one(target(plain[0])) if plain else ()
    return _one(_tool(verbs("mise"), argv))


def _sbt(_: str, argv: list[str]) -> tuple[str, ...]:
    for word in argv[1:]:
        if "test" in word.lower():
            return ("test",)
        if word.rpartition("/")[2] in ("compile", "package", "assembly", "publishLocal"):
            return ("build",)
    return ()


def _test(name: str, argv: list[str]) -> tuple[str, ...]:
    """A project's own bin/test; the shell's `test` is another thing."""
    return ("test",) if argv[0] in ("bin/test", "./bin/test") else _listed(family_of(name), argv)


_SPECIAL: dict[str, Callable[[str, list[str]], tuple[str, ...]]] = {}
for _names, _reader in (
    ("git", _git),
    ("make gmake just task nmake invoke inv rake mage", _make),
    ("mvn mvnw gradle gradlew gradlew.bat", _maven),
    ("python python3 python2 py pypy3 php", _python),
    ("python3.9 python3.10 python3.11 python3.12 python3.13 python3.14", _python),
    ("node nodejs tsx ts-node ruby", _node_run),
    ("bash sh zsh", _shell),
    ("docker docker-compose podman", _docker),
    ("cmake", _cmake),
    ("tsc", _tsc),
    ("find fd", _find),
    ("sed gsed", _sed),
    ("perl", _perl),
    ("brew apt apt-get apk dnf yum pacman conda mamba composer gem snap choco winget scoop nvm", _packages),
    ("xcodebuild", _xcode),
    ("pip pip3 pip3.11 pip3.12 pip3.13", _pip),
    ("uv", _uv),
    ("turbo lerna nx moon", _tasks),
    ("mise", _mise),
    ("sbt mill", _sbt),
    ("test", _test),
):
    for _program in _names.split():
        _SPECIAL[_program] = _reader

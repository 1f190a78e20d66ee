"""Removes wrappers from a command: keywords, assignments, `sudo`, `timeout`, `npx`, `docker exec` and the like."""

from __future__ import annotations

from capture.shell.tables import words

_KEYWORDS = words("if then elif else while until do ! { } time coproc")
_OPAQUE = words("for case select function done fi esac in [[ [ test")

# wrapper -> (options that take a value, further words to skip before the command)
_PLAIN: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -h -p -C -U -r -t -D", 0), "doas": ("-u -C", 0), "time": ("-f -o", 0), "nohup": ("", 0),
    "env": ("-u -C -S", 0), "timeout": ("-s -k --signal --kill-after", 1), "gtimeout": ("-s -k", 1), "nice": ("-n", 0),
    "ionice": ("-c -n", 0), "stdbuf": ("-i -o -e", 0), "xargs": ("-n -P -I -L -d -s -a -E", 0), "command": ("", 0),
    "builtin": ("", 0), "exec": ("-a", 0), "setsid": ("", 0), "watch": ("-n -d", 0), "caffeinate": ("-t", 0),
    "xvfb-run": ("-s -n", 0), "unbuffer": ("", 0), "parallel": ("-j", 0), "dotenv": ("-e -f", 0), "cross-env": ("", 0),
    "npx": ("-p --package", 0), "bunx": ("", 0), "pnpx": ("", 0), "uvx": ("--from --with --python -p", 0),
    "pipx": ("--spec", 0), "winpty": ("", 0), "catchsegv": ("", 0), "ltrace": ("-o", 0), "strace": ("-o -e", 0),
    "valgrind": ("", 0), "proxychains": ("", 0), "script": ("-c", 0), "chronic": ("", 0), "rtk": ("", 0),
    "wsl": ("-d -u --cd --distribution", 0),
}  # fmt: skip

# (tool, subcommand) -> options that take a value, words to skip
_RUNNERS: dict[tuple[str, str], tuple[str, int]] = {
    ("uv", "run"): ("--with --python -p --extra --group --project --directory --env-file", 0),
    ("uv", "tool run"): ("--from --with", 0), ("poetry", "run"): ("", 0), ("pipenv", "run"): ("", 0),
    ("pdm", "run"): ("-p", 0), ("rye", "run"): ("", 0), ("hatch", "run"): ("-e", 0), ("pixi", "run"): ("-e", 0),
    ("conda", "run"): ("-n -p", 0), ("mamba", "run"): ("-n -p", 0), ("bundle", "exec"): ("", 0),
    ("pnpm", "exec"): ("--filter -F -C", 0), ("pnpm", "dlx"): ("", 0), ("yarn", "dlx"): ("-p", 0),
    ("yarn", "exec"): ("", 0), ("npm", "exec"): ("-p --package -w", 0), ("npm", "x"): ("-p --package", 0),
    ("bun", "x"): ("", 0), ("mise", "exec"): ("", 0), ("mise", "x"): ("", 0), ("asdf", "exec"): ("", 0),
    ("rbenv", "exec"): ("", 0), ("pyenv", "exec"): ("", 0), ("nix", "develop"): ("", 0), ("direnv", "exec"): ("", 1),
    ("rustup", "run"): ("", 1), ("coverage", "run"): ("--source -p --rcfile --omit", 0), ("pipx", "run"): ("--spec", 0),
    ("op", "run"): ("--env-file", 0), ("doppler", "run"): ("-p -c", 0),
    ("docker", "exec"): ("-e -u -w --env --user --workdir", 1),
    ("docker", "run"): (
        "-e -u -w -v -p --name --env --user --workdir --volume --network --mount --entrypoint --platform --env-file", 1,
    ),
    ("podman", "exec"): ("-e -u -w", 1), ("podman", "run"): ("-e -u -w -v -p --name", 1),
    ("docker-compose", "exec"): ("-e -u -w --index", 1), ("docker-compose", "run"): ("-e -u -w -v -p --name", 1),
    ("rtk", "proxy"): ("", 0), ("rtk", "test"): ("", 0), ("rtk", "err"): ("", 0), ("rtk", "lint"): ("", 0),
    ("kubectl", "exec"): ("-n -c --namespace --container", 1),
}  # fmt: skip
_RUNNING = frozenset([tool for tool, _ in _RUNNERS])


def unwrap(argv: list[str]) -> list[str]:
    """The words of the command that runs in the end; empty for pure syntax. At most eight layers."""
    for _ in range(8):
        argv = _bare(argv)
        if not argv:
            return argv
        inner = _inside(argv)
        if inner is None:
            return argv
        argv = inner
    return argv


def program(word: str) -> str:
    """The program's name: no folder, no .exe; a script in the current folder keeps its extension."""
    if "." not in word and "/" not in word and "\\" not in word:
        return word
    name = word[max(word.rfind("/"), word.rfind("\\")) + 1 :]
    lower = name.lower()
    return lower[:-4] if lower.endswith((".exe", ".cmd")) else name


def _bare(argv: list[str]) -> list[str]:
    """Without leading keywords and assignments."""
    start = 0
    for word in argv:
        if word in _OPAQUE and start == 0 and word != "test":
            return []
        if word in _KEYWORDS or ("=" in word and _assignment(word)) or word in ("&", "$"):
            start += 1
        else:
            break
    return argv[start:] if start else argv


def _assignment(word: str) -> bool:
    if "=" not in word:
        return False
    name = word.partition("=")[0].removesuffix("+").split("[", 1)[0]
    return name.isidentifier()


def _inside(argv: list[str]) -> list[str] | None:
    """The command behind one wrapper; None when there is none."""
    name = program(argv[0])
    if name in ("docker", "podman") and argv[1:2] == ["compose"]:
        return ["docker-compose", *argv[2:]]
    if len(argv) > 1 and name in _RUNNING:
        sub = _subcommand(name, argv)
        if sub:
            options, skip = _RUNNERS[name, argv[sub]]
            return _after(argv[sub + 1 :], options, skip) or None
    plain = _PLAIN.get(name)
    if plain is None or len(argv) == 1:
        return None
    if name == "command" and argv[1] in ("-v", "-V"):
        return None
    return _after(argv[1:], plain[0], plain[1]) or None


def _subcommand(name: str, argv: list[str]) -> int:
    """Where the runner's own subcommand stands; its options before it are skipped. 0: not a runner."""
    at = 1
    while at < min(len(argv), 6) and argv[at].startswith("-"):
        at += 2 if argv[at] in ("-f", "-C", "-p", "-n", "--project", "--directory", "--filter", "-F") else 1
    return at if at < len(argv) and (name, argv[at]) in _RUNNERS else 0


def _after(given: list[str], valued: str, skip: int) -> list[str]:
    """What follows a wrapper's own options, assignments and the given to skip."""
    takes, at = valued.split(), 0
    while at < len(given):
        word = given[at]
        if word == "--":
            at += 1
            if skip:
                continue
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in takes else 1
        elif _assignment(word) and not skip:
            at += 1
        elif skip:
            skip -= 1
            at += 1
        else:
            break
    return given[at:]

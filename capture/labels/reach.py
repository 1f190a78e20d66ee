"""Detects whether a step of a shell command leaves the machine: by program, host, code, or script name."""

from __future__ import annotations

from capture.labels.programs import (
    AT_HOME,
    CLIENTS,
    FETCHERS,
    LAUNCHERS,
    MODELS,
    NETWORKED,
    OUTWARD,
    REMOTE,
    ROLES,
    SEVERAL,
    TAME,
)

LOCAL_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]", "host.docker.internal")  # noqa: S104 - looked for
ASKED = ("--version", "--help", "-h", "version", "-V", "help")
_STAYING = ("helm", "kubectl", "ansible-playbook", "npm", "twine", "aws", "terraform")
_HERE = ("lint", "template", "unittest", "--syntax-check", "--offline", "--context kind", "kind-", "minikube",
         "--dry-run=client", "-url http://localhost")  # fmt: skip
"""Words behind which these stay on the machine."""
_PORTS = ("/dev/tty", "/dev/cu", " COM")
_TRIED = ("--dry-run", "--check", "-n", "--offline", "--list")
_SENDS = (
    "requests.get(", "requests.post(", "requests.put(", "requests.request(", "requests.Session", "urllib.request",
    "urlopen(", "httpx.", "aiohttp", "fetch(", "axios", "https.get(", "http.get(", "http.client", "boto3", "smtplib",
    "paramiko", "Net::HTTP", "file_get_contents('http", "http.Get(", "openai", "anthropic", "imaplib", "URLSession",
    "WebClient", "install.packages(", "DownloadString",
)  # fmt: skip
"""What inline code says when it talks to a server."""
_CUT = str.maketrans("_-.:/@", "      ")
_MANAGERS = ("manage.py", "artisan", "run", "exec", "scripts")
_FETCHING = ("install", "sync", "compile", "download")


def leaves(head: str, name: str, words: list[str], text: str) -> bool:
    """Whether a step reaches outside the machine; `text` is the whole command."""
    if head in FETCHERS:
        return not _at_home(text)
    special = _SPECIAL.get(head)
    if special is not None:
        return special(name, words, text)
    if head in CLIENTS:
        return _has_host(words, text)
    if name in AT_HOME or words[-1] in ASKED:
        return False
    if name in REMOTE or head in REMOTE:
        return not (head in _STAYING and any(word in text for word in _HERE)) and name != "npm init"
    if "--outdated" in words or "--refresh-dependencies" in words:
        return True
    if head in SEVERAL:
        return head not in ("docker", "bd") and _outward(name.partition(" ")[2], words)
    if head in LAUNCHERS:
        return _calls(words, text) or _outward(_script(words), words) or _elsewhere(words)
    if head in ROLES:
        return False
    return (len(words) > 1 and words[1] in NETWORKED) or _outward(head, words) or _elsewhere(words)


def _at_home(text: str) -> bool:
    return any(host in text for host in LOCAL_HOSTS)


def _git(name: str, words: list[str], _: str) -> bool:
    """Remote git; a clone of a folder is not."""
    if name == "git remote":
        return "update" in words or "show" in words or "prune" in words
    if name == "git submodule":
        return "update" in words or "add" in words
    if name == "git lfs":
        return any(word in ("pull", "push", "fetch", "clone") for word in words)
    if name == "git clone":
        return not any(word[:1] in "./~" for word in words[2:3])
    return name in REMOTE


def _go(name: str, words: list[str], _: str) -> bool:
    """What is fetched by name and version; `go mod tidy` is about the project."""
    return name == "go get" or "download" in words or (name in ("go install", "go run") and "@" in "".join(words[2:]))


def _model(_: str, words: list[str], __: str) -> bool:
    """A model asked from the shell; not its settings."""
    return words[-1] not in ASKED and words[1:2] != ["mcp"] and words[1:2] != ["config"] and words[1:2] != ["plugin"]


def _device(name: str, _: list[str], text: str) -> bool:
    """A device in the network; not one on a cable."""
    return name in REMOTE and not any(port in text for port in _PORTS)


def _copy(_: str, words: list[str], __: str) -> bool:
    return any(":" in word for word in words[1:])


def _uv(name: str, words: list[str], _: str) -> bool:
    if name == "uv pip":
        return any(word in _FETCHING for word in words)
    return name in REMOTE and words[-1] not in ("list", "dir", "--check", "--offline")


def _cargo(name: str, words: list[str], _: str) -> bool:
    return (name in REMOTE and "--path" not in words and "--offline" not in words) or name == "cargo release"


def _xcrun(_: str, words: list[str], __: str) -> bool:
    return "notarytool" in words or "altool" in words


_SPECIAL = {"git": _git, "go": _go, "esphome": _device, "rsync": _copy, "uv": _uv, "cargo": _cargo, "xcrun": _xcrun,
            **dict.fromkeys(MODELS, _model)}  # fmt: skip


def _elsewhere(words: list[str]) -> bool:
    """Whether a program is given the address of another machine."""
    return "://" in " ".join(words) and any("://" in word and not _at_home(word) for word in words[1:])


def _has_host(words: list[str], text: str) -> bool:
    """Whether a client of a server is given another machine's name."""
    if _at_home(text):
        return False
    return "://" in text or any(word in ("-h", "--host") or word.startswith("--host=") for word in words[1:-1])


def _calls(words: list[str], text: str) -> bool:
    """Whether code that stands in the command itself talks to a server."""
    if "<<" not in text and not any(word in ("-c", "-e", "--eval", "-p", "-r", "-Command") for word in words[1:4]):
        return False
    return any(sign in text for sign in _SENDS) and not _at_home(text)


def _script(words: list[str]) -> str:
    """The script that an interpreter is given."""
    plain = [word for word in words[1:5] if word[:1] != "-"]
    if len(plain) > 1 and plain[0].rpartition("/")[2] in _MANAGERS:
        return plain[1]
    return plain[0].replace("\\", "/").rpartition("/")[2] if plain else ""


def _outward(name: str, words: list[str]) -> bool:
    """Whether a script or a task is called after something that reaches other people or machines."""
    tokens = name.lower().translate(_CUT).split()
    return not OUTWARD.isdisjoint(tokens) and TAME.isdisjoint(tokens) and not any(word in _TRIED for word in words)

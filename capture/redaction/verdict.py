"""Decides whether a named value is a secret: by the certainty of the name, and the look of the value.

What is a name is data of capture.redaction.detectors; what a value looks like is of entropy.
"""

from __future__ import annotations

from capture.redaction import detectors, entropy
from capture.redaction.rules_cache import pattern

_DRAWN = r"[A-Za-z0-9_+/.~%:-]+={0,3}\Z"
_RUN = "[A-Za-z0-9_]+"
_NAMED_ID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_LONG = 24
"""Characters of what no identifier is, if a few digits stand in it without a sign between."""
_ALNUM = rf"[A-Za-z0-9]{{{_LONG},}}"
_HASH = r"(?<![A-Za-z0-9])(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})(?![A-Za-z0-9])"
SOURCES = (_DRAWN, _RUN, _NAMED_ID, _ALNUM, _HASH)

_KINDS = {**dict.fromkeys(("pass", "pw", "psk", "pasw", "psw", "pssw"), "password"), "secret": "secret",
          "token": "token", "cred": "credential"}  # fmt: skip
_COMPARISONS = frozenset(("==", "===", "!=", "!==", ">", "=>", "(", ","))
_SPEAKING = ("pass", "secret", "test", "some", "my")
"""A word that holds one of these says what it is for rather than what it is."""
_NAMES = (*_SPEAKING, "user", "pwd", "pw", "arg", "param", "val", "var", "key", "token", "conf", "input", "text", "str",
          "hash", "data", "new", "old", "enc", "cred", "auth", "login", "acc", "name", "base64", "sha", "md5",
          "cert", "509", "dir", "path", "field", "row", "entry", "item", "node", "utf")  # fmt: skip
"""What holds one of these after `password=` may be a variable's name."""
_CODE = frozenset("_;,.{}[]<>|")
"""What holds one of these after `password:` may be an expression."""
_TYPED = frozenset("!#@^~")
"""What holds one of these, with a digit and both kinds of letters, is no expression."""
_SHORTEST = 6
"""Characters of a key or token, or of an argument, that holds no digit."""

NONE, FAINT, WEAK, STRONG = 0, 1, 2, 3

_known: dict[str, int] = {}


def strength(name: str) -> int:
    """How surely a name names a secret: NONE, FAINT (its value must be base64 of drawn bytes, padded), WEAK (it must
    look random and long) or STRONG."""
    level = _known.get(name)
    if level is None:
        level = _known[name] = _strength(name)
    return level


def _strength(name: str) -> int:
    found = entropy.words(name)
    while found and (found[-1] in detectors.NEUTRAL or found[-1].isdigit()):
        found.pop()
    if not found:
        return NONE
    last = found[-1]
    # a signed request shows the public half of its credentials
    if found[-2:] == ["amz", "credential"] or found[-3:] == ["oauth", "consumer", "key"]:
        return NONE
    if not detectors.PUBLIC.isdisjoint(found):
        return _of_two(found)
    before = found[-2] if found[-2:-1] else ""
    if last == "token" and before in detectors.CURSORS:
        return NONE
    if last == "code" and before in ("auth", "oauth", "authorization"):
        return STRONG
    if last in ("key", "keys"):
        return STRONG if before in detectors.QUALIFIERS else WEAK
    if last in detectors.STRONG or _ends_as_secret(last):
        return STRONG
    return WEAK if last in detectors.WEAK else NONE


def _ends_as_secret(word: str) -> bool:
    """`dbpassword`, `azurestorageaccountkey`: words written as one."""
    if word.endswith("pass"):
        return len(word) > 5 and word not in detectors.PASSES
    return word.endswith(detectors.ENDINGS)


def _of_two(found: list[str]) -> int:
    """What a public word leaves of a name: clouds give two keys, and call one of them primary."""
    if "primary" not in found or found[-1] != "key":
        return NONE
    return STRONG if found[0] == "primary" and found[-2] in detectors.QUALIFIERS else FAINT


def kind_of(name: str) -> str:
    """The kind that the placeholder names."""
    low = name.lower()
    for stem, kind in _KINDS.items():
        if stem in low:
            return kind
    return "key"


def mixed(value: str) -> bool:
    """More than one word: random letters, or letters with digits or signs."""
    return entropy.is_random(value) or (any(c.isdigit() for c in value) and any(c.isalpha() for c in value))


def literal(value: str, level: int, name: str, *, sure: bool = True) -> bool:
    """Is this quoted value of a secret's name a secret? Unless `sure`, the value must look random by itself."""
    value = value.removeprefix("base64:")
    if " " in value.strip():
        return sure and _is_passphrase(value, name)
    if len(value) < 4 or _no_value(value, name):
        return False
    if entropy.is_base64(value):
        return level != FAINT or value[-1] == "="
    if value[0] in "$/{%#:<@.,+);]" or level == FAINT:
        return False
    if level == WEAK:
        return random_looking(value)
    if not _long_enough(value, name, sure=sure) or entropy.is_member(value):
        return False
    if _is_drawn(value) or (value.isdigit() and len(value) >= 10):
        return True
    return sure and kind_of(name) == "password" and _chosen(value)


def _is_passphrase(value: str, name: str) -> bool:
    """Whether several words are a passphrase: named so, or the password of a service as an environment variable has
    it, and no message about passwords.
    """
    words = [word.strip("-_.,!'") for word in value.lower().split()]
    if not 2 < len(words) < 12 or not _MESSAGE.isdisjoint(words):
        return False
    if name.lower().endswith("passphrase"):
        return all(char.isalnum() or char in " -_.,!'" for char in value)
    service, _, last = name.rpartition("_")
    if name != "PGPASSWORD" and (
        last not in ("PASS", "PASSWORD", "PASSWD") or _SERVICES.isdisjoint(service.split("_"))
    ):
        return False
    return value.isascii() and value == value.lower() and value.replace(" ", "").replace("-", "").isalnum()


_SERVICES = frozenset(
    ("DB", "DATABASE", "SQL", "PG", "POSTGRES", "MYSQL", "MARIADB", "MONGO", "REDIS", "RABBITMQ", "SMTP", "MAIL",
     "FTP", "SSH", "LDAP", "ADMIN", "ROOT", "SUDO", "WIFI", "VPN", "KEYSTORE", "VAULT")
)  # fmt: skip
"""Words of an environment variable that say whose password it holds."""
_MESSAGE = frozenset(
    ("your", "enter", "please", "invalid", "wrong", "must", "required", "needed", "forgot", "reset",
     "pass", "password", "passwords", "passphrase", "passphrases", "passcode")
)  # fmt: skip
"""Words of a sentence about a password."""


def _chosen(value: str) -> bool:
    """What a person makes up: letters with a digit or a sign, or one plain word; not a dotted or hyphenated name."""
    if value.isalpha():
        return len(value) >= 6 and value.isascii() and value.islower() and not any(w in value for w in _SPEAKING)
    if ":" in value or "/" in value:
        return False
    signs = [char for char in value if not char.isalnum() and char not in "-_. \\"]
    digits = any(char.isdigit() for char in value)
    return bool(signs) or (digits and any(char.isalpha() for char in value))


def _no_value(value: str, name: str) -> bool:
    """What is no credential under any name: an address, a stand-in, a path, a regular expression, another name."""
    if "://" in value or "[REDACTED" in value or entropy.stands_in(value):
        return True
    if entropy.is_base64(value):
        return False
    return entropy.is_path(value) or entropy.is_expression(value) or _echoes(value, name)


def _echoes(value: str, name: str) -> bool:
    """Does the value end in the word that its name ends in (`TOKEN = "APP_ACCESS_TOKEN"`)? Then it is a name."""
    word = _last(name)
    head = value.lower().rstrip("0123456789_-.s")
    if not word or not head.endswith(word) or sum(char.isdigit() for char in head) > 2:
        return False
    return kind_of(name) != "password" or value.replace("_", "").replace("-", "").isalpha()


def _last(name: str) -> str:
    found = [word for word in entropy.words(name) if word not in detectors.NEUTRAL and not word.isdigit()]
    return found[-1].rstrip("s") if found else ""


def _long_enough(value: str, name: str, *, sure: bool) -> bool:
    """Keys and tokens are never short words; a password may be, but not as the argument of any call."""
    if len(value) >= _SHORTEST or any(char.isdigit() for char in value):
        return True
    return sure and kind_of(name) == "password"


def bare(value: str, level: int, name: str, sign: str) -> bool:
    """The same for a value without quotes, which may as well be code."""
    if sign == "=>" and name.isupper() and entropy.is_random(value):  # a listing's arrow, no function
        sign = "="
    value = value.removeprefix("base64:")
    if len(value) < 4 or sign in _COMPARISONS or entropy.is_reference(value) or _no_value(value, name):
        return False
    if entropy.is_base64(value):
        return level != FAINT or value[-1] == "="
    if level == FAINT or any(sign in value.rstrip("=") for sign in ("(", "?", "==")):
        return False
    if level == WEAK:
        return random_looking(value)
    if not _long_enough(value, name, sure=True):
        return False
    if value.isdigit():
        return len(value) >= 12
    return _is_drawn(value) or (kind_of(name) == "password" and _chosen_bare(value, name, sign))


def _is_drawn(value: str) -> bool:
    """Drawn, whatever repeats in it: under a name that says secret, a long run of letters and digits is no word."""
    if entropy.is_random(value) or entropy.is_uuid(value):
        return True
    runs = pattern(_ALNUM).findall(value) if len(value) >= _LONG else []
    return any(4 <= sum(map(str.isdigit, run)) <= len(run) - 4 for run in runs)


def drawn_beside(value: str) -> bool:
    """The same where a blank or a hyphen stands between the name and the value, as between the words of a phrase."""
    if entropy.stands_in(value) or entropy.is_path(value) or not any(map(str.isdigit, value)):
        return False
    if entropy.is_uuid(value) or (entropy.is_hex(value) and len(value) >= 32):
        return True
    return len(value) >= 16 and (
        random_looking(value) or (value.isalnum() and len(value) >= _LONG and _is_drawn(value))
    )


def _chosen_bare(value: str, name: str, sign: str) -> bool:
    """What a person makes up, where nothing shows that the value is no code: the more kinds of letters, the surer."""
    digits = any(map(str.isdigit, value))
    if not _chosen(value):
        return False
    if sign == ":":  # a line of YAML: a word with digits, which no identifier of code is likely to be
        return len(value) >= 6 and digits and _CODE.isdisjoint(value)
    if name.isupper() and name != "PASS" and sign == "=":
        return True
    if sign == "":
        return digits
    if sign == "=" and _numbered(value):
        return True
    return digits and not _TYPED.isdisjoint(value) and any(map(str.isupper, value)) and any(map(str.islower, value))


def _numbered(value: str) -> bool:
    """Letters and digits as a person makes them up (`hunter2hunter2`, `Summer2024`), and no name of code: that is short
    with a number at its end (`user2`, `arg1`), has humps, or says what it is for."""
    low, digits = value.lower(), sum(map(str.isdigit, value))
    if not (value.isascii() and value.isalnum() and value[1:] == low[1:]) or entropy.is_hex(value):
        return False
    if len(value) < 6 or (digits < 2 and (len(value) < 8 or value != low)):
        return False
    return digits > 0 and not any(word in low for word in _NAMES)


def random_looking(value: str) -> bool:
    """Long and mixed enough that nobody typed it; hashes and UUIDs are not secrets by themselves."""
    if len(value) < 12 or " " in value or "://" in value or value[0] == "$":
        return False
    if entropy.is_base64(value):
        return True
    if "/" in value[:2]:
        return False
    if not pattern(_DRAWN).match(value) or entropy.is_member(value) or pattern(_NAMED_ID).search(value):
        return False
    if value.isdigit():
        return False
    if entropy.is_hex(value):
        return len(value) >= 32 and len(value) not in (40, 64)
    if not any(c.isdigit() for c in value) or entropy.shannon(value) < 3.2:
        return False
    value = pattern(_HASH).sub("", value)  # `linux-node-<hash>` says what was hashed
    return any(len(part) >= 10 and entropy.is_random(part) for part in pattern(_RUN).findall(value))


def named(name: str, value: str) -> bool:
    """Does this value of a JSON-like object hold the secret that its key names?"""
    level = strength(name)
    return level != NONE and literal(value, level, name)

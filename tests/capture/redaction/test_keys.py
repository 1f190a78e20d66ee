"""A private key goes whole, however a tool decorates, wraps or dumps it; what only speaks of keys stays."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

import pytest

from capture.redaction import redact
from capture.text import clean

DICE = random.Random(8031)
ALPHABET = string.ascii_letters + string.digits + "+/"
LINES = ["".join(DICE.choice(ALPHABET) for _ in range(64)) for _ in range(24)] + ["k7Rz0pLw9Xa="]
LABEL = "RSA PRIVATE " + "KEY"
KEY = "\n".join([f"-----BEGIN {LABEL}-----", *LINES, f"-----END {LABEL}-----", ""])
CERTIFICATE = KEY.replace(LABEL, "CERTIFICATE")


def each(before: str = "", after: str = "") -> Callable[[str], str]:
    """Every line with something before and after it."""
    return lambda text: "".join(f"{before}{line}{after}\n" for line in text.splitlines())


def numbered(shape: str) -> Callable[[str], str]:
    """Every line in a shape that may say its number."""
    return lambda text: "".join(shape.format(n, line) + "\n" for n, line in enumerate(text.splitlines(), 1))


def wrapped(width: int) -> Callable[[str], str]:
    """Base64, in lines of a width."""

    def encode(text: str) -> str:
        code = base64.b64encode(text.encode()).decode()
        return "".join(code[at : at + width] + "\n" for at in range(0, len(code), width))

    return encode


def dump(shape: Callable[[int, bytes], str], size: int = 16) -> Callable[[str], str]:
    """Bytes in rows."""
    return lambda text: "".join(
        shape(at, text.encode()[at : at + size]) + "\n" for at in range(0, len(text.encode()), size)
    )


def xxd(at: int, row: bytes) -> str:
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
    return f"{at:08x}: {row.hex(' ', -2):40} {shown}"


def hexdump(at: int, row: bytes) -> str:
    shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
    return f"{at:08x}  {row[:8].hex(' ')}  {row[8:].hex(' '):23}  |{shown}|"


def words(at: int, row: bytes) -> str:
    cells = [row[n : n + 2][::-1].hex().rjust(4, "0") for n in range(0, len(row), 2)]
    return f"{at:07x} {' '.join(cells)}"


def octal(at: int, row: bytes) -> str:
    cells = [int.from_bytes(row[n : n + 2], "little") for n in range(0, len(row), 2)]
    return f"{at:07o} {' '.join(f'{cell:06o}' for cell in cells)}"


def letters(at: int, row: bytes) -> str:
    return f"{at:07o}" + "".join("  \\n" if byte == 10 else f"   {chr(byte)}" for byte in row)


DRESSES: dict[str, Callable[[str], str]] = {
    "cat -A": each(after="$"),
    "cat -A of CRLF": each(after="^M$"),
    "cat -An": lambda text: numbered("     {}\t{}")(each(after="$")(text)),
    "quoted": each("> "),
    "in a box": each("│ ", " │"),
    "commented": each("# "),
    "diff": each("+"),
    "grep -n": numbered("conf/k.pem:{}:{}"),
    "unforeseen marks": each("%", ";"),
    "string literals": each('    "', '\\n"'),
    "base64": wrapped(76),
    "base64 of 64": wrapped(64),
    "base64 in one line": wrapped(9_999),
    "base64, quoted": lambda text: each("> ")(wrapped(76)(text)),
    "base64, numbered": lambda text: numbered("{:6}\t{}")(wrapped(76)(text)),
    "base64, added": lambda text: each("+")(wrapped(76)(text)),
    "base64 of more": lambda text: wrapped(76)("Bag Attributes: none\n" + text),
    "base64, certificate first": lambda text: wrapped(76)(CERTIFICATE + text),
    "base64, written newlines": lambda text: wrapped(76)(text).strip().replace("\n", "\\n") + "\n",
    "xxd": dump(xxd),
    "xxd -p": dump(lambda _, row: row.hex(), 30),
    "xxd -p in one line": lambda text: text.encode().hex() + "\n",
    "xxd -i": dump(lambda _, row: "  " + ", ".join(f"0x{byte:02x}" for byte in row) + ",", 12),
    "hexdump -C": dump(hexdump),
    "hexdump": dump(words),
    "od": dump(octal),
    "od -c": dump(letters),
    "od -tx1": dump(lambda at, row: f"{at:07o} {row.hex(' ')}"),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_a_key_in_any_dress_goes_whole(dress: str) -> None:
    out = redact(clean(f"$ show it\n{DRESSES[dress](KEY)}$ next\n"))
    assert "[REDACTED:private-key]" in out
    assert out.startswith("$ show it\n")
    assert out.endswith("$ next\n")
    assert len(out) < 90


@pytest.mark.parametrize("dress", ["cat -A", "quoted", "grep -n", "diff", "in a box", "commented"])
@pytest.mark.parametrize("before", ["", "the rest of it is "])
def test_the_rest_of_a_key_goes_in_its_dress(dress: str, before: str) -> None:
    shown = DRESSES[dress](KEY).split("\n", 4)[4] if not before else before + KEY.split("\n", 4)[4]
    out = redact(f"$ tail\n{shown}$ next\n")
    assert not [line for line in LINES[4:] if line[:40] in out]
    assert out.startswith("$ tail\n")
    assert out.endswith("$ next\n")


@pytest.mark.parametrize("mark", ["$", "^M$", " │"])
def test_the_beginning_of_a_key_goes_in_its_dress(mark: str) -> None:
    shown = "\n".join(line + mark for line in KEY.splitlines()[:9])
    assert not [line for line in LINES[:8] if line[:40] in redact(f"$ head\n{shown}\n")]


@pytest.mark.parametrize("before", ["", "> ", "+", "  "])
def test_the_private_part_of_a_putty_key_goes(before: str) -> None:
    lines = ["PuTTY-User-Key-File-3: ssh-ed25519", "Comment: a", "Public-Lines: 2", *LINES[:2], "Private-Lines: 3"]
    text = "".join(before + line + "\n" for line in [*lines, *LINES[2:4], LINES[-1], "Private-MAC: 0a1b2c", "end"])
    out = redact(text)
    assert LINES[0] in out
    assert not [line for line in LINES[2:4] if line in out]
    assert out.endswith(f"{before}[REDACTED:private-key]\n{before}Private-MAC: 0a1b2c\n{before}end\n")


PROSE = f"""if '-----BEGIN {LABEL}-----' in text:
    raise ValueError('a key')
assert text.endswith('-----END {LABEL}-----')"""
STAYS = [
    PROSE,
    f"-----BEGIN {LABEL}-----$\n...$\n-----END {LABEL}-----$\n",
    f"-----BEGIN {LABEL}-----\n${{PRIVATE_KEY_OF_THE_SERVICE}}\n-----END {LABEL}-----",
    f"-----BEGIN {LABEL}-----\n<src/main/resources/certificates/private>\n-----END {LABEL}-----",
    dump(xxd)(CERTIFICATE),
    dump(hexdump)("\n".join(LINES)),
    dump(xxd)("--------Build of the day--------\n" * 4),
    "\n".join(wrapped(76)(CERTIFICATE).splitlines()[1:]),
    wrapped(76)("how a PRIVATE KEY is made: openssl genrsa, and then wait until it is over\n" * 2),
    "Private-Lines: 3\n",
    "Private-Lines: N\nAAAAB3NzaC1lZDI1NTE5\n",
]


@pytest.mark.parametrize("text", STAYS)
def test_what_is_no_private_key_stays(text: str) -> None:
    assert redact(text) == text

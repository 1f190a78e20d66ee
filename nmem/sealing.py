"""Encrypts and decrypts backups with age: to public keys (age's own or SSH's), or by a passphrase.

Everything streams. A passphrase seals a key that is made for this one file, because age seals by passphrase only what
fits in memory: the file is a line, the length of the sealed key, the sealed key, and an ordinary age file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from nmem.errors import NmemError

Recipient = Any
"""A public key of pyrage, which carries no types; of age or of SSH."""
Identity = Any
"""A secret one."""

AGE = b"age-encryption.org/v1"
_OURS = b"nmem-sealed-by-passphrase 1\n"
_LONGEST = 65_536
PLAIN, TO_KEYS, BY_PASSPHRASE = "plain", "to keys", "by passphrase"
_HEADER = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Keys:
    """How to open or to seal: public keys or identity files, or a passphrase; neither: as it is."""

    names: tuple[str, ...] = ()
    """To seal: public keys, or files of them. To open: files of identities."""
    passphrase: str = ""

    @property
    def any(self) -> bool:
        """Whether there is something to seal with."""
        return bool(self.names or self.passphrase)


def form(path: str | Path) -> str:
    """How a file is sealed. Raises NmemError for what is no backup or no file, OSError."""
    if Path(path).exists() and not Path(path).is_file():
        raise NmemError(f"{path} is not a file")  # a pipe would wait until somebody writes
    with Path(path).open("rb") as file:
        head = file.read(64)
    if head.startswith(_HEADER):
        return PLAIN
    if head.startswith(_OURS):
        return BY_PASSPHRASE
    if head.startswith(AGE):
        return TO_KEYS
    raise NmemError(f"{path} is not a backup of nmem: neither a database nor an age file")


def seal(source: str | Path, target: BinaryIO, keys: Keys) -> None:
    """Encrypt a file. Raises NmemError for keys that are none, OSError."""
    import pyrage  # on use: start-up stays short

    with Path(source).open("rb") as plain:
        if not keys.passphrase:
            pyrage.encrypt_io(plain, target, recipients(keys.names))
            return
        once = pyrage.x25519.Identity.generate()
        sealed = pyrage.passphrase.encrypt(str(once).encode(), keys.passphrase)
        target.write(_OURS + f"{len(sealed)}\n".encode() + sealed)
        pyrage.encrypt_io(plain, target, [once.to_public()])


def unseal(source: str | Path, target: BinaryIO, keys: Keys) -> None:
    """Decrypt a file. Raises NmemError, one line, where the key is wrong or the file is damaged; and OSError."""
    import pyrage  # on use: start-up stays short

    how = form(source)
    with Path(source).open("rb") as sealed:
        try:
            found = _opened(sealed, keys) if how == BY_PASSPHRASE else identities(keys.names)
            pyrage.decrypt_io(sealed, target, found)
        except pyrage.DecryptError as error:
            raise NmemError(f"{source} cannot be opened: {_why(how, str(error))}") from None
        except OSError as error:
            if error.errno is not None:
                raise
            raise NmemError(f"{source} is damaged: {error}") from None


def _why(how: str, said: str) -> str:
    if how == BY_PASSPHRASE:
        return "wrong passphrase"
    if "matching" in said.lower():
        return "encrypted to other keys than those of --identity"
    return said.lower()


def _opened(sealed: BinaryIO, keys: Keys) -> list[Identity]:
    """The key that a passphrase seals."""
    import pyrage  # on use: start-up stays short

    if not keys.passphrase:
        raise NmemError("encrypted with a passphrase: --passphrase asks for it")
    sealed.seek(len(_OURS))
    size = sealed.readline(12).strip()
    if not size.isdigit() or int(size) > _LONGEST:
        raise NmemError("its encrypted key is damaged")
    text = pyrage.passphrase.decrypt(sealed.read(int(size)), keys.passphrase).decode()
    return [pyrage.x25519.Identity.from_str(text)]


def recipients(names: Sequence[str]) -> list[Recipient]:
    """Public keys from their texts, or from files of them. Raises NmemError."""
    out: list[Recipient] = []
    for name in names:
        lines = [name] if name.startswith(("age1", "ssh-")) else _lines(name, "public keys")
        out += [_recipient(line) for line in lines]
    if not out:
        raise NmemError("there is no public key to encrypt to")
    return out


def _recipient(line: str) -> Recipient:
    from pyrage import RecipientError, ssh, x25519  # on use: start-up stays short

    try:
        return ssh.Recipient.from_str(line) if line.startswith("ssh-") else x25519.Recipient.from_str(line)
    except RecipientError:
        if line.startswith("AGE-SECRET-KEY-"):
            raise NmemError("that is a secret key: encrypt to the public one, age1...") from None
        raise NmemError(f"{line[:40]} is not a public key: age1... or ssh-ed25519 ...") from None


def identities(names: Sequence[str]) -> list[Identity]:
    """Secret keys from files: age's own, or an SSH key without a passphrase. Raises NmemError."""
    from pyrage import IdentityError, ssh, x25519  # on use: start-up stays short

    if not names:
        raise NmemError("encrypted: give the file with your secret key by --identity FILE")
    out: list[Identity] = []
    for name in names:
        try:
            data = Path(name).expanduser().read_bytes()
            if b"PRIVATE KEY-----" in data:
                out.append(ssh.Identity.from_buffer(data))
            else:
                out += [x25519.Identity.from_str(line) for line in _lines(name, "secret keys")]
        except OSError as error:
            raise NmemError(f"{name}: {os.strerror(error.errno or 0)}") from None
        except IdentityError as error:
            raise NmemError(f"{name} has no usable secret key: {error}") from None
    return out


def _lines(name: str, what: str) -> list[str]:
    """The lines of a file that say something."""
    try:
        text = Path(name).expanduser().read_text("utf-8")
    except (OSError, ValueError) as error:
        said = os.strerror(error.errno or 0) if isinstance(error, OSError) else "is not text"
        raise NmemError(f"{name[:80]} is neither a key nor a file of {what}: {said}") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

"""Forty kinds of invented tokens, in the surroundings in which a session meets them, are all taken out."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Callable

import pytest

from capture.redaction import redact, redact_tree
from capture.text import clean

SURROUNDINGS: dict[str, Callable[[str], str]] = {
    "bare": lambda token: token,
    "prose": lambda token: f"the one I use is {token}, do not lose it.",
    "json": lambda token: json.dumps({"data": token, "n": 1}),
    "json in json": lambda token: json.dumps({"body": json.dumps({"data": token})}),
    "yaml": lambda token: f"service:\n  data: {token}\n  port: 80\n",
    "dotenv": lambda token: f"A=1\nDATA={token}\nB=2\n",
    "export": lambda token: f"export DATA='{token}' && make",
    "flag": lambda token: f"deploy --data {token} --force",
    "flag with =": lambda token: f"deploy --data={token} --force",
    "header": lambda token: f'curl -H "X-Data: {token}" https://api.example.org/v1',
    "bearer": lambda token: f"Authorization: Bearer {token}\r\n",
    "query": lambda token: f"https://api.example.org/v1?data={token}&page=2",
    "url encoded": lambda token: f"next=https%3A%2F%2Fexample.org%3Fdata%3D{urllib.parse.quote(token)}%26a%3D1",
    "diff added": lambda token: f'@@ -1,2 +1,2 @@\n-data = ""\n+data = "{token}"\n',
    "numbered listing": lambda token: f"    12→data = {token!r}\n    13→port = 80\n",
    "coloured": lambda token: f"\x1b[32mdata\x1b[0m: \x1b[1;31m{token}\x1b[0m",
    "coloured inside": lambda token: f"data {token[:7]}\x1b[4m{token[7:]}\x1b[24m end",
    "xml": lambda token: f"<config><data>{token}</data></config>",
    "python": lambda token: f"client = Client({token!r}, timeout=3)",
    "markdown": lambda token: f"- run with `{token}` as the first argument",
    "written newline": lambda token: f"first\\n{token}\\nlast",
    "list": lambda token: f"[{token!r}, 'other']",
    "path": lambda token: f"/home/a/{token}/file.txt",
}


@pytest.mark.parametrize("surrounding", SURROUNDINGS)
def test_no_planted_token_is_left(planted: dict[str, str], surrounding: str) -> None:
    left = [kind for kind, token in planted.items() if token in redact(clean(SURROUNDINGS[surrounding](token)))]
    assert left == []


def test_forty_kinds_are_planted(planted: dict[str, str]) -> None:
    assert len(planted) >= 40
    assert len(set(planted.values())) == len(planted)


def test_each_kind_has_a_placeholder_and_is_counted(planted: dict[str, str]) -> None:
    for token in planted.values():
        counts: dict[str, int] = {}
        out = redact(f"before {token} after", counts)
        assert out.startswith("before [REDACTED:")
        assert out.endswith("] after")
        assert sum(counts.values()) == 1


def test_redacting_twice_changes_nothing_more(planted: dict[str, str]) -> None:
    for token in planted.values():
        once = redact(f'{{"token": "{token}", "password": "{token}"}}')
        assert redact(once) == once


def test_trees_are_redacted_with_their_keys(planted: dict[str, str]) -> None:
    for token in planted.values():
        tree = {"a": [{token: token}], "b": {"c": f"x {token}"}, "n": 3, "t": True, "z": None}
        assert token not in json.dumps(redact_tree(tree))


@pytest.mark.parametrize("word", ["Basic", "basic", "BASIC"])
def test_basic_credentials_go_with_their_base64(word: str) -> None:
    secret = base64.b64encode(b"bob:" + b"tr0ub4dor").decode()
    assert redact(f"Authorization: {word} {secret}") == f"Authorization: {word} [REDACTED:basic]"
    assert redact(f"{word} usage of the tool is simple") == f"{word} usage of the tool is simple"


def _key(label: str) -> str:
    body = "\n".join(["Mq7Rz0pLw9Xa"[at % 3 :] * 5 for at in range(12)])
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


@pytest.mark.parametrize("label", ["PRIVATE " + "KEY", "RSA PRIVATE " + "KEY", "OPENSSH PRIVATE " + "KEY",
                                   "ENCRYPTED PRIVATE " + "KEY", "PGP PRIVATE " + "KEY BLOCK"])  # fmt: skip
def test_private_keys_go_as_a_whole(label: str) -> None:
    key = _key(label)
    assert redact(f"a\n{key}\nb") == "a\n[REDACTED:private-key]\nb"
    assert redact(json.dumps({"k": key})) == '{"k": "[REDACTED:private-key]"}'
    assert "Rz0pLw9Xa" not in redact("\n".join("+" + line for line in key.splitlines()))
    assert "Rz0pLw9Xa" not in redact("\n".join(f"{n:6}→{line}" for n, line in enumerate(key.splitlines(), 1)))


def test_a_key_cut_short_is_redacted_to_the_end() -> None:
    key = _key("RSA PRIVATE " + "KEY")
    for size in range(60, len(key) - 5, 37):
        assert redact("before\n" + key[:size]) == "before\n[REDACTED:private-key]"


def test_the_rest_of_a_key_whose_head_was_cut_goes_too() -> None:
    key = _key("RSA PRIVATE " + "KEY")
    assert "Rz0pLw9Xa" not in redact(key[100:] + "\nafter")
    assert redact(key[100:] + "\nafter").endswith("\nafter")


def test_speaking_of_a_private_key_is_not_one() -> None:
    for text in ('if "-----BEGIN RSA PRIVATE ' + 'KEY-----" in text:\n    return True',
                 "files that begin with -----BEGIN PRIVATE " + "KEY----- are left out."):  # fmt: skip
        assert redact(text) == text

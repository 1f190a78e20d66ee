"""Kinds that no name and no beginning gives away, and tokens whose form decides whatever repeats in them."""

# ruff: noqa: E501 - lists of samples

from __future__ import annotations

import base64
import itertools
import random
import string
from collections.abc import Callable

import pytest

from capture.redaction import find, redact, redact_tree
from capture.redaction.mnemonics import known

V = "Bw7RL3Jj" + "9MKv"
LONG = V + "2VNqQx4T"
HEX = "8f742231b10e8c2a" + "bcd9945ef0a385a5"
TOKEN = "gh" + "p_aB3dE5gH7jK9mN1pQ3sT5vW7yZ2bC4dF6gH8"
JWT = ("ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
       ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c")  # fmt: skip
PHRASE = "ramp spice gravity ocean lunar vivid mirror orbit jungle copper fabric zebra"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

ARGUMENTS = [
    'ConvertTo-SecureString "{}" -AsPlainText -Force', "ConvertTo-SecureString -String '{}' -AsPlainText",
    "ConvertTo-SecureString -AsPlainText -Force {}", '"{}" | ConvertTo-SecureString -AsPlainText -Force',
    '$c = New-Object PSCredential("joe", (ConvertTo-SecureString "{}" -AsPlainText -Force))',
    "net use Z: \\\\srv\\share {} /user:joe", "net use \\\\srv\\share /user:DOM\\joe {} /persistent:yes", "net.exe use Z: \\\\s\\d {}",
    "net user joe {} /add", "nmcli dev wifi connect Home password {}", "nmcli device wifi hotspot ssid Home password {}",
    "nmcli con modify Home wifi-sec.psk {}", "nmcli c add type wifi 802-11-wireless-security.psk {}", "wpa_passphrase Home {}",
    'wpa_passphrase "My Home" {}', "networksetup -setairportnetwork en0 Home {}", "iwctl --passphrase {} station wlan0 connect Home",
    "smbclient //srv/share -U joe%{}", "cmdkey /add:srv /user:joe /pass:{}", "xfreerdp /u:joe /p:{} /v:h", "schtasks /create /ru joe /rp {}",
    'new NetworkCredential("joe", "{}")', "psexec \\\\h -u joe -p {} cmd", "auth = base64.b64encode(b'joe:{}')", 'if "{}" == password:',
    'curl_easy_setopt(c, CURLOPT_USERPWD, "joe:{}")', "> Client Secret: ``{}``", "CREATE USER joe IDENTIFIED BY {};",
    "login_count = 1; password={}#!", "/home/u/token-{}X1y2Z3.txt", "/run/secrets/{}X1y2Z3", "password_{}X1y2Z3.pdf",
]  # fmt: skip


@pytest.mark.parametrize("template", ARGUMENTS)
def test_the_password_goes_and_its_command_stays(template: str) -> None:
    text = template.format(V)
    out = redact(text)
    assert V not in out
    assert out.split("[REDACTED")[0] == text.split(V)[0]
    assert redact(out) == out
    assert V not in redact(f"$ {text}\nok")


@pytest.mark.parametrize(
    "made", ["Client('AC{}', '{}')", 'new Twilio("AC{}", "{}")', "Client(\n    'AC{}',\n    '{}',\n)", "AC{}:{}"]
)
def test_the_secret_half_of_a_pair_goes_with_its_id(made: str) -> None:
    secret = HEX[::-1]
    assert secret not in redact(made.format(HEX, secret))


LINES = [
    f"DB_PASSWORD={V}", f"AWS_SECRET_ACCESS_KEY={LONG}/{LONG}", f"export API_TOKEN='{LONG}'\n", JWT, TOKEN, f'{{"password": "{V}"}}',
    f"A=1\nB=2\nSECRET_KEY={LONG}\n", f"postgres://joe:{V}@db.internal/app",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_base64_of_what_holds_a_secret_goes(line: str) -> None:
    once = base64.b64encode(line.encode()).decode()
    for shown in (once, base64.urlsafe_b64encode(line.encode()).decode(), base64.b64encode(once.encode()).decode(),
                  base64.b64encode(line.encode("utf-16-le")).decode()):  # fmt: skip
        for text in (
            shown,
            f"DATA={shown}",
            f"echo {shown} | base64 -d",
            f"/srv/p/a.py/{shown}",
            f'{{"data": "{shown}"}}',
        ):
            out = redact(text)
            assert shown.rstrip("=")[:-4] not in out, text
            assert len(out) < len(text) + 20


def test_base64_over_several_lines_goes() -> None:
    wrapped = base64.encodebytes(f"{JWT}\nDB_PASSWORD={V}\n".encode()).decode()
    assert redact(f"before\n{wrapped}after") == "before\n[REDACTED:encoded]\nafter"


def test_wallets_keys_go() -> None:
    dice = random.Random(7)
    for head, size in (("5J", 49), ("K", 51), ("L", 51), ("cT", 50)):
        for _ in range(300):
            key = head + "".join(dice.choices(BASE58, k=size))
            assert key not in redact(f"import {key} now")


def test_seed_phrases_go_however_their_words_are_parted() -> None:
    words = PHRASE.split()
    for text in (PHRASE, f"my seed phrase: {PHRASE}.", "\n".join(words), f"mnemonic: {', '.join(words)}",
                 '{"mnemonic": ' + str(words).replace("'", '"') + "}", f"export MNEMONIC='{PHRASE}'",
                 "wallet:\n" + "\n".join(f"{at}. {word}" for at, word in enumerate(words, 1))):  # fmt: skip
        out = redact(text)
        assert not any(f"{one} {other}" in out for one, other in itertools.pairwise(words)), out
        assert sum(word in out for word in words) <= 1
    assert known("zoo") and known("abandon") and not known("abandons") and not known("the")


@pytest.mark.parametrize(
    "frame",
    ["app password: {}", 'SMTP_PASSWORD="{}"', "GMAIL_APP_PASSWORD={}", "use {} for gmail", "application password {}"],
)
def test_passwords_in_groups_go(frame: str) -> None:
    dice = random.Random(5)
    lost = 0
    for _ in range(200):
        for alphabet, count in ((string.ascii_lowercase, 4), (string.ascii_letters + string.digits, 6)):
            shown = " ".join("".join(dice.choices(alphabet, k=4)) for _ in range(count))
            lost += shown in redact(frame.format(shown))
    assert lost <= 8


@pytest.mark.parametrize(
    "prefix", ["gh" + "p_", "np" + "m_", "gl" + "pat-", "sk" + "_live_", "h" + "f_", "sk-" + "ant-api03-"]
)
@pytest.mark.parametrize("unit", ["Zq8", "ab1", "0123", "abcd1234", "7o", "fS"])
def test_a_token_of_repeating_letters_is_one(prefix: str, unit: str) -> None:
    assert unit * 3 not in redact(f"use {prefix}{(unit * 40)[:36]} now")


def test_a_key_of_repeating_letters_is_one() -> None:
    body = "\n".join([("Zq8" * 22)[:64]] * 6)
    assert "Zq8" not in redact(f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----")


def _drawn(count: int) -> str:
    return base64.b64encode(random.Random(count).randbytes(64)).decode()


@pytest.mark.parametrize("frame", ["{}", "here:\n{}\nthanks", "  {}  \n", "> `{}`", "- {}\r\n"])
def test_a_storage_key_alone_on_its_line_goes(frame: str) -> None:
    for count in range(300):
        key = _drawn(count)
        assert redact(frame.format(key)) == frame.format("[REDACTED:azure-key]")


@pytest.mark.parametrize(
    "frame", ["$ openssl dgst -sha512 -binary a | base64\n{}", "signature:\n{}", "the checksum is\n{}\n",
              "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", "{}\n{}", "integrity sha512-{}"],
)  # fmt: skip
def test_digests_signatures_and_lines_of_certificates_stay(frame: str) -> None:
    text = frame.format(_drawn(1), _drawn(2))
    assert redact(text) == text


STAYS = [
    # stand-ins that everybody knows
    "gh" + "p_" + "x" * 36, "AK" + "IAIOSFODNN7EXAMPLE", "gh" + "p_" + "0" * 36, "sk" + "_live_" + "x" * 24, "gl" + "pat-" + "X" * 20,
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nfoo\n-----END PRIVATE KEY-----",
    # keys of caches
    f"cache key: linux-node-{HEX}{HEX}", f"key: linux-node-{HEX}{HEX}", f"key: Linux-pip-3.11-{HEX}", f"cache-key={HEX}01234567",
    f"Cache restored from key: v1-deps-{LONG}", f"restore-keys: linux-node-{HEX}01234567",
    # words
    "net use of water rose", "net users joined 2024 times", "nmcli con show", "net use Z: \\\\srv\\share *", "ConvertTo-SecureString $pw -AsPlainText",
    "the password that they have used", "test test test test test test test test test test test junk",
    "this line holds more than twelve short plain words that people write down every single time",
    "we found that they need some time with each step then move over into this part", "if 'none' == password:", "passwords from 2021 2022 2023 2024",
    # names of files
    "dist/assets/token-Bw7RL3Jj.js", "secrets/production/database", "_next/static/chunks/token-9f8e7d6c5b4a3928.js",
    "kube-root-ca.crt default-token-x7k2p", "a/tokens/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "the access-token-refresh-interval-seconds flag",
    # base64 that says nothing
    base64.b64encode(b"nothing of note stands in this line").decode(), base64.b64encode(bytes(range(200, 240))).decode(),
    "usr/lib/python3/dist/packages/something/else/again",
]  # fmt: skip


@pytest.mark.parametrize("text", STAYS)
def test_what_is_near_stays(text: str) -> None:
    assert redact(text) == text


def test_members_of_a_payload_hold_them_as_well() -> None:
    tree = {
        "command": f'ConvertTo-SecureString "{V}"',
        PHRASE: 1,
        "b": [base64.b64encode(f"TOKEN={LONG}".encode()).decode()],
    }
    assert redact_tree(tree) == {
        "command": 'ConvertTo-SecureString "[REDACTED:password]"', "[REDACTED:seed-phrase]": 1, "b": ["[REDACTED:encoded]"]
    }  # fmt: skip


UNITS = [
    "QUJD" * 10 + " ", "QUJDREVGR0hJSktMTU5PUFFS", "/QUJDREVGR0hJSktMTU5PUFFS", "ramp spice ", "ramp ", "mnemonic ramp, ", "abcd efgh passw ",
    "abcd ", "net use ", "net use \\\\a ", "nmcli password ", "wpa_passphrase a ", "ConvertTo-SecureString -String ", "\" | ConvertTo-SecureString ",
    "smbclient -U a%", "cmdkey /pass:", "b64encode(b'a:", "credential('a', ", "curlopt_userpwd, 'a:", "token-", "token-aB3dE5gH7jK9mN1p", "secrets/",
    "\"aB3d\" == password ", "5J" + "a" * 49 + " ", "password ``", "cache key: ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_of_beginnings_costs_its_length(unit: str, linear: Callable[..., None]) -> None:
    linear(find, unit)

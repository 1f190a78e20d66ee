"""Passwords and tokens told in sentences of many languages, tables, headings, .pgpass lines and cookies."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from capture.redaction import detectors, redact, redact_tree
from tests.capture.redaction.told_forms import ALPHABETS, FORMS, draw

VALUES = 100
"""Values drawn for a group of forms and an alphabet, spread over its forms."""
HERE = Path(__file__).parent


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("group", FORMS)
def test_nine_of_ten_told_values_go(group: str, alphabet: str) -> None:
    """Every form of a group is told its share of the values."""
    dice = random.Random(f"{group}/{alphabet}")
    forms = FORMS[group]
    told = [(forms[number % len(forms)], draw(dice, alphabet)) for number in range(VALUES)]
    kept = [form for form, value in told if value in redact(form.format(value))]
    assert len(kept) <= 0.1 * VALUES, kept


@pytest.mark.parametrize("form", [form for forms in FORMS.values() for form in forms])
def test_no_form_is_overlooked_and_what_stands_around_stays(form: str) -> None:
    """Of thirty values in a form, at least twenty-four go, whatever they are drawn from."""
    dice = random.Random(form)
    values = [draw(dice, alphabet) for _ in range(10) for alphabet in ALPHABETS]
    kept = [value for value in values if value in redact(form.format(value))]
    assert len(kept) <= 0.2 * len(values), kept
    value = "kX9mQ2v" + "L4bZt"
    text = form.format(value)
    before, after = text.split(value)
    out = redact(text)
    assert out.startswith(before.removesuffix("admin:")), out
    assert out.rstrip("]").endswith(after.lstrip(".,;:!?)]}*'\"|` ")[-8:].rstrip("]")), out
    assert redact(out) == out


@pytest.mark.parametrize("size", [10, 16, 24, 32])
def test_other_lengths_go_as_well(size: int) -> None:
    dice = random.Random(size)
    told = [(form, draw(dice, size=size)) for forms in FORMS.values() for form in forms]
    kept = [form for form, value in told if value in redact(form.format(value))]
    assert len(kept) <= 0.1 * len(told), kept


@pytest.mark.parametrize("name", ["prose.txt", "prose_held_out.txt"])
def test_ordinary_sentences_stay(name: str) -> None:
    """At most one sentence in two hundred changes, of all languages together."""
    said = [*_sentences(HERE / name)]
    changed = [(language, sentence) for language, sentence in said if redact(sentence) != sentence]
    assert len(said) > 200
    assert len(changed) <= 0.005 * len(said), changed


def _sentences(file: Path) -> Iterator[tuple[str, str]]:
    language = ""
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("== "):
            language = line[3:]
        elif line and not line.startswith("#"):
            yield language, line


def test_a_text_of_many_sentences_stays() -> None:
    """A label in one sentence says nothing of the next."""
    text = "\n".join(
        sentence for name in ("prose.txt", "prose_held_out.txt") for _, sentence in _sentences(HERE / name)
    )
    assert redact(text) == text


STAYS = [
    # tables and headings that name no value
    "| password | string | required |", "| Field | Type |\n|---|---|\n| password | varchar(255) |",
    "| Token | Meaning |\n|---|---|\n| JWT_TOKEN_2 | of the second tenant |",
    "| key | value |\n|---|---|\n| build | 4821903a |",
    "Password\nPlease enter your password", "password\nusername2\n", "token\nINC0048213\n", "Passwort\nvergessen?\n",
    "| user | password |\n|---|---|\n| admin | see vault |\n\n| file | commit |\n|---|---|\n| a | 9fceb02d0ae |",
    "<td>Password</td><td>required</td>",
    "user,password,token\nuser_name2,pass_word2,TOKEN_2", "name,secret\nvault,projects/app/secrets/db2",
    "def login(user, password):\n    user2, hash2 = look_up2(user)",
    "refresh the token\nJWT_TOKEN_2", "I changed the password\nOffice365",
    # pairs that are none
    "login: admin/dashboard", "login: src/auth/login2.ts:48", "creds: s3://bucket/app-v2/creds.json",
    "login at 10:30:45.123",
    "the login page is app/pages/Login2Page.tsx", "creds are in vault:secret/data/app", "login: oauth2/v2beta1",
    "use admin/dashboard2 for it", "use root:wheel", "use admin/src/Login2Page.tsx", "use user/v2beta1-login",
    "http: proxy, tcp: socket2-listener", "menu: up p: paragraph2", "u: update p: previous-page2",
    "パスは /usr/lib/python3.11 です", "ファイルのパス: src/app/Login2Page.tsx", "テストはすべてパスした v2.3.1-rc4",
    # no line of a .pgpass
    "localhost:5432:app:joe:", "localhost:5432:app:joe:$PGPASSWORD", "postgres://localhost:5432/app",
    "0.0.0.0:5432->5432/tcp",
    "*:*:*:joe:your-password",
    # cookies
    "curl -b cookies.txt https://x.example.org", "curl -b 'theme=dark; lang=en' https://x.example.org",
    "cookies={'theme': 'dark-mode-2', 'lang': 'en'}", "cookies = load_cookies('cookies2.json')",
    "cookies=self._cookies2.copy()",
    "document.cookie = 'consent=accepted; path=/'", "Set-Cookie: consent=accepted; Path=/",
    "git checkout -b feature/JIRA-4821-x",
    "cookies: { session: sessionCookie2 }", "curl -b \"session=$SESSION\" https://x.example.org",
    "cookies={'_ga': 'GA1.2.123456.789012'}",
    # names of other things beside such words
    "senha_hash = calcula2(x)", "пароль_2fa_v3", "the password uses PBKDF2-HMAC-SHA256", "el token JWT_TOKEN_2 caduca",
    "heslo se ověřuje v HesloValidator3Test.java:42", "비밀번호는 Field2Validator34에서 확인",
    "contraseña: ${DB_PASSWORD_2}",
    "mot de passe : {{ vault_password_2 }}", "пароль: <ваш-пароль-2>",
    "Passwort: $argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$Rdes",
    "密码：******", "パスワード: xxxxxxxx12", "wachtwoord: example1234", "senha: your-password-1",
    "lösenord: https://a.example.org/v2/x9",
    "пароль user2024@example.com", "heslo 2024-01-15T10:30:45Z",
]  # fmt: skip


def test_a_look_alike_stays() -> None:
    assert {text: out for text in STAYS if (out := redact(text)) != text} == {}


def test_a_made_up_password_is_told_in_any_language() -> None:
    for said in (
        "Passwort: {}",
        "пароль: {}",
        "비밀번호: {}",
        "密码是{}",
        "la contraseña es {}",
        "hasło to {}",
        "şifre: {}",
    ):
        assert "Sommer2024!" not in redact(said.format("Sommer2024!")), said


def test_capital_letters_that_grow_in_lower_case_hide_no_label() -> None:
    assert "[REDACTED" in redact("İŞTE: Şifre kX9mQ2vL4bZt, Пароль qW3eR5tY7uIo")
    assert "qW3eR5tY7uIo" not in redact("İ Пароль qW3eR5tY7uIo")


def test_cookies_of_a_tree_go() -> None:
    out = redact_tree({"cookies": {"session": "kX9mQ2vL4bZt", "theme": "dark"}, "url": "https://x.example.org"})
    assert out == {"cookies": {"session": "[REDACTED:cookie]", "theme": "dark"}, "url": "https://x.example.org"}


def test_each_mark_stands_in_its_words() -> None:
    """Else a word is never looked for."""
    assert [(mark, word) for mark, _, words in detectors.LABELS for word in words.split("|") if mark not in word] == []
    assert [words for _, _, words in detectors.LABELS if words != words.lower()] == []

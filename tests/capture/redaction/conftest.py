"""Invented secrets of a hundred kinds, drawn at run time: no token-looking literal stands in this file.

Tokens give themselves away (`SHAPES`); what is framed is a secret by what stands around it (`FRAMES`). A new kind is
one more row of one of the tables: every field of every event of the clients is tried with it.
"""

from __future__ import annotations

import base64
import random
import string
import time
from collections.abc import Callable

import pytest

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM, HEX, CAPS = LOWER + UPPER + DIGITS, "0123456789abcdef", UPPER + DIGITS
WEB = ALNUM + "-_"

SHAPES: dict[str, list[str | tuple[str, int]]] = {
    "aws": ["AK" + "IA", (CAPS, 16)],
    "aws-temporary": ["AS" + "IA", (CAPS, 16)],
    "google": ["AI" + "za", (WEB, 35)],
    "google-oauth": ["GOC" + "SPX-", (WEB, 28)],
    "digitalocean": ["dop" + "_v1_", (HEX, 64)],
    "alibaba": ["LT" + "AI", (ALNUM, 20)],
    "vault": ["hv" + "s.", (ALNUM, 90)],
    "doppler": ["dp" + ".pt.", (ALNUM, 43)],
    "github": ["gh" + "p_", (ALNUM, 36)],
    "github-app": ["gh" + "s_", (ALNUM, 36)],
    "github-fine": ["github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59)],
    "gitlab": ["gl" + "pat-", (ALNUM, 20)],
    "bitbucket": ["AT" + "BB", (ALNUM, 32)],
    "npm": ["np" + "m_", (ALNUM, 36)],
    "pypi": ["py" + "pi-AgE", (ALNUM, 100)],
    "rubygems": ["ruby" + "gems_", (HEX, 48)],
    "docker": ["dckr" + "_pat_", (WEB, 27)],
    "nuget": ["oy" + "2", (LOWER + DIGITS, 43)],
    "slack-bot": ["xo" + "xb-", (DIGITS, 12), "-", (DIGITS, 12), "-", (ALNUM, 24)],
    "slack-user": ["xo" + "xp-", (DIGITS, 12), "-", (DIGITS, 12), "-", (ALNUM, 32)],
    "sendgrid": ["S" + "G.", (WEB, 22), ".", (WEB, 43)],
    "mailgun": ["ke" + "y-", (HEX, 32)],
    "twilio": ["S" + "K", (HEX, 32)],
    "telegram": [(DIGITS[1:], 10), ":A" + "A", (WEB, 33)],
    "stripe": ["sk" + "_live_", (ALNUM, 24)],
    "stripe-restricted": ["rk" + "_live_", (ALNUM, 24)],
    "square": ["sq" + "0atp-", (ALNUM, 22)],
    "shopify": ["shp" + "at_", (HEX, 32)],
    "anthropic": ["sk-" + "ant-api03-", (ALNUM, 93), "AA"],
    "openai": ["sk-" + "proj-", (ALNUM, 48)],
    "openrouter": ["sk-" + "or-v1-", (HEX, 64)],
    "huggingface": ["h" + "f_", (ALNUM, 34)],
    "groq": ["gs" + "k_", (ALNUM, 52)],
    "replicate": ["r" + "8_", (ALNUM, 37)],
    "grafana": ["gl" + "sa_", (ALNUM, 32), "_", (HEX, 8)],
    "newrelic": ["NR" + "AK-", (CAPS, 27)],
    "linear": ["lin" + "_api_", (ALNUM, 40)],
    "notion": ["nt" + "n_", (ALNUM, 46)],
    "figma": ["fi" + "gd_", (ALNUM, 40)],
    "postman": ["PM" + "AK-", (HEX, 24), "-", (HEX, 34)],
    "databricks": ["da" + "pi", (HEX, 32)],
    "tailscale": ["ts" + "key-auth-", (ALNUM, 12), "-", (ALNUM, 32)],
    "jwt": ["ey" + "J", (WEB, 30), ".ey" + "J", (WEB, 60), ".", (WEB, 43)],
}


def draw(shape: list[str | tuple[str, int]], dice: random.Random) -> str:
    """One token of a shape; its ends are no punctuation."""
    parts = []
    for part in shape:
        if isinstance(part, str):
            parts.append(part)
        else:
            alphabet, size = part
            edge = "".join(char for char in alphabet if char.isalnum())
            parts.append("".join(dice.choice(edge if at in (0, size - 1) else alphabet) for at in range(size)))
    return "".join(parts)


BASE58 = "".join(char for char in ALNUM if char not in "0OIl")
PHRASE = "ramp spice gravity ocean lunar vivid mirror orbit jungle copper fabric zebra acid brave cabin dawn"


def _value(dice: random.Random) -> str:
    return draw([(ALNUM, 16)], dice)


def _key(size: int) -> Callable[[random.Random], str]:
    """A key of a cloud, of which one in ten looks like a path."""
    return lambda dice: base64.b64encode(dice.randbytes(size)).decode()


def _shaped(*shape: str | tuple[str, int]) -> Callable[[random.Random], str]:
    return lambda dice: draw(list(shape), dice)


def _said(before: str, kind: str = "") -> Callable[[random.Random], str]:
    """Base64 of what holds a secret: a line that begins so, or a token."""
    return lambda dice: base64.b64encode(
        (before + draw(SHAPES[kind] if kind else [(ALNUM, 24)], dice)).encode()
    ).decode()


def _phrase(dice: random.Random) -> str:
    return " ".join(dice.sample(PHRASE.split(), 12))


def _groups(alphabet: str, count: int) -> Callable[[random.Random], str]:
    return lambda dice: " ".join("".join(dice.choices(alphabet, k=4)) for _ in range(count))


FRAMES: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "aws secret": ("AWS_SECRET_ACCESS_KEY={}", _key(30)),
    "aws credentials file": ("aws_secret_access_key = {}", _key(30)),
    "aws quoted": ("export AWS_SECRET_ACCESS_KEY='{}'", _key(30)),
    "aws yaml": ("secret_access_key: {}", _key(30)),
    "aws pair": ("AKIA" + "Q3EGSR7T2WVX9YZB:{}", _key(30)),
    "azure account key": ("AccountName=a;AccountKey={};EndpointSuffix=core.windows.net", _key(64)),
    "azure flag": ("az storage blob list --account-key {}", _key(64)),
    "cosmos key": ("COSMOS_KEY={}", _key(64)),
    "shared access key": ("Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=R;SharedAccessKey={}", _key(32)),
    "twilio token": ("Client('AC" + "0123456789abcdef" * 2 + "', '{}')", _shaped((HEX, 32))),
    "line in base64": ("{}", _said("DB_PASSWORD=")),
    "web token in base64": ("{}", _said("", "jwt")),
    "token in base64": ("{}", _said("", "github")),
    "secure string": ('ConvertTo-SecureString "{}" -AsPlainText -Force', _value),
    "network drive": ("net use Z: \\\\srv\\share {} /user:joe", _value),
    "wireless": ("nmcli dev wifi connect Home password {}", _value),
    "wallet": ("{}", _shaped("K", (BASE58, 51))),
    "wallet, long": ("{}", _shaped("5J", (BASE58, 49))),
    "seed phrase": ("{}", _phrase),
    "application password": ("gmail password: {}", lambda dice: "wxqz " + _groups("bcdfghjkmpqvwxz", 3)(dice)),
    "application password of a blog": ("application password {}", _groups(ALNUM, 6)),
    "file name": ("token-{}.txt", _value),
    "file below a folder": ("secrets/{}", _value),
    "repeating token": ("gh" + "p_{}", lambda dice: draw([(UPPER, 1), (LOWER, 1), (DIGITS, 1)], dice) * 12),
}
"""Kind -> what stands around the secret, and how one is drawn."""


@pytest.fixture(scope="session")
def framed() -> dict[str, tuple[str, str]]:
    """Kind -> the text that is planted, and the secret in it; tokens are their own text."""
    dice = random.Random(20261123)
    found = {kind: (token, token) for kind, token in ((kind, draw(shape, dice)) for kind, shape in SHAPES.items())}
    for kind, (frame, drawn) in FRAMES.items():
        secret = drawn(dice)
        found[kind] = (frame.format(secret), secret)
    return found


@pytest.fixture(scope="session")
def planted() -> dict[str, str]:
    """Kind -> one invented secret."""
    dice = random.Random(20251009)
    return {kind: draw(shape, dice) for kind, shape in SHAPES.items()}


@pytest.fixture(scope="session")
def linear() -> Callable[[Callable[[str], object], str], None]:
    """Insists that eight times the text takes at most twenty times as long: a square would take sixty-four times.

    What is fast enough whatever a short text takes is not measured again.
    """

    def seconds(run: Callable[[str], object], text: str) -> float:
        start = time.process_time()
        run(text)
        return time.process_time() - start

    def check(run: Callable[[str], object], unit: str) -> None:
        run("PRIVATE KEY LS0tLS1CRUdJTi the password is x: vault login")
        short, long = ((unit * (size // len(unit) + 1))[:size] for size in (8_192, 65_536))
        if (took := seconds(run, long)) < 0.05:
            return
        limit = 20 * min(seconds(run, short) for _ in range(3))
        assert min(took, seconds(run, long) if took >= limit else took) < max(limit, 0.05)

    return check

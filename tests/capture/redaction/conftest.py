"""Invented secrets of forty kinds, drawn at run time: no token-looking literal stands in this file."""

from __future__ import annotations

import random
import string

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


@pytest.fixture(scope="session")
def planted() -> dict[str, str]:
    """Kind -> one invented secret."""
    dice = random.Random(20251009)
    return {kind: draw(shape, dice) for kind, shape in SHAPES.items()}

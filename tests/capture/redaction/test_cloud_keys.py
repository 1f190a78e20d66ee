"""Keys of clouds are base64: one in ten looks like a path. Under their own names none is left, in any form."""

from __future__ import annotations

import base64
import json
import os
import random
import string
import urllib.parse
from collections.abc import Callable

import pytest

from capture.redaction import redact, redact_tree

BASE64 = string.ascii_letters + string.digits + "+/"
Draw = Callable[[random.Random], str]


def amazon(dice: random.Random) -> str:
    """A secret access key: 40 characters."""
    return "".join(dice.choices(BASE64, k=40))


def azure(dice: random.Random) -> str:
    """The key of a storage or database account: 64 bytes."""
    return base64.b64encode(dice.randbytes(64)).decode()


def shared(dice: random.Random) -> str:
    """A shared access key: 32 bytes."""
    return base64.b64encode(dice.randbytes(32)).decode()


def fernet(dice: random.Random) -> str:
    """32 bytes in the alphabet of addresses."""
    return base64.urlsafe_b64encode(dice.randbytes(32)).decode()


AMAZON = {
    "credentials file": "[default]\naws_access_key_id = A\naws_secret_access_key = {}\nregion = eu-west-1\n",
    "credentials file, tight": "[default]\naws_secret_access_key={}\n",
    "variable": "AWS_SECRET_ACCESS_KEY={}",
    "variable in a line": "AWS_SECRET_ACCESS_KEY={} aws s3 ls",
    "export": "export AWS_SECRET_ACCESS_KEY={}; make deploy",
    "export, quoted": "export AWS_SECRET_ACCESS_KEY='{}' && make",
    "export, double quotes": 'export AWS_SECRET_ACCESS_KEY="{}"',
    "container": "docker run -e AWS_SECRET_ACCESS_KEY={} image",
    "dockerfile": "ENV AWS_SECRET_ACCESS_KEY {}\n",
    "windows": "setx AWS_SECRET_ACCESS_KEY {}",
    "windows, set": "set AWS_SECRET_ACCESS_KEY={}",
    "powershell": '$env:AWS_SECRET_ACCESS_KEY = "{}"',
    "fish": "set -gx AWS_SECRET_ACCESS_KEY {}",
    "configure": "aws configure set aws_secret_access_key {}",
    "yaml": "aws:\n  secret_access_key: {}\n  region: x\n",
    "yaml, quoted": 'secretKey: "{}"\n',
    "yaml, list": "- name: AWS_SECRET_ACCESS_KEY\n  value: {}\n",
    "toml": "secret_key = '{}'\n",
    "properties": "aws.secretKey={}\n",
    "python": 'boto3.client("s3", aws_secret_access_key="{}")',
    "javascript": "new S3({{ secretAccessKey: '{}' }})",
    "terraform": 'provider "aws" {{\n  secret_key = "{}"\n}}',
    "flag": "mc alias --secret-key {} --access-key a",
    "flag with =": "s3cmd --secret_key={} ls",
    "xml": "<SecretAccessKey>{}</SecretAccessKey>",
    "diff": "+aws_secret_access_key = {}\n",
    "listing": "    12\u2192AWS_SECRET_ACCESS_KEY={}\n    13\u2192A=1\n",
    "written newline": "A=1\\nAWS_SECRET_ACCESS_KEY={}\\nB=2",
    "pair": "AKIA" + "Q3EGSR7T2WVX9YZB:{}",
    "table": "Access key ID,Secret access key\nAKIA" + "Q3EGSR7T2WVX9YZB,{}\n",
    "constructor": 'new BasicAWSCredentials("AKIA' + 'Q3EGSR7T2WVX9YZB", "{}")',
    "printed": "$ echo $AWS_SECRET_ACCESS_KEY\n{}\n$ ",
    "prompted": "AWS Secret Access Key [None]: {}",
    "heading": "**Secret access key:** {}",
    "fish, quoted": "set -x AWS_SECRET_ACCESS_KEY '{}'",
    "yaml, anchored": "aws_secret: &main {}\n",
    "property": "<property>\n  <name>fs.s3a.secret.key</name>\n  <value>{}</value>\n</property>",
    "property list": "<key>SecretAccessKey</key>\n<string>{}</string>",
    "row of a listing": "ACCESSKEY\tAKIA" + "Q3EGSR7T2WVX9YZB\t2024-01-01T00:00:00Z\t{}\tActive\tbob",
    "piped": "echo {} | vercel env add AWS_SECRET_ACCESS_KEY production",
    "here string": "wrangler secret put AWS_SECRET_ACCESS_KEY <<< {}",
}
AZURE = {
    "connection string": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core.windows.net",
    "connection string, last": "AccountEndpoint=https://a.documents.azure.com:443/;AccountKey={}",
    "connection string, quoted": 'export C="DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}"',
    "flag": "az storage blob list --account-key {} --account-name a",
    "flag, quoted": 'az storage blob list --account-key "{}"',
    "flag with =": "az storage blob list --account-key={}",
    "variable": "AZURE_STORAGE_KEY={}",
    "export": "export AZURE_STORAGE_ACCOUNT_KEY={}",
    "yaml": "azurestorageaccountkey: {}\n",
    "python": "BlobServiceClient(url, account_key='{}')",
    "cosmos": "COSMOS_KEY={}",
    "cosmos, export": 'export COSMOSDB_KEY="{}"',
    "cosmos, python": 'cosmos_key = "{}"',
    "cosmos, yaml": "cosmosKey: {}\n",
    "cosmos, master": "COSMOS_MASTER_KEY={}",
    "cosmos, listed": '{{\n  "primaryMasterKey": "{}"\n}}',
    "cosmos, second": '{{"secondaryReadonlyMasterKey": "{}"}}',
    "listed": '[{{"keyName": "key1", "permissions": "FULL", "value": "{}"}}]',
    "cosmos, primary": "COSMOS_DB_PRIMARY_KEY={}",
    "cosmos, client": 'CosmosClient("https://a.documents.azure.com:443/", "{}")',
    "cosmos, mongo": "mongodb://a:{}@a.mongo.cosmos.azure.com:10255/?ssl=true",
    "hadoop": "fs.azure.account.key.a.blob.core.windows.net={}",
    "spark": 'spark.conf.set("fs.azure.account.key.a.dfs.core.windows.net", "{}")',
    "share": "net use Z: \\\\a.file.core.windows.net\\s /user:Azure\\a {}",
}
SHARED = {
    "connection string": "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
    "with a path": "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKey={};EntityPath=q",
    "device": "HostName=h.azure-devices.net;DeviceId=d;SharedAccessKey={}",
    "settings": "Endpoint=https://a.azconfig.io;Id=a-l0-s0:b;Secret={}",
    "export": "export SHARED_ACCESS_KEY='{}'",
    "header": "curl -H 'aeg-sas-key: {}' https://a",
    "primary": '"primaryKey": "{}"',
    "yaml": "sharedAccessKey: {}\n",
}
FORMS: dict[str, tuple[Draw, str | Callable[[str], str]]] = {
    **{f"aws {name}": (amazon, form) for name, form in AMAZON.items()},
    **{f"azure {name}": (azure, form) for name, form in AZURE.items()},
    **{f"shared {name}": (shared, form) for name, form in SHARED.items()},
    "fernet": (fernet, "FERNET_KEY={}"),
    "fernet, python": (fernet, "box = Fernet(b'{}')"),
}
FORMS |= {
    "json": (amazon, lambda key: json.dumps({"SecretAccessKey": key})),
    "json in json": (azure, lambda key: json.dumps({"body": json.dumps({"accountKey": key})})),
    "json of php": (amazon, lambda key: json.dumps({"secret_key": key}).replace("/", "\\/")),
    "json of dotnet": (shared, lambda key: json.dumps({"SharedAccessKey": key}).replace("+", "\\u002B")),
    "query": (azure, lambda key: "https://a/?accountKey=" + urllib.parse.quote(key, safe="")),
    "address": (amazon, lambda key: f"s3://AKIA{'Q3EGSR7T2WVX9YZB'}:{key}@bucket/a"),
}


def left(name: str, times: int, seed: int, *, together: int = 1) -> list[str]:
    """The keys of which eight letters in a row stand after redaction; so many of them are shown in one text."""
    draw, form = FORMS[name]
    dice = random.Random(seed)
    found = []
    for _ in range(times // together):
        keys = [draw(dice) for _ in range(together)]
        out = redact("\n\n".join(form(key) if callable(form) else form.format(key) for key in keys))
        stand = {out[at : at + 8] for at in range(len(out) - 7)}
        found += [key for key in keys if any(key[at : at + 8] in stand for at in range(len(key) - 7))]
    return found


@pytest.mark.parametrize("name", FORMS)
def test_no_key_is_left_under_its_name(name: str) -> None:
    assert left(name, 20, 14) == []


@pytest.mark.parametrize("name", FORMS)
def test_none_of_tens_of_thousands_is_left(name: str) -> None:
    """Other keys in each form; `NMEM_TEST_KEYS=2000` tries more than a hundred thousand."""
    assert left(name, int(os.environ.get("NMEM_TEST_KEYS", "250")), 1_000 + list(FORMS).index(name), together=50) == []


def test_a_member_of_a_payload_is_judged_in_the_same_way() -> None:
    dice = random.Random(3)
    for _ in range(300):
        key = amazon(dice)
        assert redact_tree({"SecretAccessKey": key}) == {"SecretAccessKey": "[REDACTED:secret]"}


@pytest.mark.parametrize(
    "text",
    [
        "secret = /var/run/secrets/kubernetes.io/token", "token_path: home/user/Projects/MyApp/src/Main",
        'password = "src/main/java/com/Example/AuthToken"', "SECRET_KEY=config/secrets/Production/MasterKey",
        "api_key: usr/lib/python3/something", "primary_key = user_id", 'primary_key="9f8e7d6c5b4a39281706"',
        '"primaryKey": "Bw7RL3Jj9MKv2VNq"', '"value": "QUJD"', "sha512-" + azure(random.Random(1)),
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    ],
)  # fmt: skip
def test_paths_and_public_values_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("form", "key"),
    [
        ("AWS_SECRET_ACCESS_KEY={}", "+QnF5qu1KlEYd" + "UMMyskNZM6gJUsz5daFMdmNgPDg"),  # `dummy` by chance
        ('AWS_SECRET_KEY = "{}"', "b5KCurNufI" + "lORem3KfxRBEy10rcZhiZ/i/W59tcF"),  # `lorem`
        ("|  SecretAccessKey  |  {}  |", "jjuHkPlaIDoSNrwans" + "OtPphyjrqvgVGfbjrISMr5"),
        ("the aws secret access key is {}", "vkApicyVW+quvZySeAH" + "EdAfLHo1T//hNBrjkJFlm"),
        ("APP_KEY=base64:{}", "KQPl7cnXwypugCz09LgT" + "CI1fEeUFXxxODCI1Irqef/I="),
        ("aws_secret_access_key: {} # rotate", "QNiGiTrinielntcpt9Rg" + "WectBSDDaLVtEwStaMDB"),
        ("Fernet('{}')", "-YDe90wDesFCVVtrYur" + "wzmAnuhGcz14E-F1xK9AWATI="),
    ],
)
def test_the_rarest_keys_go(form: str, key: str) -> None:
    """One key in ten thousand holds letters as a stand-in, a path or a flag does."""
    assert key not in redact(form.format(key))

"""Frames that name a secret: sentences, commands, URLs, tables. A list of what goes, one of what is near and stays."""

# ruff: noqa: E501 - lists of samples

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from capture.redaction import find, redact, redact_tree

V = "Bw7RL3Jj" + "9MKv2VNq"
HEX = "8f742231b10e8c2a" + "bcd9945ef0a385a5"
CODE = "3f2504e0-4f89-11d3" + "-9a0c-0305e82c3301"

TOLD = [
    "the root password is {} on that box", "my password is {}", "use password {} for root", "the token is {}",
    "our secret key is {}", "the api key for staging is {}", "the client secret is {}", "the passphrase is now {}.",
    "the password for the staging db is {}, ok?", "password of root: {}", "DB_PASSWORD is {}", "the **password** is {}",
    "set the root password to {} please", "password was changed to {}", "the new password will be {}!",
    "log in as root with password {}", "here is the password:\n\n{}\n", "{} is the password", "use {} as the root password",
    "Das Passwort ist {}, bitte", "Kennwort: {}", "Adminpasswort ist {}", "der API-Schlüssel lautet {}",
    "la contraseña es {}.", "contraseña: {}", "le mot de passe est {}", "mot de passe : {}", "la clé API est {}",
    "la password è {}", "la chiave api è {}", "a senha é {}", "het wachtwoord is {}",
]  # fmt: skip
COMMANDS = [
    "kubectl create secret generic db --from-literal=dsn={}", "kubectl create secret generic db \\\n  --from-literal=a={}",
    "gh secret set NPM_TOKEN --body {}", 'gh secret set A -b"{}"', "vault login {}", "vault operator unseal {}",
    "fly secrets set FOO={}", "fly secrets set B=x A={}", "mongosh -u a -p {}", "podman login -u a -p {} reg",
    "echo 'root:{}' | chpasswd", "echo root:{} | sudo chpasswd", "chpasswd <<< root:{}", "zip -P {} a f",
    "unzip -P {} f", "7z a -p{} a.7z f", "http -a joe:{} GET x", "http POST x --auth=joe:{}",
    "aws ssm put-parameter --name /a --type SecureString --value {}", "aws ssm put-parameter --value {} --type SecureString",
    "aws secretsmanager create-secret --name a --secret-string '{{\"p\":\"{}\"}}'",
    "az keyvault secret set --vault-name v --name n --value {}", "htpasswd -b .ht joe {}", "htpasswd -nb joe {}",
    'htpasswd -bc .ht joe "{}"', 'echo "{}" | docker login --password-stdin', "echo {} | docker login --password-stdin reg",
    'printf "%s" "{}" | docker login --password-stdin', "echo {} | sudo -S apt update", "echo {} | gh auth login --with-token",
    'docker login --password-stdin <<< "{}"', "$ printenv API_KEY\n{}", "$ echo $API_KEY\n{}\n$ next",
    '$ echo "${{DB_PASSWORD}}"\n{}\n$ next', "keytool -storepass {} -list", "fish: set -gx API_KEY {}", "ENV API_KEY {}",
    "pulumi config set --secret dbPassword {}", "please run setx DB_PASSWORD {}", "then set DB_PASSWORD {} and go on",
    "machine api login joe password {}", "please: machine api.x login joe password {}",
]  # fmt: skip
NAMED = [
    "SSHPASS={} sshpass -e ssh h", "DB_PASSWORD\t{}", "password\t{}\n", "DB_PASSWORD => {}", "    [DB_PASSWORD] => {}",
    '"master_password": {{\n  "value": "{}"}}', '"db_password": {{"sensitive": true, "type": "string", "value": "{}"}}',
    '{{\\"db_password\\": {{\\"value\\": \\"{}\\"}}}}',
]  # fmt: skip
URLS = [
    "DATABASE_URL=postgres://admin:p@{}@db.internal:5432/app", "postgres://u:a@b@{}@h1:5432/d", "see ms://sa:P@{}@localhost/",
    "git clone https://{}@github.com/a/b", "https://{}:x-oauth-basic@github.com/a", "https://{}:@api.example.org/v1",
    "postgres://a:{}@h/db?x=y@z.org",
]  # fmt: skip


@pytest.mark.parametrize("template", [*TOLD, *COMMANDS, *NAMED, *URLS])
def test_the_value_goes_and_its_frame_stays(template: str) -> None:
    text = template.format(V)
    before, after = text.split(V)
    out = redact(text)
    assert V not in out
    assert out.startswith(re.split("[:'\"]", before, maxsplit=1)[0].removesuffix("joe"))
    assert out.endswith(after[-8:].lstrip("\"}'"))
    assert redact(out) == out
    assert V not in redact(f"Exit code 1\n{text}\nend")


@pytest.mark.parametrize("password", ["Summer2024!", "tr0ub4dor&3", "P@ssw0rd99", "Purple-Monkey77", "Kaffee77_Tasse"])
def test_a_password_of_several_kinds_of_letters_is_told(password: str) -> None:
    for said in ("my password is", "das WLAN-Passwort ist", "login: admin/"):
        assert password not in redact(f"{said} {password}".replace("/ ", "/"))


@pytest.mark.parametrize("token", [HEX, HEX + "01234567", CODE])
def test_a_token_may_be_digits_alone(token: str) -> None:
    assert token not in redact(f"the token is {token}")
    assert HEX not in redact(f"my api key is {HEX}")
    assert HEX not in redact(f"git clone https://{HEX}01234567@example.org/a/b")


def test_the_whole_of_a_password_with_signs_of_addresses_goes() -> None:
    assert redact("x://a:p@s@w0rd7@db.example.org/") == "x://a:[REDACTED:url-password]@db.example.org/"


def test_a_member_called_value_has_the_name_of_what_holds_it() -> None:
    tree = {"master_password": {"value": V}, "env": [{"name": "DB_PASSWORD", "value": V}], "other": {"value": V}}
    out = redact_tree(tree)
    assert out == {
        "master_password": {"value": "[REDACTED:password]"},
        "env": [{"name": "DB_PASSWORD", "value": "[REDACTED:password]"}],
        "other": {"value": V},
    }


STAYS = [
    # sentences
    "the token is expired", "my password is not accepted", "the api key is read from env", "the password is required",
    "password is wrong", "the password is stored in vault", "the secret is in config/app2.yml", "the token is JWT_TOKEN_2",
    "the token is at position 12345678", "the password is DB_PASSWORD_2", "password is Argon2id-hashed",
    "password is SHA-512", "the key is user_id_2024", f"the public key is {HEX}", f"primary key is {HEX}",
    "the token is 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", f"the token hash is {HEX}01234567", f"next token is {V}",
    "password is v1.22.3-beta4", "the token is config.tokens2.Value", "password is in user_Password2_field1",
    "the password is base64", "use password authentication2", "the password is $DB_PASSWORD", "the token is a UUID",
    "the password is <password123>", "the token is 1234567890abcdef", "password is bob2024@example.com",
    "the commit of the token is 9fceb02", "the password field is Field2Validator34", "the secret is aws/prod/db-1",
    "token is 4096", "pwd is /home/bob/x12", "api key is AIza...", "the token count is 128000tokens",
    "query: `auth-password=myAuthPassword&domain-name=bar2.com&record=TXT2`", "la clave es importante",
    "das Passwort ist falsch", "le mot de passe est requis", "a senha é obrigatória", "password: see docs/login2.md",
    "the password is at least 12 characters", "the secret is app-secrets-prod-2024",
    # commands
    f"kubectl create configmap db --from-literal=dsn={V}", 'gh secret set NPM_TOKEN --body "$NPM_TOKEN"',
    "gh secret set NPM_TOKEN < token.txt", "gh secret set A --body your-token", "vault login -method=github",
    "vault login to get access", "use vault login authentication2", "fly secrets set FOO=$FOO", "zip -r a.zip f",
    "mongosh -u a --port 27017 db", 'echo "$PW" | chpasswd', "unzip -p a.zip META-INF/x", "http -a joe:$PW GET x",
    f"ls -a joe:{V}", "aws ssm put-parameter --type SecureString --value file://x.txt", "htpasswd -c .ht joe",
    f"aws ssm put-parameter --type String --value {V}", "cat pw.txt | docker login --password-stdin",
    'echo "deb http://x y" | sudo -S tee z', "echo hello2you | sudo -s", "printenv PATH\n/usr/bin:/bin",
    "echo $HOME\n/home/bob12",
    # names
    f"BYPASS={V}", f"bypass = {V}", "passwords => users2Map", "password\tstring\trequired", "set token count2x",
    "the key set KEY_TWO next2item", '"password": {"type": "string", "value": "required"}', "password => hash2x(password)",
    # URLs
    "git clone https://git@github.com/a/b", "ssh://a1b2c3d4e5f6a7b8c9d0a1b2@app.example.org/", "https://bob@x.org/",
    f"https://{HEX}@o123.ingest.sentry.io/4", "https://example.org:8080/a?mail=x@y.org", "https://x-access-token@github.com/a",
    "https://registry.example.org/@scope/pkg@1.2.3", "see https://x.org/a and bob@y.org", "https://oauth2accesstoken@eu.gcr.io",
    "https://deploy-user-production-2@github.com/a", "https://first.last2024.name@dev.example.org/o/_git/r",
]  # fmt: skip


@pytest.mark.parametrize("text", STAYS)
def test_what_is_near_stays(text: str) -> None:
    assert redact(text) == text


UNITS = [
    "://a@b@c:", "://a:b@", "://" + "a" * 16 + "@", "@", "from-literal=a=", "secret --from-literal=a=b ", "vault login -a ",
    "unseal -", "secret-string='", 'secret-string="\\', "secret set A=B ", "secret set --body a ", "secret set \\\n",
    "put-parameter securestring --value a ", "zip -P ", "zip ", "7z ", " -a joe:", "http -a ", "htpasswd -b a ", "chpasswd ",
    "echo a | ", "echo x | sudo -S ", "echo $", "printenv A\n", "password is ", "password for a b c d ", "token is a1",
    "use password ", "x is the ", "password: \n", "api key ", "clave ", "clé api", "mot de passe", "'password': {",
    '"password": {"value"', "password\t", "set -x ", "login a password ", "PRIVATE KEY -", "-----BEGIN PRIVATE " + "KEY-----",
    "-----BEGIN PRIVATE " + "KEY-----$\n", "-----END PRIVATE " + "KEY-----\n", "Private-Lines: 9\nAAAAAAAA\n", "1|",
    "LS0tLS1CRUdJTi", "LS0tLS1CRUdJTiA\n", "UFJJVkFURSBLRV ", "2d2d 2d2d 2d42 ", "2d 2d 2d 2d 2d 42\n", "026455 026455 041055 ",
    "-   -   -   -   -   B", "0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x42, ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_of_beginnings_costs_its_length(unit: str, linear: Callable[..., None]) -> None:
    linear(find, unit)

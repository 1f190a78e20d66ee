"""A value goes when its name gives it away; the name stays, and what is no secret stays whole."""

from __future__ import annotations

import pytest

from capture.redaction import redact

DRAWN = "kq7" + "Zt9" + "wPx" + "2mVb"
CHOSEN = "tr0ub4dor" + "&3"

GONE = [
    'password = "{}"',
    "password: '{}'",
    "DB_PASSWORD={}",
    "export API_TOKEN={}",
    "set API_TOKEN={}",
    '{{"client_secret": "{}"}}',
    '{{\\"access_token\\":\\"{}\\"}}',
    "client_secret: {}",
    "- SMTP_PASSWORD={}",
    "--password {} --verbose",
    "--api-key={}",
    "<password>{}</password>",
    '<add key="password" value="{}"/>',
    "https://example.org/?access_token={}&page=1",
    "postgres://bob:{}@db.example.org/app",
    "redis://:{}@localhost:6379/0",
    "Authorization: Bearer {}",
    "curl -u bob:{} https://example.org",
    'const apiKey: string = "{}";',
    'String password = "{}";',
    'var secret string = "{}"',
    'password := "{}"',
    "'secret' => '{}',",
    'tokens = ["{}", "other"]',
    'set_password("{}")',
    'params.put("password", "{}")',
    "mysql -u root -p{} app",
    "ALTER USER bob IDENTIFIED BY '{}'",
    '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "env:\n  - name: DB_PASSWORD\n    value: {}",
    "openssl rsa -passin pass:{} -in k.pem",
    "machine example.org login bob password {}",
    "ENV_TOKEN=x\\nSECRET_TOKEN={}\\nB=1",
    "$env:API_KEY = '{}'",
    'os.environ["API_KEY"] = "{}"',
    "x-api-key: {}",
    "requirepass {}",
]

WEAK = "hunter" + "2"
"""A chosen password that only its place gives away."""


@pytest.mark.parametrize("said", [
    "mysql -u root --password={} shop", "wget --user=me --password={} https://x", "run --pass={}",
    "gpg --passphrase={}", "mysql -u root --password {} shop",
])  # fmt: skip
def test_an_option_gives_a_weak_password_away(said: str) -> None:
    assert WEAK not in redact(said.format(WEAK))


@pytest.mark.parametrize("said", [
    "mysql --password=$PW1 x", "mysql --password=${PW1} x", "run --password=<password1>",
    "run --password-file=/run/x1", "run --no-pass=1", "run --token-limit=4000", "run --password=",
    "run --password=false --x=y1", "run --password== x1",
])  # fmt: skip
def test_an_option_without_a_password_stays(said: str) -> None:
    assert redact(said) == said


STAYS = [
    "def login(user: str, password: str) -> Token:",
    "password = getpass.getpass()",
    "password = os.environ['DB_PASSWORD']",
    "password: ${DB_PASSWORD}",
    "DB_PASSWORD=$DB_PASSWORD",
    "password: {{ vault_password }}",
    'api_key = "<your-api-key>"',
    'api_key = "YOUR_API_KEY"',
    'password = "changeme"',
    'token = "xxxxxxxxxxxxxxxx"',
    "token = None",
    'secret: "***"',
    "const token = await getToken(user)",
    "self.token = token",
    "if (password === confirmPassword) {",
    "max_tokens = 4096",
    '"input_tokens": 123456, "output_tokens": 789',
    "tokenizer = AutoTokenizer.from_pretrained(name)",
    "the password is required and must have eight characters",
    "key = sorted(items, key=lambda item: item.name)",
    "for key, value in table.items():",
    "primary_key=True, foreign_key='users.id'",
    "author: Jane Doe <jane@example.org>",
    "git commit -m 'Rotate the signing key: see the notes'",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "/home/bob/projects/token-service/src/secret_store/password_reset.py",
    "src/components/PasswordField.tsx:42: passwordStrength(value)",
    "from app.auth.tokens import create_access_token, verify_password",
    "--- PASS: TestTokenRefresh/expired_token (0.01s)",
    "test_password_reset PASSED",
    "ls --pwd C:/Users/bob",
    "PWD=/home/bob/work",
    "SSH_AUTH_SOCK=/run/user/1000/keyring/ssh",
    "KEYBOARD_LAYOUT=qwerty",
    "The keys are: up, down, enter",
    "x-request-id: 7f3e2a91-5b4c-4d8e-9f60-1a2b3c4d5e6f",
    "npm ERR! code E401",
    "https://example.org/reset-password?step=2",
    "git@github.com:owner/name.git",
    "https://github.com/owner/name/blob/main/docs/tokens.md#api-keys",
    'integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"',
    "X-Amz-Credential=AK" + "IAQWERTYUIOPASDFGH%2F20260101%2Feu-west-1%2Fs3%2Faws4_request",
]


@pytest.mark.parametrize("value", [DRAWN, "q8Rt3vLm0Zx7Kp2W"])
@pytest.mark.parametrize("template", GONE)
def test_the_value_goes_and_the_name_stays(template: str, value: str) -> None:
    text = template.format(value)
    out = redact(text)
    assert value not in out
    before, after = text.split(value)
    assert out.startswith(before)
    assert out.endswith(after)


@pytest.mark.parametrize(
    "template", ['password = "{}"', "DB_PASSWORD={}", "postgres://bob:{}@db/app", "password: '{}'"]
)
def test_a_password_that_somebody_made_up_goes(template: str) -> None:
    assert CHOSEN not in redact(template.format(CHOSEN))


@pytest.mark.parametrize("template", ['password = "{}"', "DB_PASSWORD={}", "password: '{}'", '{{"password": "{}"}}'])
def test_a_password_of_one_word_goes(template: str) -> None:
    assert "sunshine" not in redact(template.format("sunshine"))


@pytest.mark.parametrize("text", STAYS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("made", ["hunter2" * 2, "summer" + "2024", "Sommer" + "2024", "sunshine" + "7"])
@pytest.mark.parametrize("template", ["password={}", "db.password = {}", "connect(password={})", "?password={}&x=1"])
def test_a_word_with_numbers_is_a_password_though_nothing_quotes_it(template: str, made: str) -> None:
    assert made not in redact(template.format(made))


@pytest.mark.parametrize("code", ["user_password", "getpass()", "password", "password1", "user2", "argv1", "row2[0]",
                                  "field2.get()", "sha256sum", "x509cert", "newPass2", "self.pw2"])  # fmt: skip
def test_code_that_leads_to_a_password_stays(code: str) -> None:
    for text in (f"password={code}", f"password = {code}"):
        assert redact(text) == text


def test_counts_are_kept_by_kind() -> None:
    counts: dict[str, int] = {}
    redact(f'password = "{DRAWN}"\nAPI_TOKEN={DRAWN}\ntoken: "{DRAWN}"', counts)
    assert counts == {"password": 1, "token": 2}


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("DB_PASS: 'correct horse battery'", True),
        ('export PGPASSWORD="velvet anchor mosaic tundra"', True),
        ('DB_PASSWORD="summer in the city 99"', True),
        ('passphrase = "velvet anchor mosaic tundra"', True),
        ('GPG_PASSPHRASE="my dog is at home"', True),
        ('wifi_passphrase: "velvet anchor, mosaic tundra"', True),
        ('"passphrase": "compass river mountain stone"', True),
        ('"passphrase": "a value is required."', False),
        ('INVALID_PASSWORD: "Invalid email or password"', False),
        ('FORGOT_PASSWORD: "Mot de passe oublié"', False),
        ('TOO_WEAK_PASSWORD = "choose something stronger"', False),
        ('DB_PASSWORD = "Your database has one"', False),
        ('TEST_PASS = "all tests green"', False),
        ('RENDER_PASS = "main color depth"', False),
        ('passphrase: "enter it twice, please"', False),
        ('password: "at least eight characters"', False),
        ('DB_PASS = "two words"', False),
    ],
)
def test_a_passphrase_of_words_under_a_shouted_name(text: str, gone: bool) -> None:
    assert (redact(text) != text) == gone

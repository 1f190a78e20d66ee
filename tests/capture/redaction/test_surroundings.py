"""Where credentials stand in a day's work, and what stands there without being one. All values are invented."""

from __future__ import annotations

import base64

import pytest

from capture.redaction import redact

R = "kq7Zt9" + "wPx2mV" + "bL4n"
LONG = R + "Tz8s" + R[::-1]
HEX = "3f9a1c7b" + "e25d8046"
SHA1 = "9fceb02d0ae598e95dc9" + "70b74767f19372d61af8"
GH = "ghp_" + "aB3dE6gH9jK2mN5pQ8" + "sT1vW4xY7zC0fG3hJ6"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NSJ9." + "abcdefGHIJKL123456"
MADE_UP = "hunter22" + "xq"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


GONE = [
    # files of settings
    (f"DB_PASSWORD={R}", R),
    (f"SECRET_KEY_BASE={HEX * 4}", HEX),
    (f"JWT_SECRET={HEX * 2}", HEX),
    (f"spring.datasource.password={R}", R),
    (f"password: {MADE_UP}", MADE_UP),
    (f"    environment:\n      - POSTGRES_PASSWORD={R}\n      - TZ=UTC", R),
    (f"    environment:\n      POSTGRES_PASSWORD: {R}", R),
    (f"ansible_ssh_pass={R}", R),
    (f"WEBHOOK_SECRET: '{R}'", R),
    # manifests
    (f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  tls: {b64(MADE_UP)}\n", b64(MADE_UP)),
    (f"apiVersion: v1\nkind: Secret\nstringData:\n  conn: {R}\ntype: Opaque\n", R),
    (f"kind: Config\nusers:\n- name: a\n  user:\n    token: {LONG}", LONG),
    (f"    client-key-data: {b64('-----BEGIN RSA ' + 'PRIVATE KEY-----' + LONG)}", b64(LONG)[4:20]),
    (f'variable "db_password" {{\n  type    = string\n  default = "{R}"\n}}', R),
    (f'  master_password = "{R}"', R),
    (f'{{"auths": {{"registry.example.org": {{"auth": "{b64("bob:" + LONG)}"}}}}}}', b64("bob:" + LONG)),
    # what a JSON encoder, a shell or a careless hand puts before a token
    (f"see x{GH}", GH),
    (f"GITHUB_{GH}", GH),
    (f"see -n{GH}", GH),
    (f"?tok_{GH}", GH),
    (f"see 7{GH}", GH),
    (f"b\\x3d{GH}", GH),
    (f"https://x.example.org/?token\\u003d{GH}", GH),
    (f"https://x.example.org/?token\\u003d{R}\\u0026page\\u003d2", R),
    (f"see x{JWT}", JWT),
    # command lines
    (f"curl -H 'Authorization: Bearer {LONG}' https://x.example.org", LONG),
    (f"curl -H 'Authorization: token {HEX * 2}{HEX[:8]}' https://x.example.org", HEX),
    (f'curl -H "PRIVATE-TOKEN: {R}" https://x.example.org', R),
    (f"curl --user bob:{R} https://x.example.org", R),
    (f"curl -sS -ubob:{R} https://x.example.org", R),
    (f"deploy --password {R} --force", R),
    (f"deploy --password='{R}'", R),
    (f"mysql -u root -p{R} app", R),
    ("mysql -psup3rSecret", "sup3rSecret"),
    ("mysql -psecret app", "secret"),
    (f"mysqldump -uroot -p'{R}' app", R),
    (f"sshpass -p {R} ssh bob@host", R),
    (f"redis-cli -a {R} ping", R),
    (f"docker login -u bob -p {R} registry.example.org", R),
    (f"docker run -e DB_PASS={R} app", R),
    (f"az login --service-principal -u app -p {R} --tenant t", R),
    (f"ldapsearch -x -w {R} -D cn=admin", R),
    (f"PGPASSWORD={R} psql -h db", R),
    (f"kubectl create secret generic a --from-literal=password={R}", R),
    (f"kubectl --token={LONG} get pods", LONG),
    (f"gpg --batch --passphrase {R} -d a.gpg", R),
    # addresses and connection strings
    (f"mongodb+srv://bob:{R}@cluster.example.org/app", R),
    (f"amqp://bob:{R}@mq:5672", R),
    (f"pip install --index-url https://bob:{R}@pypi.example.org/simple a", R),
    (f"index-url = https://__token__:{R}@pypi.example.org/simple", R),
    (f"Server=db;Database=a;User Id=sa;Password={R};Encrypt=true", R),
    (f"host=localhost user=bob password={R} dbname=app", R),
    (f"AccountName=a;AccountKey={LONG}{LONG}Qz==;EndpointSuffix=core.windows.net", LONG),
    (f"Endpoint=sb://a.example.org/;SharedAccessKeyName=Root;SharedAccessKey={LONG}Q2A=", LONG),
    # files of clients
    (f"//registry.example.org/:_authToken={LONG}", LONG),
    (f"_password={b64(MADE_UP + 'zz9')}", b64(MADE_UP + "zz9")),
    (f"machine api.example.org login bob password {R}", R),
    (f"machine api.example.org\n  login bob\n  password {R}\n", R),
    (f"aws_secret_access_key = {LONG}x9Q2", LONG),
    (f"aws_session_token={LONG * 3}", LONG),
    # what its own shape or address gives away
    (f"https://hooks.slack.com/services/T0{HEX[:8].upper()}/B0{HEX[8:].upper()}/{LONG}", LONG),
    (f"https://discord.com/api/webhooks/123456789012345678/{LONG * 2}", LONG),
    (f"client.run('MTIzNDU2Nzg5MDEyMzQ1Njc4.Gk7Zt9.{LONG}x')", LONG),
    (f"https://a.blob.example.org/c?sv=2024-01-01&sig={LONG}AbCdEfGh%3D", LONG[:20]),
    (f"key: -----BEGIN PRIVATE {'KEY'}-----\\n{LONG}{LONG}\\n-----END PRIVATE {'KEY'}-----\\n", LONG),
    # headers
    (f"Cookie: theme=dark; sessionid={LONG}; lang=en", LONG),
    (f"Set-Cookie: connect.sid=s%3A{LONG}; Path=/; HttpOnly", LONG),
    (f"Proxy-Authorization: Basic {b64('bob:' + MADE_UP)}", b64("bob:" + MADE_UP)),
    (f'WWW-Authenticate: Digest realm="a", nonce="{LONG}"', LONG),
    (f'const authCode = "{HEX[:10]}";', HEX[:10]),
]

STAYS = [
    "wslpath -u 'C:/Users/me'",
    "git push -u origin:main",
    "docker run -u 1000:1000 image",
    "gobuster dir -u http://10.0.0.5:8080 -w words.txt",
    "beeline -u jdbc:hive2://h:10000 -n hive",
    "mysql -u root -p app",
    "mysql -p$DB_PASS app",
    "find /var/lib/mysql -print",
    "mysqldump -p<password> app",
    # what is long and drawn, and open
    f"commit {SHA1}",
    f"key: {SHA1}",
    f'"integrity": "sha512-{base64.b64encode(bytes(range(7, 71))).decode()}",',
    f'resolved "https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#{SHA1}"',
    "github.com/a/b v1.2.3 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    f"docker pull app@sha256:{SHA1}{SHA1[:24]}",
    'src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4"',
    'class="Button_root__3kXq9 css-1x2y3z4"',
    "id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    f'NextToken: "{LONG}"',
    f'"LockToken": "{LONG}"',
    'publicKeyToken="6595b64144ccf1df"',
    # other names, and names of things
    'ACCESS_TOKEN = "APP_ACCESS_TOKEN2"',
    "const string PrincipalSecret = 'XQ_AZREPO_SP_SECRET';",
    'expected_token = "LET_ME_IN-1"',
    "apiKey = messages.MessageField('CloudApihubV2Key', 1)",
    'cipher_key = "aes-256-gcm"',
    'key = "fs.s3.enableServerSideEncryption"',
    'key = "signed-request-2.pem"',
    "secret: app-secrets-prod",
    "secretName: web-tls-cert2",
    "image_pull_secrets: 'list[V1LocalObjectReference]'",
    '"encryptionKey": "arn:aws:kms:us-west-2:111122223333:key/c9fe2447-0795-4fda-afd3-1f2e3d4c5b6a"',
    "(io.webtoken:webtoken-jackson-0.11.2)",
    "arn:aws:secretsmanager:eu-west-1:111122223333:secret:app/db-a1B2c3",
    'password_field = "user_pass2"',
    'token_type = "qzbearer2x"',
    # code
    "password = opts.password",
    "passwd = acct = ''",
    "self.last_token = state.token[:7]",
    "def match(signing_keys: list[PyJWK]) -> PyJWK | None:",
    "self._pkey = pkey",
    "String token;",
    "password?: string",
    "token: Optional[str] = None",
    "if (typeof this.password === 'function') {",
    'TOKEN = r"[a-zA-Z_][a-zA-Z0-9_-]*"',
    'secret = re.compile(r"([a-zA-Z0-9]{44}(?![a-z]))")',
    "api_key=settings.API_KEY",
    "apiKey: process.env.API_KEY,",
    'key={`row-${index}`} data-key="item-12345"',
    '"key": "ctrl+k ctrl+s"',
    'cacheKey = "user-list-v2"',
    'required_keys=["pod-ipv4-range"]',
    '"HashKey": "340282366920938463463374607431768211455"',
    "kind: ConfigMap\ndata:\n  greeting: hello2you\n",
    "kind: SecretStore\ndata:\n  greeting: hello2you\n",
    # prose, logs, marked-up text
    "token count: 1234",
    "password must be at least 8 characters",
    "cargo-credential: bump to the next release",
    "expected token: RPAREN before COMMA",
    "PASS tests/auth.test.ts (5.123 s)",
    "&ldquo;secret:1&rdquo;",
    "KeyError: 'x86_64-linux-gnu2'",
    '"forgot_password": "forgot-password-link"',
    '<input type="password" name="pwd" autocomplete="new-password">',
    "Authorization: Bearer https://example.org/rfc6750",
    # stand-ins and references
    "Password: ********",
    "Authorization: Bearer $TOKEN",
    "https://${USER}:${PASSWORD}@example.org/",
    "https://example.org:8080/a?b=c",
    "token=$(cat /run/secrets/token)",
    "secretKeyRef: {name: db, key: password}",
    "-----BEGIN " + "PRIVATE KEY-----\nXXXX\nXXXX\n-----END " + "PRIVATE KEY-----",
    "Cookie: theme=dark; lang=en; session=none",
]


@pytest.mark.parametrize(("text", "secret"), GONE)
def test_the_secret_goes_and_its_surroundings_stay(text: str, secret: str) -> None:
    out = redact(text)
    assert secret not in out
    assert out[:4] == text[:4]


@pytest.mark.parametrize("text", STAYS)
def test_a_look_alike_stays(text: str) -> None:
    assert redact(text) == text

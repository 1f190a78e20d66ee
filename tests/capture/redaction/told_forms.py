"""Forms in which people tell a password or token: `{}` is the secret. Other tests join them: `FORMS`, `draw`."""

from __future__ import annotations

import random
import string

LOWER, DIGITS = string.ascii_lowercase, string.digits
ALPHABETS = {
    "letters and digits": string.ascii_letters + DIGITS,
    "small letters and digits": LOWER + DIGITS,
    "symbols": string.ascii_letters + DIGITS + "!@#$%^&*-_+=?",
}


def draw(dice: random.Random, alphabet: str = "letters and digits", size: int = 12) -> str:
    """A value drawn from one of ALPHABETS."""
    return "".join(dice.choice(ALPHABETS[alphabet]) for _ in range(size))


LANGUAGES: dict[str, list[str]] = {
    "English": [
        "use {} as the password", "please use {} as the new admin password.", "the token is {}", "the pw is {}",
        "pw: {}", "the staging password is {}, ok?", "my password is still {}",
        "log in with user bob and password {}", "the api key is {}", "the secret is {}", "password for root is {}",
        "the pass is {}", "the wifi password {} works", "root pw is {}", "{} is the password",
        "the password has been changed to {}", "the access token for CI is {}.", "the db pass is `{}`",
        'sign in as bob, the password is "{}"', "use password {} for joe", "the pw's {}", "the token's {}",
        "set the admin password as {}", "password (prod): {}",
    ],
    "German": [
        "Das Passwort ist {}.", "Kennwort: {}", "das Passwort für den Server lautet {}", "nimm {} als Passwort",
        "Passwort {} benutzen", "Mein neues Kennwort ist jetzt {}", "der Token lautet {}", "Adminpasswort: {}",
        "Zugangsdaten: admin / {}", "melde dich mit dem Passwort {} an",
    ],
    "Spanish": [
        "contraseña: {}", "la contraseña es {}", "la contraseña del servidor de pruebas es {}.",
        "usa {} como contraseña", "la nueva contraseña de root: {}", "Contraseña: `{}`", "el token es {}",
        "entra con la contraseña {}", "credenciales: admin / {}", "mi clave es {}",
    ],
    "French": [
        "mot de passe : {}", "le mot de passe est {}", "Le mot de passe du serveur est {}.",
        "utilise {} comme mot de passe", "mot de passe: {}", "mdp : {}",
        "le nouveau mot de passe de la base est « {} »", "le jeton est {}", "identifiants : admin / {}",
        "connecte-toi avec le mot de passe {}",
    ],
    "Italian": [
        "la password è {}", "parola d'ordine: {}", "la password del server è {}.", "usa {} come password",
        "La nuova password di root è {}", "il token è {}", "credenziali: admin / {}", "entra con la password {}",
    ],
    "Portuguese": [
        "senha: {}", "a senha é {}", "a senha do banco de dados é {}.", "use {} como senha", "Senha do admin: {}",
        "a palavra-passe é {}", "o token é {}", "a nova senha do servidor ficou {}", "credenciais: admin / {}",
    ],
    "Dutch": [
        "wachtwoord: {}", "het wachtwoord is {}", "het wachtwoord van de server is {}.", "gebruik {} als wachtwoord",
        "mijn nieuwe wachtwoord is nu {}", "het token is {}", "inloggegevens: admin / {}", "log in met wachtwoord {}",
    ],
    "Swedish": [
        "lösenord: {}", "lösenordet är {}", "Lösenordet till servern är {}.", "använd {} som lösenord",
        "mitt nya lösenord är {}", "lösen för root: lösenord {}", "inloggning: admin / {}",
        "logga in med lösenordet {}",
    ],
    "Danish and Norwegian": [
        "adgangskode: {}", "adgangskoden er {}", "brug {} som adgangskode", "kodeordet er {}", "passordet er {}",
        "bruk {} som passord", "passord: {}", "passordet til serveren er {}.",
    ],
    "Finnish": ["salasana: {}", "salasana on {}", "käytä salasanaa {}", "palvelimen salasana on {}."],
    "Polish": [
        "hasło: {}", "hasło to {}", "Hasło do serwera to {}.", "użyj {} jako hasła", "nowe hasło roota to {}",
        "zaloguj się hasłem {}", "haslo: {}", "token to {}", "hasło jest {}", "Hasło: `{}`",
    ],
    "Czech": [
        "heslo: {}", "heslo je {}", "Heslo k serveru je {}.", "použij {} jako heslo", "nové heslo pro root je {}",
        "přihlas se heslem {}", "token je {}", "Heslo: `{}`",
    ],
    "Croatian and Slovenian": ["lozinka: {}", "lozinka je {}", "koristi {} kao lozinku", "geslo je {}", "geslo: {}"],
    "Hungarian": ["jelszó: {}", "a jelszó {}", "a szerver jelszava {}", "használd a {} jelszót"],
    "Romanian": ["parola: {}", "parola este {}", "parola serverului este {}.", "folosește {} ca parolă"],
    "Russian": [
        "пароль: {}", "пароль {}", "Пароль от базы данных — {}", "пароль от сервера такой: {}",
        "используй {} как пароль", "используй пароль {}", "войди с паролем {}", "токен: {}", "логин admin, пароль {}",
        "мой пароль теперь {}.",
    ],
    "Ukrainian": ["пароль: {}", "пароль до сервера {}", "використай {} як пароль", "новий пароль — {}", "токен: {}"],
    "Bulgarian and Serbian": ["парола: {}", "паролата е {}", "лозинка је {}", "лозинка: {}"],
    "Greek": ["κωδικός: {}", "ο κωδικός είναι {}", "κωδικός πρόσβασης: {}", "το συνθηματικό είναι {}"],
    "Turkish": [
        "şifre: {}", "şifre {}", "şifresi {}", "parola: {}", "Veritabanı şifresi {}.", "şifre olarak {} kullan",
        "{} şifresini kullan", "yeni parola {} oldu", "İşte Şifre: {}", "kullanıcı admin, şifre {}",
    ],
    "Arabic and Persian": ["كلمة المرور: {}", "كلمة المرور هي {}", "كلمة السر {}", "رمز عبور {} است"],
    "Hebrew": ["הסיסמה היא {}", "סיסמה: {}", "השתמש בסיסמה {}"],
    "Hindi": ["पासवर्ड {} है", "पासवर्ड: {}", "सर्वर का पासवर्ड {} है।"],
    "Thai": ["รหัสผ่าน: {}", "รหัสผ่านคือ {}", "ใช้รหัสผ่าน {}"],
    "Vietnamese": ["mật khẩu: {}", "mật khẩu là {}", "mật khẩu của máy chủ là {}.", "dùng {} làm mật khẩu"],
    "Indonesian and Malay": [
        "kata sandi: {}", "kata sandinya adalah {}", "gunakan {} sebagai kata sandi", "kata laluan ialah {}",
    ],
    "Korean": [
        "비밀번호: {}", "비밀번호는 {}", "비밀번호는 {}입니다", "비밀번호는 {} 입니다.", "{}를 비밀번호로 사용해",
        "비밀번호 {}로 로그인해줘", "DB 비밀번호가 {}야", "암호는 {}", "비번은 {}이야", "패스워드: {}",
        "토큰은 {}입니다", "서버 비밀번호를 {}로 바꿔줘", "API 키는 {}입니다", "password는 {}야",
    ],
    "Japanese": [
        "パスワード: {}", "パスワード：{}", "パスワードは{}です", "パスワードは {} です。",
        "{}をパスワードとして使って", "パスワードを{}に変更して", "DBのパスワードは「{}」です",
        "パスワード{}でログインして", "トークンは{}です", "passwordは{}です", "暗証番号は{}", "APIキーは{}です",
        "合言葉は{}", "パスは {} です", "DBのパスは{}です", "パス: {}",
    ],
    "Chinese": [
        "密码: {}", "密码：{}", "密码是{}", "密码是 {}。", "用{}作为密码", "用 {} 当密码", "数据库的密码是{}",
        "把密码改成{}", "密碼是{}", "口令：{}", "令牌是{}", "账号 admin 密码 {}", "密码为{}，请保存", "root密码{}",
    ],
}  # fmt: skip
"""Sentences, by language."""

PAIRS = [
    "login: admin/{}", "use admin/{}", "use root:{} to sign in", "u: admin p: {}", "u: admin\np: {}",
        "creds admin:{}", "creds: admin / {}", "credentials: admin:{}", "the creds are admin:{}",
    "log in with admin:{}", "login is bob / {}", "credentials for staging: bob / {}", "sign in with bob/{}",
    "login joe:{}", "Anmeldedaten: admin:{}", "логин: admin/{}", "로그인: admin/{}", "ログイン: admin / {}",
    "账号：admin/{}", "username: admin, password: {}", "user admin pass {}",
]  # fmt: skip
"""A user and a password side by side."""

LAYOUTS = [
    "| password | {} |", "| user | password |\n|---|---|\n| admin | {} |", "| Password | `{}` |",
    "| host | user | password | note |\n|:--|:--|:--|:--|\n| db1 | joe | {} | primary |\n| db2 | ann | none | |",
    "| 서버 | 비밀번호 |\n|---|---|\n| db | {} |", "| パスワード | {} |", "| Пароль | {} |",
    "| **Passwort** | **{}** |", " user  |   password   \n-------+--------------\n admin | {}\n(1 row)\n",
    "│ user  │ password     │\n├───────┼──────────────┤\n│ admin │ {} │", "| API key | {} |", "| contraseña | {} |",
    "name | password\n--- | ---\nadmin | {}", "password\n{}", "Password:\n{}\n", "password:\n  {}\n",
    "## Password\n\n{}\n", "**Password**\n`{}`\n", "Root password\n{}\nthanks", "비밀번호\n{}", "パスワード\n{}",
    "密码：\n{}", "Mot de passe :\n{}", "Пароль\n{}\n", "Kennwort\n\n    {}\n", "token\n{}\n", "API key:\n{}",
    "user\nadmin\npassword\n{}\n", "<tr><td>password</td><td>{}</td></tr>",
    "<tr>\n<th>Password</th>\n<td><code>{}</code></td>\n</tr>",
    "<table><tr><th>password</th></tr><tr><td>{}</td></tr></table>", "user\tpassword\nadmin\t{}",
    "user,password\nadmin,{}", "id;login;password\n1;joe;{}\n", "the password is:\n\n```\n{}\n```",
    "Password:\n```text\n{}\n```", "Passwort:\n\n```\n{}\n```", "here is the password\n{}", "password below:\n{}",
]  # fmt: skip
"""A label with its value in another cell or line."""

PGPASS = [
    "localhost:5432:app:joe:{}", "db.internal:5432:*:admin:{}\n", "*:*:*:joe:{}", "10.0.0.7:6432:app_prod:svc-app:{}",
    "# hosts\ndb1:5432:a:b:{}\ndb2:5433:a:c:other", "echo 'localhost:5432:app:joe:{}' >> ~/.pgpass",
    "h:25060:defaultdb:doadmin:{}", "/var/run/postgresql:5432:app:joe:{}", "[::1]:5432:app:joe:{}",
]  # fmt: skip
"""Lines of a .pgpass."""

COOKIES = [
    "curl -b 'session={}' https://x.example.org", 'curl --cookie "sid={}; theme=dark" https://x.example.org',
    "curl -b session={} https://x.example.org", "curl -s --cookie=auth={} https://x.example.org",
    "curl https://x.example.org -b 'a=1; id={}'",
    "curl -sS -X POST \\\n  -b 'PHPSESSID={}' \\\n  https://x.example.org",
    'requests.get(url, cookies={{"session": "{}"}})',
    "requests.get(url, cookies={{'sessionid': '{}', 'lang': 'en'}})", "cookies = {{'lang': 'en', 'auth': '{}'}}",
    "cookies=dict(sid='{}')", "cookies: {{ session: '{}' }},", 'session.cookies.set("sid", "{}")',
    'document.cookie = "session={}; path=/"', '{{"headers": {{"Cookie": "session={}"}}}}', "Cookie: session={}",
    "http GET x.example.org Cookie:session={}", "wget --header='Cookie: id={}' u",
    "client.set_cookie('session', '{}')", '{{"cookies": [{{"name": "sid", "value": "{}"}}]}}',
    "cookies={{\n    'session': '{}',\n}}",
]  # fmt: skip
"""Cookies on command lines and in code."""

FORMS: dict[str, list[str]] = {**LANGUAGES, "pairs": PAIRS, "layouts": LAYOUTS, "pgpass": PGPASS, "cookies": COOKIES}

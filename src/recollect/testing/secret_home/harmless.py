"""Make texts that resemble secrets and are none: ids, hashes, placeholders, code that speaks of tokens and passwords.

`{T}` `{P}` `{t}` `{U}` `{k}` is a secret's name in the spellings of several languages (`{T2}` another one), `{i}` `{I}` `{s}`
made-up identifiers, `{w}` `{x}` words, `{d}` `{D}` numbers, `{hex:40}` so many random letters of an alphabet, `{B64:32}` base64
of so many bytes.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Final

from recollect.testing.secret_home.marked_text import (
    BASE32,
    BASE62,
    BASE64,
    BASE64URL,
    FIRST_NAMES,
    HEX,
    LOWER36,
    WORDS,
    Dice,
    base64_of,
)
from recollect.testing.secret_home.values import pem

_NAMES: Final = (
    "access token",
    "api key",
    "client secret",
    "db password",
    "refresh token",
    "auth token",
    "private key",
)
_ALPHABETS: Final = {
    "hex": HEX,
    "HEX": HEX.upper(),
    "b62": BASE62,
    "b64": BASE64,
    "b64u": BASE64URL,
    "low": LOWER36,
    "num": string.digits,
    "b32": BASE32,
}
_MARK: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9]*)(?::(\d+))?\}")


def _spellings(name: str, number: str) -> dict[str, str]:
    words = name.split()
    return {
        "T" + number: words[0] + "".join(word.capitalize() for word in words[1:]),
        "P" + number: "".join(word.capitalize() for word in words),
        "t" + number: "_".join(words),
        "U" + number: "_".join(words).upper(),
        "k" + number: "-".join(words),
    }


def _one_of(*texts: str) -> Callable[[Dice], str]:
    def make(dice: Dice) -> str:
        first, second = dice.sample(_NAMES, 2)
        words = dice.sample(WORDS, 6)
        fixed = _spellings(first, "") | _spellings(second, "2")
        fixed |= {"w": words[0], "x": words[1], "y": words[2], "i": words[3] + words[4].capitalize()}
        fixed |= {"I": "".join(word.capitalize() for word in words[3:]), "s": f"{words[3]}_{words[4]}"}
        fixed |= {"S": "-".join(words[2:]), "f": dice.choice(FIRST_NAMES)}

        def put(match: re.Match[str]) -> str:
            mark, size = match[1], int(match[2] or 0)
            if mark in fixed and not size:
                return fixed[mark]
            if mark in _ALPHABETS and size:
                return dice.of(_ALPHABETS[mark], size)
            if mark == "B64" and size:
                return base64_of(dice.raw(size))
            if mark == "uuid":
                return dice.uuid()
            if mark in ("d", "D"):
                return str(dice.randrange(2, 99) if mark == "d" else dice.randrange(1000, 99999))
            return match[0]

        return _MARK.sub(put, dice.choice(texts))

    return make


HARMLESS: Final[dict[str, Callable[[Dice], str]]] = {
    "ids": _one_of(
        "{uuid}",
        "uid: {uuid}",
        "toolu_01{b62:22}",
        "request-id: req_01{b62:22}",
        "01J{b32:23}",
        '"key": "{uuid}"',
        "traceparent: 00-{hex:32}-{hex:16}-01",
        "session {uuid} resumed",
        "eth 0x{hex:40}",
        "container {hex:12} started",
        "arn:aws:iam::{num:12}:role/{w}-{x}",
        "arn:aws:secretsmanager:eu-west-1:{num:12}:secret:{w}/{x}-{b62:6}",
    ),
    "hashes": _one_of(
        "commit {hex:40}\nAuthor: {f}",
        "{hex:64}  dist/{w}.tar.gz",
        '"integrity": "sha512-{B64:64}",',
        "  checksum: 10c0/{B64:64}",
        'checksum = "{hex:64}"',
        "SHA256:{b64:43}",
        "/nix/store/{low:32}-{w}-1.2",
        'etag: W/"{hex:32}"',
        "--hash=sha256:{hex:64}",
        "cache key: {hex:40}",
        'cacheKey = "{w}-{hex:32}"',
        "md5 ({w}) = {hex:32}",
        "digest: sha256:{hex:64}",
        "sha384-{B64:48}",
    ),
    "placeholders": _one_of(
        "API_KEY=your-api-key-here",
        "export OPENAI_API_KEY=sk-...",
        "ANTHROPIC_API_KEY=sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "token: <YOUR_TOKEN>",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "password: changeme",
        "SECRET_KEY=replace-me-with-a-long-random-string",
        'api_key = "INSERT_KEY_HERE"',
        "AUTH_TOKEN=***********************",
        "password=[REDACTED]",
        "DB_PASSWORD=${DB_PASSWORD:?not set}",
        "sk-ant-api03-...AA",
        "xoxb-your-token-here",
        "AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        '"accessToken": "sk-ant-oat01-..."',
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "password: '<hidden>'",
        "{U}=TODO",
        '{t}: "{{ {t} }}"',
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "curl -u user:password https://example.com",
        "ghp_1234567890abcdef1234567890abcdef1234",
        "{U}=%{U}%",
        "{t} = None",
        "token=abc123",
    ),
    "addresses": _one_of(
        "postgres://user:password@localhost:5432/app",
        "postgresql://postgres:postgres@127.0.0.1/test",
        "https://user:pass@example.com/r.git",
        "redis://:${REDIS_PASSWORD}@cache:6379",
        "mysql://root:root@db/test",
        "https://<token>@github.com/{w}/{x}.git",
        "mongodb://<username>:<password>@cluster0.example.net",
        "amqp://guest:guest@localhost:5672",
        "ssh://git@github.com:22/{w}/{x}",
        "git@github.com:{w}/{x}.git",
        "http://localhost:{D}/@{w}/x",
        'f"postgres://{user}:{password}@{host}/{name}"',
        "https://{w}.io/@{f}:8080",
        "https://unpkg.com/@{w}/{x}@1.2.3",
        "docker://ghcr.io/{w}/{x}:{d}@sha256:{hex:64}",
    ),
    "detectors": _one_of(
        "regex = '''\\b(AKIA|ASIA)[A-Z2-7]{16}\\b'''",
        're.compile(r"ghp_[0-9A-Za-z]{36}")',
        'keywords = ["sk-ant-api03", "xoxb-", "-----BEGIN"]',
        "if line.startswith('-----BEGIN RSA PRIVATE KEY-----'):",
        'prefix: "sk_live_"',
        "the prefix of a GitHub token is ghp_, of npm npm_",
        "grep -rn 'AIza' src/",
        "assert is_secret('sk-proj-' + 'a' * 20)",
        "BEGIN = '-----BEGIN PRIVATE KEY-----'\nEND = '-----END PRIVATE KEY-----'",
    ),
    "pictures": lambda dice: base64_of(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + dice.raw(dice.randrange(300, 3000))),
    "public keys": lambda dice: pem(
        dice, dice.choice(["PUBLIC KEY", "CERTIFICATE", "CERTIFICATE REQUEST"]), 400, b"\x30\x82\x02"
    ),
    "paths": _one_of(
        "/{w}/{x}/{y}/{hex:12}.parquet",
        "assets/{w}-{b64u:8}.js  {d}.{d} kB",
        "_next/static/chunks/app/login/page-{hex:16}.js",
        "dist/assets/auth-{b64u:8}.js",
        "build/tokens-{b64u:8}.css",
        "/run/secrets/{t}",
        "token_file = /var/run/{w}/token-{hex:8}",
        '"{w}.js": "{w}.{hex:32}.js"',
        "{T}Path: '/etc/{w}/{k}.pem'",
        "main.{hex:20}.chunk.js.map",
    ),
    "token counts": _one_of(
        "totalTokens := meta.{I}Usage.InputTokens + meta.{I}Usage.CacheCreationTokens +",
        "TokenUsage: &{w}.TokenUsage{\n\tInputTokens:  {D},\n}",
        "completionTokens: result.usage?.outputTokens || 0,",
        "maxOutputTokens: options.maxTokens,",
        "tokenBudget = contextWindow.remaining({i}.{x}Tokens)",
        "self.token_count += len(encoding.encode({s}))",
        '"input_tokens": {D}, "output_tokens": {D}',
        "used 128k tokens, {d}% of 200k",
        "max_tokens=4096",
    ),
    "code that reads": _one_of(
        'token = request.headers["X-Token"]',
        'Authorization: request.headers.get("Authorization") || "",',
        'auth := r.Header.Get("Authorization")',
        'const {T} = req.cookies["{w}-session"] ?? null;',
        '{t} = parts[index].removeprefix("Bearer ")',
        'password = form.cleaned_data["password"]',
        "{t} = params.require(:{w}).permit(:{t})",
        "let {t} = headers.get(AUTHORIZATION).and_then(|v| v.to_str().ok());",
        "{T} = await get{P}({i}Id);",
        "const {w}Token = await {I}.getAccessToken({x}Id);",
        "self.{t} = {t}",
        "client_secret: env.{U},\ncode,",
        "if ({T} !== expected{P}) throw new Error('bad');",
        "{t} = secrets.token_urlsafe(32)",
        "headers = {'Authorization': f'Bearer {{t}}'}",
        "config.{T} = process.env.{U}!;",
        "{T}: this.{T}V2,",
        "return { {T}: user.{T}, expiresIn: 3600 };",
        "{t} = base64.b64encode(os.urandom(32))",
        "api_key=settings.OPENAI_API_KEY2",
        "{P} = {I}.{P}Base64Decode256({i})",
        "expect(screen.getByLabelText('Password2')).toBeVisible()",
        "const key = `user:${id}:v2`",
    ),
    "environment": _one_of(
        '-e {U}="${U}" \\',
        "      - {U}=${U:-}",
        '{U}=os.environ["{U}"]',
        "{t}: ${{ secrets.{U} }}",
        "const {T} = process.env.{U} || process.env.{U2};",
        "{U}={U2}",
        "passenv = {U} {U2}",
        "{U}: !ENV {U}",
        "export {U}=$({w} print-{k})",
        "unset {U} {U2}",
        "{U}= make {w}-{x}",
        "{U}=`pass show {w}`",
        "{t}: vault:secret/data/{w}#{x}",
        "{U}_FILE=/run/secrets/{t}",
        "{t}: op://{w}/{x}/password",
        "{t}={t2}",
        "secretKeyRef: {name: {w}-db2, key: password}",
    ),
    "types": _one_of(
        "{T}: string | undefined;",
        "{t}: Optional[SecretStr] = Field(default=None, repr=False)",
        "pub {t}: Option<Arc<{I}>>,",
        '{T}?: {I}["{T}"];',
        "private readonly {T}: Promise<{I}Credentials>;",
        "func rotate({T}: {I}, completion: @escaping (Result<{P}, Error>) -> Void)",
        'def refresh(self, {t}: str, *, timeout: float = {d}.0) -> "{I}":',
        'type {P} = Brand<string, "{P}">;',
        "apiKey,\nmodel: modelName,",
        "{t}: Base64Str32 = ...",
    ),
    "models": _one_of(
        '"tokenizer", "microsoft/{w}-{x}-base"',
        'AutoTokenizer.from_pretrained("{w}ai/{x}-{d}b-instruct-v0.3")',
        '"tokenizer_class": "{I}TokenizerFast",',
        'tokenizer = tiktoken.get_encoding("o200k_base")',
        '"token_embedding": "blk.{d}.attn_k.weight",',
        "token model: claude-sonnet-4-5-20250929",
    ),
    "hooks and rules": _one_of(
        '["detect-private-key"] = Builtins.detect_private_key',
        "  - id: detect-aws-credentials\n    args: [--allow-missing-credentials]",
        '"no-hardcoded-credentials": "error",',
        'skip: ["gitleaks", "detect-secrets", "{S}"]',
        "secrets-scan: uses: ./.github/workflows/secrets-{y}.yml",
    ),
    "translations": _one_of(
        '"auth.{w}.passwordReset.title": "Passwort zurücksetzen",',
        "login.errors.invalid_token=El token ha caducado",
        '"forgotPassword": "Mot de passe oublié ?",',
        'msgid "Enter your {w} password"\nmsgstr "Geben Sie Ihr Passwort ein"',
        "passwordTooShort: 'パスワードは12文字以上にしてください',",
        '"settings.apiKeys.empty": "You have no API keys yet.",',
        "password: must be at least 8 characters with 1 digit",
        "Password: at least 12 letters",
    ),
    "schemas": _one_of(
        "password_digest VARCHAR(255) NOT NULL,\n{t}_expires_at TIMESTAMPTZ,",
        't.string :encrypted_password, null: false, default: ""',
        'ALTER TABLE {w}s ADD COLUMN {t} TEXT COLLATE "C";',
        "SELECT id, {t}, created_at FROM {w}_{x} WHERE {t} = $1",
        "GRANT SELECT ({t}) ON {w} TO {x}_reader;",
        "CREATE UNIQUE INDEX idx_{w}_{t} ON {w}s ({t}) WHERE revoked_at IS NULL;",
        "{t}: { type: DataTypes.STRING({d}), allowNull: false },",
        "PRIMARY KEY ({w}_id, {x}_key2)",
    ),
    "public values": _one_of(
        "NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY=pk_live_{b62:24}",
        'loadStripe("pk_test_{b62:24}")',
        "NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY=sb_publishable_{b64u:31}",
        'posthog.init("phc_{b62:43}", { api_host: "/{w}" })',
        'dsn: "https://{hex:32}@o{num:6}.ingest.sentry.io/{num:7}",',
        'data-sitekey="6Le{b64u:37}"',
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b64:43} {f}@laptop",
        "PublicKey = {B64:32}",
        "age1{low:58}",
        "public_key: {hex:64}",
    ),
    "pages": _one_of(
        '"nextPageToken": "CAUQAA{b64u:18}",',
        "next_token={B64:36}",
        "?page_token={b64u:32}&page_size={d}",
        '"continuationToken": "{B64:24}",',
        "NextContinuationToken: {B64:40}",
        '"endCursor": "Y3Vyc29y{b62:20}", "hasNextPage": true',
        "syncToken: CP{b64u:16}=",
        "csrf_token={b62:32}",
    ),
    "pins": _one_of(
        "- uses: actions/checkout@{hex:40} # v4.{d}.2",
        "Download action repository 'actions/create-github-app-token@v2' (SHA:{hex:40})",
        "rev: {hex:40}  # frozen: v2.{d}.0",
        "uses: docker://ghcr.io/{w}/secrets-{x}@sha256:{hex:64}",
        "go: {w}/token v1.{d}.0 h1:{B64:32}",
    ),
    "signatures": _one_of(
        "gpg: using RSA key {HEX:40}",
        "Key fingerprint = {HEX:4} {HEX:4} {HEX:4} {HEX:4}",
        "--recv-keys {HEX:40}",
        "signing key {HEX:16} of {f}",
        "pub   rsa4096/{HEX:16}",
    ),
    "forms": _one_of(
        '<input type="password" name="{t}" autocomplete="current-password" placeholder="Enter your password">',
        '<label for="{k}">{P} of {w}</label>',
        'await page.getByLabel("Password").fill(users.{w}.password);',
        '<PasswordField source="{T}" label="resources.{w}.fields.{t}" />',
        'data-token-field="{S}" aria-describedby="{k}-{w}-hint"',
        "{{ form_widget(form.{T}, { attr: { class: '{S}' } }) }}",
    ),
    "talk": _one_of(
        "the token expires after 3600s, see RFC7519 section 4",
        "rotate the API key: step 1, open v2 of the page",
        "password policy: NIST SP800-63B",
        "The secret is kept in vault2.",
        "token: 128k context, key: 2x faster",
        "Use the key from 1Password (item {w}-{d}).",
        "secret santa 2026: Ines, Tobias",
        "auth: OAuth2/PKCE with S256",
    ),
    "encoded texts": lambda dice: base64_of(" ".join(dice.choices(WORDS, k=20)).encode()),
}

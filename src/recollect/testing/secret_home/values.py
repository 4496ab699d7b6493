"""Make a value of every kind of secret, valid in form."""

from __future__ import annotations

import hashlib
import hmac
import json
import string
import zlib
from collections.abc import Callable
from typing import Final

from recollect.testing.secret_home.marked_text import (
    BASE32,
    BASE62,
    BASE64,
    BASE64URL,
    FIRST_NAMES,
    HEX,
    LAST_NAMES,
    LOWER36,
    UPPER36,
    Dice,
    Secret,
    base64_of,
)

Maker = Callable[[Dice], Secret]
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_DIGITS36: Final = string.digits + string.ascii_lowercase


def _in_digits(number: int, digits: str, count: int) -> str:
    text = ""
    for _ in range(count):
        number, rest = divmod(number, len(digits))
        text = digits[rest] + text
    return text


def _crc62(body: str) -> str:
    return body + _in_digits(zlib.crc32(body.encode()), BASE62, 6)


def _with_hex_crc(head: str, glue: str) -> str:
    return head + glue + f"{zlib.crc32(head.encode()):08x}"


def _routable(dice: Dice) -> str:
    payload = dice.of(BASE64URL, dice.randrange(27, 90))
    head = f"glpat-{payload}.{_in_digits(len(payload), _DIGITS36, 2)}"
    return head + _in_digits(zlib.crc32(head.encode()), _DIGITS36, 7)


def _bech32(prefix: str, data: bytes) -> str:
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    values = [int(bits[place : place + 5], 2) for place in range(0, len(bits), 5)]
    expanded = [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]
    check = 1
    for value in expanded + values + [0] * 6:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= generator if (top >> bit) & 1 else 0
    last = [((check ^ 1) >> 5 * (5 - place)) & 31 for place in range(6)]
    return prefix + "1" + "".join(_BECH32[value] for value in values + last)


def _web_token(dice: Dice, claims: dict[str, object]) -> str:
    def part(value: object) -> str:
        return base64_of(json.dumps(value, separators=(",", ":")).encode(), safe=True, padded=False)

    head = part({"alg": dice.choice(["HS256", "RS256"]), "typ": "JWT"}) + "." + part(claims)
    digest = hmac.new(dice.raw(32), head.encode(), hashlib.sha256).digest()
    return head + "." + base64_of(digest, safe=True, padded=False)


def pem(dice: Dice, label: str, size: int, head: bytes = b"") -> str:
    """Return a block of base64 between the lines of RFC 7468."""
    body = base64_of(head + dice.raw(size))
    lines = "\n".join(body[place : place + 64] for place in range(0, len(body), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"


def password(dice: Dice) -> str:
    """Return a password as people and generators make them."""
    style = dice.randrange(4)
    if style == 0:
        return f"{dice.word().capitalize()}{dice.choice('!#%+=')}{dice.word().capitalize()}{dice.randrange(10, 9999)}"
    if style == 1:
        return dice.of(BASE62, dice.randrange(16, 28))
    if style == 2:
        return dice.choice("-_").join([dice.of(BASE62, 7), dice.of(BASE62, 7), dice.of(BASE62, 6)])
    return dice.choice("!*%^+").join([dice.of(BASE62, 6), dice.of(BASE62, 9), dice.of(BASE62, 3)])


def _url_password(dice: Dice) -> str:
    return password(dice).translate(str.maketrans("%#+=^", "xyzuv"))


def host(dice: Dice) -> str:
    first = dice.choice(["db", "cache", "mq", "api", "pg"])
    return f"{first}-{dice.word()}.{dice.choice(['internal.halden.dev', 'eu.orchardworks.io', 'svc.cluster.local'])}"


def _pypi(dice: Dice) -> str:
    caveat = json.dumps({"version": 1, "permissions": "user"}).encode()
    head = b"\x02\x01\x08pypi.org\x02\x24" + dice.uuid().encode()
    raw = head + b"\x00\x02" + bytes([len(caveat)]) + caveat + b"\x00\x00\x06\x20" + dice.raw(32)
    return "pypi-" + base64_of(raw, safe=True, padded=False)


def _service_account(dice: Dice) -> tuple[str, str, str]:
    key = json.dumps(pem(dice, "PRIVATE KEY", 1190, b"\x30\x82\x04\xbe\x02\x01\x00"))[1:-1]
    before = f'{{"type": "service_account", "project_id": "{dice.word()}", "private_key_id": "{dice.of(HEX, 40)}", '
    return (
        before + '"private_key": "',
        key,
        f'\\n", "client_email": "{dice.word()}@{dice.word()}.iam.gserviceaccount.com"}}',
    )


def _django(dice: Dice) -> tuple[str, str, str]:
    value = dice.choice(["django-insecure-", ""]) + dice.of(LOWER36 + "!@#$%^&*(-_=+)", 50)
    return f"{dice.choice(['SECRET_KEY', 'DJANGO_SECRET_KEY'])} = '", value, "'"


def _token(kind: str, name: str, make: Callable[[Dice], str], *, confidence: str = "definite") -> Maker:
    return lambda dice: Secret(kind, make(dice), name=name, confidence=confidence)


def _named(kind: str, name: str, make: Callable[[Dice], str]) -> Maker:
    return lambda dice: Secret(kind, make(dice), name=name, needs_name=True, confidence="likely")


def _within(
    kind: str,
    make: Callable[[Dice], tuple[str, str, str]],
    *,
    name: str = "ADDRESS",
    whole: bool = True,
    confidence: str = "definite",
    family: str = "secret",
) -> Maker:
    """`make` returns what stands before the secret, the secret, and what stands after it."""

    def one(dice: Dice) -> Secret:
        before, value, after = make(dice)
        end = len(before) + len(value)
        return Secret(
            kind, before + value + after, len(before), end, name=name, whole=whole, confidence=confidence, family=family
        )

    return one


def _block(kind: str, name: str, make: Callable[[Dice], str]) -> Maker:
    return lambda dice: Secret(kind, make(dice), name=name, lines=True)


def _letters(prefix: str, letters: str, count: int) -> Callable[[Dice], str]:
    return lambda dice: prefix + dice.of(letters, count)


def _number(dice: Dice, digits: int) -> str:
    return str(dice.randrange(10 ** (digits - 1), 10**digits))


def _openai(dice: Dice) -> str:
    side = dice.choice([20, 58, 74])
    start = dice.choice(["sk-proj-", "sk-svcacct-", "sk-admin-"])
    return start + dice.of(BASE64URL, side) + "T3BlbkFJ" + dice.of(BASE62, side)


def _discord(dice: Dice) -> str:
    number = base64_of(_number(dice, 18).encode(), padded=False)
    return f"{number}.{dice.of(BASE64URL, 6)}.{dice.of(BASE64URL, 38)}"


_RSA: Final = b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82\x01\x01\x00"
_SSH: Final = b"openssh-key-v1\x00\x00\x00\x00\x04none\x00\x00\x00\x04none\x00\x00\x00\x00\x00\x00\x00\x01"

SECRETS: Final[list[Maker]] = [
    _token("anthropic-api-key", "ANTHROPIC_API_KEY", lambda d: "sk-ant-api03-" + d.of(BASE64URL, 93) + "AA"),
    _token("anthropic-admin-key", "ANTHROPIC_ADMIN_KEY", lambda d: "sk-ant-admin01-" + d.of(BASE64URL, 93) + "AA"),
    _token(
        "anthropic-oauth-token", "OAUTH_TOKEN", lambda d: f"sk-ant-o{d.choice('ar')}t01-" + d.of(BASE64URL, 93) + "AA"
    ),
    _token("openai-api-key", "OPENAI_API_KEY", _openai),
    _token("openai-legacy-key", "OPENAI_API_KEY", lambda d: "sk-" + d.of(BASE62, 20) + "T3BlbkFJ" + d.of(BASE62, 20)),
    _token("openrouter-key", "OPENROUTER_API_KEY", _letters("sk-or-v1-", HEX, 64)),
    _token("groq-key", "GROQ_API_KEY", _letters("gsk_", BASE62, 52)),
    _token("xai-key", "XAI_API_KEY", _letters("xai-", BASE62, 80)),
    _token("huggingface-token", "HF_TOKEN", _letters("hf_", BASE62, 34)),
    _token("perplexity-key", "PPLX_API_KEY", _letters("pplx-", BASE62, 48)),
    _token("replicate-token", "REPLICATE_API_TOKEN", _letters("r8_", BASE62, 37)),
    _token("nvidia-key", "NVIDIA_API_KEY", lambda d: "nvapi-" + d.of(BASE64URL, d.randrange(60, 71))),
    _token("langsmith-key", "LANGSMITH_API_KEY", lambda d: f"lsv2_pt_{d.of(HEX, 32)}_{d.of(HEX, 10)}"),
    _named("deepseek-key", "DEEPSEEK_API_KEY", _letters("sk-", HEX, 32)),
    _token("github-pat", "GITHUB_TOKEN", lambda d: "ghp_" + _crc62(d.of(BASE62, 30))),
    _token(
        "github-app-token", "GITHUB_APP_TOKEN", lambda d: d.choice(["ghs_", "ghu_", "ghr_"]) + _crc62(d.of(BASE62, 30))
    ),
    _token("github-fine-grained-pat", "GH_TOKEN", lambda d: f"github_pat_{d.of(BASE62, 22)}_{d.of(BASE62, 59)}"),
    _token("gitlab-pat", "GITLAB_TOKEN", _letters("glpat-", BASE64URL, 20)),
    _token("gitlab-routable-pat", "GITLAB_TOKEN", _routable),
    _token(
        "gitlab-runner-token", "RUNNER_TOKEN", lambda d: d.choice(["glrt-", "gldt-", "glptt-"]) + d.of(BASE64URL, 20)
    ),
    _token("atlassian-token", "JIRA_API_TOKEN", lambda d: _with_hex_crc("ATATT3xFfGF0" + d.of(BASE64URL, 170), "=")),
    _token("bitbucket-app-password", "BITBUCKET_APP_PASSWORD", _letters("ATBB", BASE62, 32)),
    _token("npm-token", "NPM_TOKEN", lambda d: "npm_" + _crc62(d.of(BASE62, 30))),
    _token("pypi-token", "TWINE_PASSWORD", _pypi),
    _token("rubygems-key", "GEM_HOST_API_KEY", _letters("rubygems_", HEX, 48)),
    _token("crates-token", "CARGO_REGISTRY_TOKEN", _letters("cio", BASE62, 32)),
    _token("nuget-key", "NUGET_API_KEY", _letters("oy2", LOWER36, 43)),
    _token("docker-pat", "DOCKER_TOKEN", _letters("dckr_pat_", BASE64URL, 27)),
    _token("aws-access-key-id", "AWS_ACCESS_KEY_ID", lambda d: d.choice(["AKIA", "ASIA"]) + d.of(BASE32, 16)),
    _named("aws-secret-access-key", "AWS_SECRET_ACCESS_KEY", _letters("", BASE64, 40)),
    _token(
        "aws-session-token",
        "AWS_SESSION_TOKEN",
        lambda d: "IQoJb3JpZ2luX2Vj" + d.of(BASE64, d.randrange(200, 400)) + "=",
    ),
    _token("aws-bedrock-key", "AWS_BEARER_TOKEN_BEDROCK", _letters("ABSK", BASE64, 128)),
    _token("gcp-api-key", "GOOGLE_API_KEY", _letters("AIza", BASE64URL, 35)),
    _token("gcp-oauth-client-secret", "GOOGLE_CLIENT_SECRET", _letters("GOCSPX-", BASE64URL, 28)),
    _token("gcp-oauth-access-token", "ACCESS_TOKEN", lambda d: "ya29." + d.of(BASE64URL, d.randrange(60, 180))),
    _token("gcp-refresh-token", "REFRESH_TOKEN", lambda d: "1//0" + d.of(BASE64URL, d.randrange(60, 100))),
    _within("gcp-service-account-key", _service_account, name="GCP_CREDENTIALS"),
    _token("azure-storage-key", "AZURE_STORAGE_KEY", lambda d: d.of(BASE64, 76) + "+ASt" + d.of(BASE64, 6) + "=="),
    _token(
        "azure-client-secret",
        "AZURE_CLIENT_SECRET",
        lambda d: f"{d.of(BASE62, 3)}{d.randrange(7, 9)}Q~{d.of(BASE62, 34)}",
    ),
    _within(
        "azure-sas-signature",
        lambda d: (
            f"https://{d.word()}.blob.core.windows.net/{d.word()}?sv=2024-11-04&se=2027-01-01&sr=c&sp=rl&sig=",
            base64_of(d.raw(32)).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
            "",
        ),
        whole=False,
        confidence="likely",
    ),
    _token("digitalocean-token", "DIGITALOCEAN_TOKEN", _letters("dop_v1_", HEX, 64)),
    _token("heroku-key", "HEROKU_API_KEY", _letters("HRKU-AA", BASE64URL, 58)),
    _token("vercel-token", "VERCEL_TOKEN", _letters("vcp_", BASE62, 56)),
    _token("netlify-token", "NETLIFY_AUTH_TOKEN", _letters("nfp_", BASE62, 36)),
    _token("supabase-token", "SUPABASE_ACCESS_TOKEN", _letters("sbp_", HEX, 40)),
    _token("supabase-secret-key", "SUPABASE_SECRET_KEY", _letters("sb_secret_", BASE64URL, 31)),
    _token("neon-key", "NEON_API_KEY", _letters("napi_", LOWER36, 64)),
    _token("planetscale-password", "DATABASE_PASSWORD", _letters("pscale_pw_", BASE62, 43)),
    _token("fly-token", "FLY_API_TOKEN", lambda d: "fm2_" + d.of(BASE64, d.randrange(100, 300))),
    _token("databricks-token", "DATABRICKS_TOKEN", _letters("dapi", HEX, 32)),
    _named("cloudflare-token", "CLOUDFLARE_API_TOKEN", _letters("", BASE64URL, 40)),
    _token("vault-token", "VAULT_TOKEN", _letters("hvs.", BASE64URL, 95)),
    _token("terraform-cloud-token", "TF_TOKEN", lambda d: f"{d.of(BASE62, 14)}.atlasv1.{d.of(BASE62, 67)}"),
    _token("pulumi-token", "PULUMI_ACCESS_TOKEN", _letters("pul-", HEX, 40)),
    _token("doppler-token", "DOPPLER_TOKEN", _letters("dp.pt.", BASE62, 43)),
    _token(
        "1password-service-token",
        "OP_SERVICE_ACCOUNT_TOKEN",
        lambda d: "ops_eyJ" + d.of(BASE64URL, d.randrange(250, 400)),
    ),
    _token("age-secret-key", "SOPS_AGE_KEY", lambda d: _bech32("age-secret-key-", d.raw(32)).upper()),
    _token("tailscale-key", "TS_AUTHKEY", lambda d: f"tskey-auth-{d.of(BASE62, 11)}CNTRL-{d.of(BASE62, 32)}"),
    _token(
        "stripe-secret-key",
        "STRIPE_SECRET_KEY",
        lambda d: f"{d.choice('sr')}k_{d.choice(['live', 'test'])}_" + d.of(BASE62, d.choice([24, 99])),
    ),
    _token("stripe-webhook-secret", "STRIPE_WEBHOOK_SECRET", _letters("whsec_", BASE62, 32)),
    _token(
        "slack-bot-token", "SLACK_BOT_TOKEN", lambda d: f"xoxb-{_number(d, 12)}-{_number(d, 13)}-" + d.of(BASE62, 24)
    ),
    _token(
        "slack-user-token",
        "SLACK_TOKEN",
        lambda d: f"xoxp-{_number(d, 12)}-{_number(d, 12)}-{_number(d, 13)}-" + d.of(HEX, 32),
    ),
    _token(
        "slack-app-token", "SLACK_APP_TOKEN", lambda d: f"xapp-1-A{d.of(UPPER36, 10)}-{_number(d, 13)}-" + d.of(HEX, 64)
    ),
    _token(
        "slack-webhook",
        "SLACK_WEBHOOK_URL",
        lambda d: f"https://hooks.slack.com/services/T{d.of(UPPER36, 10)}/B{d.of(UPPER36, 10)}/{d.of(BASE62, 24)}",
    ),
    _token("discord-bot-token", "DISCORD_TOKEN", _discord),
    _token(
        "discord-webhook",
        "DISCORD_WEBHOOK",
        lambda d: f"https://discord.com/api/webhooks/{_number(d, 19)}/{d.of(BASE64URL, 68)}",
    ),
    _token(
        "telegram-bot-token",
        "TELEGRAM_BOT_TOKEN",
        lambda d: f"{_number(d, d.choice([9, 10]))}:AA" + d.of(BASE64URL, 33),
    ),
    _token("sendgrid-key", "SENDGRID_API_KEY", lambda d: f"SG.{d.of(BASE64URL, 22)}.{d.of(BASE64URL, 43)}"),
    _token("mailchimp-key", "MAILCHIMP_API_KEY", lambda d: f"{d.of(HEX, 32)}-us{d.randrange(1, 22)}"),
    _token("mailgun-key", "MAILGUN_API_KEY", _letters("key-", HEX, 32)),
    _token("twilio-key", "TWILIO_API_KEY", _letters("SK", HEX, 32)),
    _token("shopify-token", "SHOPIFY_TOKEN", _letters("shpat_", HEX, 32)),
    _token("square-token", "SQUARE_ACCESS_TOKEN", _letters("EAAA", BASE64URL, 60)),
    _token("grafana-service-token", "GRAFANA_TOKEN", lambda d: _with_hex_crc("glsa_" + d.of(BASE62, 32), "_")),
    _token("newrelic-key", "NEW_RELIC_API_KEY", _letters("NRAK-", UPPER36, 27)),
    _token("sentry-user-token", "SENTRY_AUTH_TOKEN", _letters("sntryu_", HEX, 64)),
    _token("posthog-key", "POSTHOG_API_KEY", _letters("phx_", BASE62, 43)),
    _token("notion-token", "NOTION_TOKEN", lambda d: "ntn_" + _number(d, 11) + d.of(BASE62, 35)),
    _token("figma-token", "FIGMA_TOKEN", _letters("figd_", BASE64URL, 40)),
    _token("linear-key", "LINEAR_API_KEY", _letters("lin_api_", BASE62, 40)),
    _token("airtable-token", "AIRTABLE_TOKEN", lambda d: f"pat{d.of(BASE62, 14)}.{d.of(HEX, 64)}"),
    _token("postman-key", "POSTMAN_API_KEY", lambda d: f"PMAK-{d.of(HEX, 24)}-{d.of(HEX, 34)}"),
    _named("datadog-key", "DATADOG_API_KEY", _letters("", HEX, 32)),
    _token(
        "jwt",
        "SESSION_TOKEN",
        lambda d: _web_token(d, {"sub": d.uuid(), "iat": 1_772_000_000, "exp": 2_087_000_000}),
        confidence="likely",
    ),
    _token(
        "kubernetes-sa-token",
        "KUBE_TOKEN",
        lambda d: _web_token(
            d, {"iss": "kubernetes/serviceaccount", "sub": f"system:serviceaccount:{d.word()}:default"}
        ),
    ),
    _block(
        "private-key",
        "SSH_PRIVATE_KEY",
        lambda d: pem(
            d, d.choice(["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY"]), d.choice([118, 608, 1190]), _RSA
        ),
    ),
    _block("openssh-private-key", "DEPLOY_KEY", lambda d: pem(d, "OPENSSH PRIVATE KEY", d.choice([340, 1750]), _SSH)),
    _block(
        "pgp-private-key",
        "SIGNING_KEY",
        lambda d: pem(d, "PGP PRIVATE KEY BLOCK", 900, b"\x95\x03").replace("-----\n", "-----\n\n", 1),
    ),
    _within(
        "connection-string-password",
        lambda d: (
            f"{d.choice(['postgres', 'postgresql', 'mysql', 'amqp'])}://{d.word()}:",
            _url_password(d),
            f"@{host(d)}:5432/{d.word()}?sslmode=require",
        ),
        name="DATABASE_URL",
        whole=False,
    ),
    _within(
        "connection-string-password",
        lambda d: (
            f"Server={host(d)};Database={d.word()};User Id={d.word()};Password=",
            _url_password(d),
            ";Encrypt=true",
        ),
        name="CONNECTION",
        whole=False,
    ),
    _within(
        "mongodb-password",
        lambda d: (
            f"mongodb+srv://{d.word()}:",
            _url_password(d),
            f"@cluster0.{d.of(LOWER36, 5)}.mongodb.net/{d.word()}",
        ),
        name="MONGO_URL",
        whole=False,
    ),
    _within(
        "redis-password",
        lambda d: (
            f"redis{d.choice(['', 's'])}://{d.choice(['', 'default'])}:",
            _url_password(d),
            f"@{host(d)}:6379/0",
        ),
        name="REDIS_URL",
        whole=False,
    ),
    _within(
        "jdbc-password",
        lambda d: (
            f"jdbc:postgresql://{host(d)}:5432/{d.word()}?user={d.word()}&password=",
            _url_password(d),
            "&ssl=true",
        ),
        name="JDBC_URL",
        whole=False,
    ),
    _within(
        "basic-auth-url",
        lambda d: (f"https://{d.choice(FIRST_NAMES)}:", d.of(BASE62, 24), f"@git.{d.word()}.io/team/{d.word()}.git"),
        name="GIT_REMOTE",
        whole=False,
    ),
    _within(
        "authorization-bearer",
        lambda d: ("Authorization: Bearer ", d.of(BASE64URL, d.randrange(32, 64)), ""),
        confidence="likely",
    ),
    _within(
        "authorization-basic",
        lambda d: ("Authorization: Basic ", base64_of(f"{d.choice(FIRST_NAMES)}:{password(d)}".encode()), ""),
        confidence="likely",
    ),
    _within(
        "x-api-key-header",
        lambda d: (f"{d.choice(['X-API-Key', 'x-api-key'])}: ", d.of(BASE62, d.randrange(24, 48)), ""),
        confidence="likely",
    ),
    _within(
        "cookie-session",
        lambda d: (
            f"Cookie: theme=dark; {d.choice(['session', 'sessionid', 'connect.sid', '_app_session'])}=",
            d.of(BASE62, d.randrange(26, 60)),
            "; lang=en",
        ),
        confidence="likely",
    ),
    _within("npmrc-auth-token", lambda d: ("//registry.npmjs.org/:_authToken=", d.uuid(), ""), confidence="likely"),
    _within(
        "netrc-password",
        lambda d: (f"machine {host(d)} login {d.choice(FIRST_NAMES)} password ", password(d), ""),
        confidence="likely",
    ),
    _within(
        "pgpass",
        lambda d: (f"{host(d)}:5432:{d.word()}:{d.choice(FIRST_NAMES)}:", _url_password(d), ""),
        confidence="likely",
    ),
    _within(
        "docker-config-auth",
        lambda d: (
            '{"auths": {"ghcr.io": {"auth": "',
            base64_of(f"{d.choice(FIRST_NAMES)}:{password(d)}".encode()),
            '"}}}',
        ),
        confidence="likely",
    ),
    _within(
        "kubeconfig-client-key",
        lambda d: (
            f"users:\n- name: {d.word()}\n  user:\n    client-key-data: ",
            base64_of(pem(d, "RSA PRIVATE KEY", 608, _RSA).encode()),
            "\n",
        ),
    ),
    _within(
        "curl-user-password",
        lambda d: (f"curl -s -u {d.choice(FIRST_NAMES)}:", _url_password(d), f" https://{host(d)}/v1/status"),
        confidence="likely",
    ),
    _within("sshpass", lambda d: ("sshpass -p '", password(d), f"' ssh deploy@{host(d)} uptime"), confidence="likely"),
    _within(
        "wireguard-private-key",
        lambda d: (
            "[Interface]\nPrivateKey = ",
            base64_of(d.raw(32)),
            f"\nAddress = 10.9.0.{d.randrange(2, 250)}/24\n",
        ),
    ),
    _named("ethereum-private-key", "DEPLOYER_PRIVATE_KEY", _letters("0x", HEX, 64)),
    _within("django-secret-key", _django, confidence="likely"),
    _named("rails-secret-key-base", "SECRET_KEY_BASE", _letters("", HEX, 128)),
    _named("generic-api-key", "PAYMENTS_API_KEY", lambda d: d.of(BASE62, d.randrange(28, 44))),
    _named("generic-password", "DB_PASSWORD", password),
]


def _personal(kind: str, name: str, make: Callable[[Dice], tuple[str, str, str]]) -> Maker:
    return _within(kind, make, name=name, whole=False, family="personal", confidence="likely")


def _luhn(digits: str) -> str:
    total = sum(sum(divmod(int(d) * (2 if place % 2 == 0 else 1), 10)) for place, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


PERSONAL: Final[list[Maker]] = [
    _personal(
        "email",
        "EMAIL",
        lambda d: (
            "",
            f"{d.choice(FIRST_NAMES)}.{d.choice(LAST_NAMES)}@{d.choice(['orchardworks.io', 'halden.dev', 'posteo.net'])}",
            "",
        ),
    ),
    _personal(
        "home-path-user",
        "WORKDIR",
        lambda d: (
            d.choice(["/home/", "/Users/"]),
            d.choice(FIRST_NAMES) + d.choice(LAST_NAMES)[:1],
            f"/code/{d.word()}/src/{d.word()}.py",
        ),
    ),
    _personal(
        "windows-home-path-user",
        "WORKDIR",
        lambda d: ("C:\\Users\\", d.choice(FIRST_NAMES) + d.choice(LAST_NAMES)[:1], f"\\code\\{d.word()}"),
    ),
    _personal(
        "ipv4",
        "HOST_ADDR",
        lambda d: (
            "",
            f"{d.choice([81, 93, 145, 176, 203])}.{d.randrange(1, 254)}.{d.randrange(1, 254)}.{d.randrange(2, 254)}",
            "",
        ),
    ),
    _personal("credit-card", "CARD", lambda d: ("", _luhn("4" + d.of(string.digits, 14)), "")),
]

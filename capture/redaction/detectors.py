"""Redaction rules as data: tokens recognized by their own shape.

A row is (kind, literal beginnings, what must follow). A pattern runs only where its literal stands, anchored there, so
a rule costs one substring test while the text holds nothing of its kind.
"""

# ruff: noqa: E501, SIM905 - tables: a row is a line, and a list of words reads best as words

from __future__ import annotations

_END = "(?![A-Za-z0-9])"
_W = "[A-Za-z0-9_-]"

TOKENS: tuple[tuple[str, str, str], ...] = (
    # cloud providers
    # an access key id in a credential scope (AKIA.../20260101/...) is public: every signed URL shows it
    ("aws-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])(?!(?:%2F|/)\d{8}(?:%2F|/))"),
    ("aws-key", "A3T", "[A-Z0-9]{17}" + _END),
    ("aws-key", "ABSK", r"[A-Za-z0-9+/=]{100,300}"),
    ("aws-key", "bedrock-api-key-", r"[A-Za-z0-9+/=]{24,1000}"),
    ("gcp-key", "AIza", _W + "{35}" + _END),
    ("gcp-key", "GOCSPX-", _W + "{28}" + _END),
    ("gcp-token", "ya29.", r"[A-Za-z0-9._-]{20,2000}"),
    ("azure-key", "JQQJ99", r"[A-Za-z0-9]{10,30}AZDO[A-Za-z0-9]{4}"),
    ("azure-key", "sig=", r"[A-Za-z0-9%+/]{43,60}(?:%3[dD]|=)"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "[a-f0-9]{64}" + _END),
    ("alibaba-key", "LTAI", "[A-Za-z0-9]{17,21}" + _END),
    ("tencent-key", "AKID", "[A-Za-z0-9]{32}" + _END),
    ("ibm-key", "ApiKey-", "[a-f0-9-]{36}"),
    ("heroku-key", "HRKU-", _W + "{30,80}"),
    ("flyio-token", "FlyV1 ", r"fm\d[a-z]?_[A-Za-z0-9+/=,_-]{50,900}"),
    ("flyio-token", "fo1_ fm1_ fm1a_ fm1r_ fm2_", r"[A-Za-z0-9+/=_-]{40,700}"),
    ("scalingo-token", "tk-us-", _W + "{48}" + _END),
    ("vercel-token", "vercel_blob_rw_", r"[A-Za-z0-9_]{30,80}"),
    ("netlify-token", "nfp_ nfc_ nfo_", "[A-Za-z0-9]{36,40}" + _END),
    ("cloudflare-key", "v1.0-", "[a-f0-9]{24}-[a-f0-9]{146}"),
    ("pulumi-token", "pul-", "[a-f0-9]{40}" + _END),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9_=-]{60,70}"),
    ("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,300}"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{40,60}"),
    ("infracost-key", "ico-", "[A-Za-z0-9]{32}" + _END),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_=.-]{32,64}"),
    ("databricks-token", "dapi", r"[a-fA-F0-9]{32}(?:-\d)?" + _END),
    ("snowflake-token", "ver:1-hint:", r"[\w:=+/-]{30,400}"),
    ("yandex-key", "AQVN", _W + "{35,38}" + _END),
    ("yandex-key", "t1.", r"[A-Z0-9a-z_-]+={0,2}\.[A-Z0-9a-z_-]{86}={0,2}"),
    ("yandex-key", "YC", _W + "{38}" + _END),
    # version control
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{30,251}"),
    ("github-token", "github_pat_", "[A-Za-z0-9_]{22,255}"),
    ("gitlab-token", "glpat- gldt- glft- glrt- glcbt- glptt- glsoat- glimt- glagent- gloas- glffct- GR1348941",
     r"[A-Za-z0-9_.-]{20,300}"),
    ("gitlab-token", "_gitlab_session=", "[a-z0-9]{32}"),
    ("bitbucket-token", "ATBB ATCTT3xFfG ATATT3", r"[A-Za-z0-9_=+./-]{24,250}"),
    ("gitea-token", "gta_", "[a-f0-9]{40}"),
    ("sourcegraph-token", "sgp_ sgd_", r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40,64}"),
    # package registries and build systems
    ("npm-token", "npm_", "[A-Za-z0-9]{36,50}" + _END),
    ("pypi-token", "pypi-AgE", _W + "{50,1000}"),
    ("rubygems-token", "rubygems_", "[a-f0-9]{48}" + _END),
    ("crates-token", "cio", "[A-Za-z0-9]{32}" + _END),
    ("nuget-key", "oy2", "[a-z0-9]{43}" + _END),
    ("clojars-token", "CLOJARS_ clojars_", "[a-zA-Z0-9]{60}"),
    ("docker-token", "dckr_pat_ dckr_oat_", _W + "{27,60}"),
    ("artifactory-key", "AKCp", "[A-Za-z0-9]{10,90}" + _END),
    ("artifactory-key", "cmVmdGtu", "[A-Za-z0-9]{56}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{22,26}_[a-z0-9]{40,60}"),
    ("buildkite-token", "bkua_ bkct_", "[a-z0-9]{40}"),
    ("travis-token", "travis-", _W + "{22}" + _END),
    ("sonar-token", "sqp_ squ_ sqa_", "[A-Za-z0-9]{40}" + _END),
    ("octopus-key", "API-", "[A-Z0-9]{26,32}" + _END),
    ("postman-key", "PMAK-", "[a-fA-F0-9]{24}-[a-fA-F0-9]{34}"),
    ("prefect-key", "pnu_ pnb_", "[a-zA-Z0-9]{36}" + _END),
    ("readme-key", "rdme_", "[a-z0-9]{70}" + _END),
    ("changelog-token", "CFPAT-", _W + "{43}" + _END),
    ("snyk-token", "snyk_uat.", r"[A-Za-z0-9_.-]{20,300}"),
    ("deno-token", "ddp_ ddw_", "[A-Za-z0-9]{36}" + _END),
    # chat, mail and phone
    ("slack-token", "xoxb- xoxa- xoxp- xoxo- xoxs- xoxr- xoxe- xoxe. xapp- xoxc- xoxd- XOXB- XOXP- XAPP-",
     r"[A-Za-z0-9%+/.-]{10,300}"),
    ("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,90}"),
    ("discord-webhook", "/api/webhooks/", r"\d{17,20}/[A-Za-z0-9_-]{50,90}"),
    ("teams-webhook", ".webhook.office.com/", r"webhookb2/[A-Za-z0-9@/-]{60,200}"),
    ("google-chat-webhook", "chat.googleapis.com/v1/spaces/", r"[A-Za-z0-9_-]+/messages\?key=[A-Za-z0-9_-]+&token=[\w%-]+"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_=-]{20,24}\.[A-Za-z0-9_=.-]{39,50}"),
    ("mailgun-key", "key-", "[a-f0-9]{32}" + _END),
    ("mailgun-key", "pubkey-", "[a-f0-9]{32}" + _END),
    ("sendinblue-key", "xkeysib- xsmtpsib-", "[a-f0-9]{64}-[a-zA-Z0-9]{16}"),
    ("mandrill-key", "md-", _W + "{22}" + _END),
    ("twilio-key", "SK", "[a-f0-9]{32}" + _END),
    ("twilio-key", "AC", "[a-f0-9]{32}" + _END),
    ("frameio-token", "fio-u-", _W + "{64}"),
    ("line-token", "ngrok_", "[A-Za-z0-9]{30,60}"),
    # payment and shops
    ("stripe-key", "pk_live_ pk_test_ sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_ sk_org_live_",
     r"[A-Za-z0-9]{16,247}"),
    ("square-key", "sq0atp- sq0csp- sq0idp- EAAAE EAAAl", _W + "{22,60}" + _END),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", "[a-fA-F0-9]{32}" + _END),
    ("paypal-token", "access_token$production$ access_token$sandbox$", r"[a-z0-9]{13,16}\$[a-f0-9]{32}"),
    ("flutterwave-key", "FLWSECK-", "[A-Za-z0-9-]{12,80}"),
    ("flutterwave-key", "FLWSECK_TEST- FLWPUBK_TEST-", "[A-Za-z0-9-]{12,80}"),
    ("plaid-token", "access-sandbox- access-development- access-production-",
     "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ("easypost-key", "EZAK EZTK", "[A-Za-z0-9]{54}"),
    ("shippo-token", "shippo_live_ shippo_test_", "[a-fA-F0-9]{40}"),
    ("duffel-token", "duffel_test_ duffel_live_", r"[A-Za-z0-9_=-]{43}"),
    ("razorpay-key", "rzp_live_ rzp_test_", "[A-Za-z0-9]{14,24}"),
    # AI providers
    ("anthropic-key", "sk-ant-", _W + "{20,200}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", _W + "{20,250}"),
    ("openrouter-key", "sk-or-", _W + "{30,120}"),
    ("openai-key", "sk-", "[A-Za-z0-9]{32,64}" + _END),
    ("huggingface-token", "hf_ api_org_", "[A-Za-z0-9]{30,40}" + _END),
    ("groq-key", "gsk_", "[A-Za-z0-9]{40,60}" + _END),
    ("perplexity-key", "pplx-", "[A-Za-z0-9]{40,60}" + _END),
    ("replicate-token", "r8_", "[A-Za-z0-9]{36,40}" + _END),
    ("xai-key", "xai-", "[A-Za-z0-9]{60,90}" + _END),
    ("langchain-key", "lsv2_pt_ lsv2_sk_ ls__", "[a-f0-9]{32}(?:_[a-f0-9]{10})?"),
    ("nvidia-key", "nvapi-", _W + "{60,80}"),
    ("tavily-key", "tvly-", _W + "{20,60}"),
    ("langfuse-key", "sk-lf- pk-lf-", "[0-9a-f]{8}-[0-9a-f-]{27}"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{40,90}"),
    ("deepgram-key", "fw_", "[A-Za-z0-9]{22,32}" + _END),
    ("weights-key", "wandb_v1_", r"[A-Za-z0-9_]{40,100}"),
    ("elevenlabs-key", "sk_", "[a-f0-9]{48}" + _END),
    ("cerebras-key", "csk-", "[a-z0-9]{40,60}" + _END),
    # monitoring, documents, the rest
    ("grafana-token", "glc_ glsa_", r"[A-Za-z0-9_+/=]{32,400}"),
    ("newrelic-key", "NRAK- NRJS- NRII- NRIQ- NRRA- NRSP-", "[A-Za-z0-9_-]{19,42}"),
    ("sentry-token", "sntrys_eyJ sntryu_", r"[A-Za-z0-9_+/=]{60,400}"),
    ("dynatrace-token", "dt0c01. dt0s16.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    ("posthog-key", "phc_ phx_", "[A-Za-z0-9]{32,50}" + _END),
    ("linear-key", "lin_api_ lin_oauth_", "[A-Za-z0-9]{32,64}"),
    ("notion-token", "ntn_", "[A-Za-z0-9]{40,50}" + _END),
    ("notion-token", "secret_", "[A-Za-z0-9]{43}" + _END),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("asana-token", "0/ 1/ 2/", r"[0-9]{10,18}[:/][A-Za-z0-9]{32}"),
    ("figma-token", "figd_ figdr_ figu_ figur_", _W + "{38,60}"),
    ("adobe-key", "p8e- p8e_", _W + "{32}" + _END),
    ("adafruit-key", "aio_", "[A-Za-z0-9]{28}" + _END),
    ("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,59}"),
    ("hubspot-token", "pat-na1- pat-eu1-", "[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}"),
    ("mapbox-token", "sk.eyJ pk.eyJ tk.eyJ", r"[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{20,40}"),
    ("age-key", "AGE-SECRET-KEY-1", "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    ("1password-token", "ops_eyJ", r"[A-Za-z0-9+/_=-]{100,1000}"),
    ("1password-token", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"),
    ("tailscale-key", "tskey-", r"(?:api|auth|client|scim|webhook)-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]+)?"),
    ("intra42-secret", "s-s4t2ud- s-s4t2af-", "[a-f0-9]{64}"),
    ("facebook-token", "EAACEdEose0cBA EAAM EAAC EAAG", "[A-Za-z0-9]{60,300}"),
    ("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", "[A-Za-z0-9]{16}"),
    ("maxmind-key", "_mmk", "(?![A-Za-z0-9])"),
    ("lob-key", "live_pub_ test_pub_ live_ test_", "[a-f0-9]{31,35}" + _END),
    ("harness-key", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("supabase-token", "sbp_ sb_secret_", r"[A-Za-z0-9_-]{31,64}"),
    ("clickhouse-key", "4b1d", "[A-Za-z0-9]{38}" + _END),
    ("defined-token", "dnkey-", r"[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{52}"),
    ("dropbox-token", "sl.", _W + "{60,1500}"),
    ("llama-key", "llx-", _W + "{40,60}" + _END),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", "[A-Za-z0-9]{24,60}" + _END),
    ("docker-token", "SWMTKN-1- SWMKEY-1-", r"[A-Za-z0-9+/]{25,60}(?:-[a-z0-9]{25})?"),
    ("google-token", "1//0", _W + "{40,140}"),
    ("grafana-token", "eyJrIjoi", r"[A-Za-z0-9_=-]{40,400}"),
    ("private-key", "LS0tLS1CRUdJTi", r"[A-Za-z0-9+/=]{40,}"),
    ("ntlm", "TlRMTVNTU", r"[A-Za-z0-9+/=]{20,}"),
    ("nkey", "SU", "[A-Z2-7]{56}" + _END),
    ("akamai-token", "akab-", "[a-z0-9]{16}-[a-z0-9]{16}"),
    ("wundergraph-key", "cosmo_", "[a-f0-9]{32}" + _END),
    ("newrelic-key", "NRAA-", "[a-f0-9]{27}"),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{60,120}"),
    ("teams-webhook", "outlook.office.com/webhook/", r"[a-f0-9@-]{36,80}/IncomingWebhook/[A-Za-z0-9/-]{32,80}"),
    ("zapier-webhook", "hooks.zapier.com/hooks/catch/", r"[A-Za-z0-9/]{8,40}"),
    ("tines-webhook", ".tines.com/webhook/", "[a-f0-9]{32}/[a-f0-9]{32}"),
    ("thingsboard-token", "thingsboard.cloud/api/v1/", "[a-z0-9]{20}" + _END),
    ("salesforce-token", "00D", r"[A-Za-z0-9]{12,15}![A-Za-z0-9._]{70,120}"),
    ("okta-token", "SSWS ", r"00[A-Za-z0-9_-]{40}"),
    ("zoho-token", "1000.", r"[a-f0-9]{32}\.[a-f0-9]{32}"),
    ("bitbucket-token", "BBDC-", r"[A-Za-z0-9+/=]{40,50}"),
    ("postman-key", "PMAT-", "[A-Z0-9]{26}"),
    ("newrelic-key", "NRBR-", "[a-f0-9]{19}"),
    ("teamwork-token", "tkn.v1_", r"[A-Za-z0-9+/=_-]{50,90}"),
    ("pagarme-key", "ak_live_", "[A-Za-z0-9]{20,40}"),
    ("fleetbase-key", "flb_live_ flb_test_", "[A-Za-z0-9]{20}"),
    ("dependencytrack-key", "odt_", "[A-Za-z0-9]{32,40}" + _END),
    ("sourcegraph-token", "slk_", "[a-f0-9]{64}"),
    ("instagram-token", "IGQV", _W + "{60,300}"),
    ("truenas-key", "login_with_api_key", r"\\?[\"'],\s{0,9}\\?[\"']params\\?[\"']\s{0,9}:\s{0,9}\[\s{0,9}\\?[\"']\d{1,4}-[A-Za-z0-9]{64}"),
    ("wallet-key", "xprv yprv zprv tprv", "[1-9A-HJ-NP-Za-km-z]{100,112}" + _END),
    ("nostr-key", "nsec1", "[02-9ac-hj-np-z]{58}" + _END),
    ("monday-webhook", "whse_", "[A-Za-z0-9]{20,60}"),
)  # fmt: skip

Row = tuple[int, str, str, str]
"""The row's place in TOKENS, one literal, the kind, what must follow."""
BEGINNINGS = {
    "_": """dop_v1_ doo_v1_ dor_v1_ fo1_ fm1 fm2_ vercel_blob_rw_ nfp_ nfc_ nfo_ psc ghp_ gho_ ghu_ ghs_ ghr_
    github_pat_ _gitlab_session= gta_ sgp_ sgd_ npm_ rubygems_ CLOJARS_ clojars_ dck CCI bkua_ bkct_ sqp_ squ_
    sqa_ pnu_ pnb_ rdme_ snyk_uat. ddp_ ddw_ ngrok_ pk_ sk_ rk_ whs shp acc FLW shi duf rzp hf_ api_org_ gsk_
    r8_ lsv ls__ pcsk_ fw_ wandb_v1_ glc_ glsa_ snt phc_ phx_ lin ntn_ secret_ fig p8e_ aio_ tfp_ ops_eyJ sm_
    _mmk liv tes sbp_ sb_secret_ vcp_ vci_ vca_ vcr_ vck_ cosmo_ tkn.v1_ ak_live_ flb odt_ slk_
    login_with_api_key""".split(),
    "-": """bedrock-api-key- GOCSPX- ApiKey- HRKU- tk-us- v1.0- pul- ico- ver:1-hint: glp gldt- glf glrt- glcbt- glsoat-
    glimt- glagent- gloas- pypi-AgE travis- API- PMA CFPAT- xox xapp- XOX XAPP- key- pubkey- xkeysib- xsmtpsib-
    md- fio-u- sq0 FLWSECK- acc sk- pplx- xai- nvapi- tvly- pk-lf- csk- NRA NRJS- NRI NRRA- NRSP- p8e- pat
    AGE-SECRET-KEY-1 A3- tskey- s-s dnkey- llx- SWM akab- BBDC- NRBR-""".split(),
    ".": """ya29. .atlasv1. hvs. hvb. hvr. dp. t1. xoxe. hoo .webhook.office.com/ chat.googleapis.com/v1/spaces/ SG. dt0
    sk.eyJ pk.eyJ tk.eyJ pat. sat. sl. outlook.office.com/webhook/ .tines.com/webhook/ thingsboard.cloud/api/v1/
    1000.""".split(),
    "": """AKI ASIA ABIA ACCA A3T ABSK AIza JQQJ99 sig= LTAI dapi AQVN YC GR1348941 ATBB ATCTT3xFfG ATATT3 cio oy2 AKCp
    cmVmdGtu /api/webhooks/ SK AC EAA EZAK EZTK pat 0/ 1/ 2/ 4b1d 1//0 eyJrIjoi LS0tLS1CRUdJTi TlRMTVNTU SU
    AAAAAAAAAAAAAAAAAAAAA 00D IGQV xprv yprv zprv tprv nsec1 FlyV1 SSWS""".split(),
}
"""Beginnings to look for, by the first sign that a literal holds: its first three letters, or all of it where no other
begins so. The table is written out because making it would take a hook longer than all else here; a test names
missing ones."""


def rows(sign: str, start: str) -> list[Row]:
    """The rows of the literals for which one of BEGINNINGS stands."""
    return [
        (place, literal, kind, body)
        for place, (kind, literals, body) in enumerate(TOKENS)
        if start in literals
        for literal in (literals.split(" ") if literals[-1] != " " else [literals])
        if literal[:3] == start[:3] and next(one for one in BEGINNINGS if one in literal) == sign
    ]


_ENDS_OF_WORDS = frozenset(
    """key- md- pat. sat. t1. sl. xai- fw_ hf_ sk_ sk- pul- cosmo_ travis- snyk_uat. secret_ live_ test_ ls__ API- A3- ico-
    access-sandbox- access-development- access-production- aio_ tfp_ pat- csk- llx- dnkey- akab- npm_ ntn_ gta_ YC SU SK AC
    pk_test_ api_org_ ngrok_ snyk_uat. p8e- p8e_ phc_ phx_ odt_ slk_ ak_live_ 1000.""".split()
)
"""Beginnings that other words may end in (`monkey-`, `contest_`), or that are short."""


def after_underscore(literal: str) -> bool:
    """Whether it may follow a name and an underscore: what draws letters hardly ever draws these."""
    return literal[-1] in "_-." or literal in ("AKIA", "ASIA", "ABIA", "ACCA", "AIza")


def unmistakable(literal: str) -> bool:
    """Whether a letter or digit before it makes no other word of it."""
    return len(literal) >= 4 and after_underscore(literal) and literal not in _ENDS_OF_WORDS


KEY_FRAME = "PRIVATE KEY"
KEY_PUTTY = "Private-Lines:"
KEY_ENCODED = ("LS0tLS1CRUdJTi", "UFJJVkFURSBLRV", "BSSVZBVEUgS0VZ", "QUklWQVRFIEtFW")
"""`-----BEGIN ` in base64, and `PRIVATE KEY` wherever a group of three letters begins."""
KEY_DUMPED = (
    "2d2d2d2d2d424547", "2d2d 2d2d 2d42", "2d 2d 2d 2d 2d 42", "2d2d 2d2d 422d", "0x2d, 0x2d, 0x2d, 0x2d, 0x2d, 0x42",
    "-   -   -   -   -   b", "026455 026455 041055",
)  # fmt: skip
"""`-----B` in dumps of bytes, in lower case."""

COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("secret", ("secret-string", "secret set", "secrets set", "secrets:set", "secret:create", "secret put")),
    ("env add ", ("env add ",)),
    ("cosmosclient(", ("cosmosclient(",)),
    ("fernet(", ("fernet(",)),
    ("account.key.", ("account.key.",)),
    ("from-literal", ("from-literal",)),
    (
        "passw",
        (
            "htpasswd ",
            "chpasswd",
            "--password-stdin",
            "passwd --stdin",
            "openssl passwd ",
            "set-initial-password ",
            "change_password ",
            "mosquitto_passwd ",
        ),
    ),
    ("vault login", ("vault login",)),
    ("rabbitmqctl add_user", ("rabbitmqctl add_user ",)),
    ("sqlplus ", ("sqlplus ",)),
    ("impdp ", ("impdp ",)),
    ("expdp ", ("expdp ",)),
    ("mysqlsh ", ("mysqlsh ",)),
    ("impacket-", ("impacket-",)),
    ("rclone obscure ", ("rclone obscure ",)),
    ("http-basic.", ("http-basic.",)),
    ("mc alias set ", ("mc alias set ",)),
    ("kinit ", ("kinit ",)),
    ("bw ", ("bw unlock ", "bw login ")),
    ("unseal ", ("unseal ",)),
    ("securestring", ("securestring",)),
    ("net use", ("net use ", "net user ")),
    ("net.exe use", ("net.exe use",)),
    ("nmcli ", ("nmcli ",)),
    ("wpa_passphrase", ("wpa_passphrase ",)),
    ("-setairportnetwork", ("-setairportnetwork ",)),
    ("--passphrase", ("--passphrase ",)),
    ("cmdkey", ("cmdkey ",)),
    ("freerdp", ("freerdp ",)),
    ("schtasks", ("schtasks ",)),
    ("credential", ("credential(", "credentials(")),
    ("b64encode(", ("b64encode(",)),
    ("curlopt_", ("curlopt_",)),
    ("sudo -s ", ("sudo -s ",)),
    ("--with-token", ("--with-token",)),
    ("printenv ", ("printenv ",)),
    ("echo ", ("echo $", 'echo "$')),
    ("cookie", ("cookie",)),
    ("curl ", (" -b",)),
    ("5432:", ("5432:",)),
    (":543", (":543",)),
    ("6432:", ("6432:",)),
    (":25060:", (":25060:",)),
    (":*:", (":*:",)),
)
"""The words, in lower case, at which capture.redaction.commands looks, by what stands in them: fewer to look for."""

WORD, GLUED = "word", "glued"
OPTIONS: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = (
    (
        " -p",
        (
            (
                WORD,
                (
                    "sshpass ",
                    "docker login ",
                    "podman login ",
                    "buildah login ",
                    "skopeo login ",
                    "nerdctl login ",
                    "registry login ",
                    "crane auth login ",
                    "oras login ",
                    "oc login ",
                    "cf login ",
                    "az login ",
                    "ibmcloud login ",
                    "mongo ",
                    "mongosh ",
                    "mongodump ",
                    "mongorestore ",
                    "mongoexport ",
                    "mongoimport ",
                    "mycli ",
                    "cqlsh ",
                    "cypher-shell ",
                    "beeline ",
                    "rabbitmqadmin ",
                    "dotnet nuget ",
                    "twine upload ",
                    "poetry publish ",
                    "conan user ",
                    "psexec",
                    "evil-winrm ",
                    "smbmap ",
                    "netexec ",
                    "crackmapexec ",
                    "hydra ",
                    "rdesktop ",
                    "ncftp",
                    "youtube-dl ",
                    "yt-dlp ",
                    "useradd ",
                    "usermod ",
                    "unlock-keychain ",
                    "create-keychain ",
                ),
            ),
            (GLUED, ("mysql", "mariadb", "7z ", "7za ", "7zz ", "7zr ", "rar ", "unrar ")),
        ),
    ),
    (" -hp", ((GLUED, ("rar ",)),)),
    (" -pw ", ((WORD, ("plink ", "pscp ", "psftp ", "putty ")),)),
    (
        " -P",
        (
            (
                WORD,
                (
                    "zip ",
                    "unzip ",
                    "sqlcmd ",
                    "bcp ",
                    "osql ",
                    "isql ",
                    "mssql-cli ",
                    "mosquitto_",
                    "ipmitool ",
                    "security import ",
                    "ssh-keygen ",
                ),
            ),
        ),
    ),
    (" -w", ((WORD, ("ldap", "kadmin ", "add-generic-password ", "add-internet-password ")),)),
    (" -s ", ((WORD, ("ldappasswd ", "slappasswd ")),)),
    (" -N ", ((WORD, ("ssh-keygen ",)),)),
    *((option, ((WORD, ("pdf",)),)) for option in (" -upw ", " -opw ")),
    *((option, ((WORD, ("swaks ", "sendemail ")),)) for option in (" -ap ", " -xp ")),
    (" /p ", ((WORD, ("signtool ",)),)),
    (" -passwd ", ((WORD, ("x11vnc ",)),)),
    (" --cert ", ((":", ("curl ",)),)),
    (" -a", ((WORD, ("redis-cli ",)), (":", ("http ", "https ", "httpie ", "xh ", "xhs ")))),
    (" --auth", ((":", ("http ", "https ", "httpie ", "xh ", "xhs ")),)),
    (" -auth", ((":", ("jenkins-cli.jar ", "jenkins-cli ", "ngrok ")),)),
    (" --basic-auth", ((":", ("ngrok ",)),)),
    *(
        (option, ((":", ("skopeo ", "podman ", "buildah ")),))
        for option in (" --creds", " --src-creds", " --dest-creds")
    ),
    (" -A ", ((WORD, ("snmp",)), (":", ("ab ",)))),
    (" -X ", ((WORD, ("snmp",)),)),
    (" -c ", ((":", ("ttyd ", "gotty ")),)),
    (" -k ", ((WORD, ("openssl enc ", "openssl aes", "openssl des")),)),
    *(
        (f" -{name}pass ", ((WORD, ("keytool ", "jarsigner ")),))
        for name in ("store", "key", "srcstore", "deststore", "srckey", "destkey")
    ),
    (" -password ", ((WORD, ("influx ", "flyway ", "gsec ", "isql ", "nuget ")),)),
    (" password ", ((WORD, ("mysqladmin ",)),)),
    (" AUTH ", ((WORD, ("redis-cli ",)),)),
    (" requirepass ", ((WORD, ("redis-cli ",)),)),
    (" -U", (("%", ("smbclient ", "rpcclient ", "winexe ", "smbget ", "smbcacls ", "net ads ", "net rpc ")),)),
    (" -u", ((",", ("lftp ",)),)),
)
"""By option: how a password stands behind it, and the tools of which that is so.

A word (also glued, or behind `=`), only glued to the option, or behind the user's name and the sign given. A tool
without a blank at its end may go on (`mysql`: mysqldump); the same option means something else to other tools.
"""

SETTERS = (
    "curl ", "wget ", "psql ", "pg_dump ", "pg_restore ", "vault ", "ansible", "terraform ", "tofu ", "mount", "helm ",
    "kcat ", "kafkacat ", "nmap ", "hg ", "mutt ", "nmcli ", "rclone ", "npm config ", "git config ", "http ", "https ", "xh ",
)  # fmt: skip
"""Commands whose arguments are `name=HERE`: the same in code may be the name of a variable."""

LONG_WORD = 24
"""Characters of a word that may hold base64 of a secret, or a wallet's key."""
PHRASE = 10
"""Plain words in a row that may be a seed phrase: signs may stand at its first word and at its last."""
PHRASES = ("mnemonic", "seed phrase", "seed words", "recovery phrase", "recovery words", "secret phrase", "bip39", "bip-39",
           "wallet")  # fmt: skip
"""Words beside a seed phrase whose words commas, quotes or numbers may part."""
GROUPED = ("app_pass", "app pass", "app-pass", "application pass", "passw", "smtp", "gmail")
"""Words beside an application password, which mail and blogs show in groups of four letters."""

NOUNS = ("pass", "token", "key", "secret", "pw")
"""What stands in the English words for a secret."""
LABELS: tuple[tuple[str, str, str], ...] = (
    # German, Spanish, Catalan, French, Portuguese, Dutch; `clave` and its kin open more than doors
    ("passw", "password", "passwort|passwört"), ("kennw", "password", "kennwort|kennwört"), ("mdp", "password", "mdp"),
    ("ontrase", "password", "contraseñ|contrasen"), ("mot de p", "password", "mot de passe"),
    ("senha", "password", "senha"), ("palavra-", "password", "palavra-passe|palavra-chave"),
    ("chtwoord", "password", "wachtwoord"), ("clave", "password", "clave"), ("jeton", "token", "jeton"),
    ("geheimnis", "secret", "geheimnis"), ("sleutel", "key", "sleutel"), ("chiave", "key", "chiave"),
    ("chave", "key", "chave"), ("ü", "key", "schlüssel"), ("é", "key", "clé"),
    # Polish, Czech, Slovenian; Italian, Romanian, Turkish, Baltic; Turkish, South Slavic
    ("ł", "password", "hasł"), ("hasl", "password", "hasl"), ("esl", "password", "hesl|gesl"),
    ("parol", "password", "parol"), ("sifr", "password", "sifre|sifra"), ("ş", "password", "şifre"),
    ("š", "password", "šifra|šifro|šifru"), ("lozink", "password", "lozink"), ("zapork", "password", "zapork"),
    ("ž", "password", "slaptažod"),
    # Swedish, Danish, Norwegian, Icelandic; Finnish, Estonian, Hungarian; Indonesian, Malay, Vietnamese, Swahili
    ("senord", "password", "lösenord|losenord"), ("odeord", "password", "kodeord"),
    ("gangskod", "password", "adgangskod"), ("passord", "password", "passord"), ("ð", "password", "lykilorð"),
    ("lasana", "password", "salasana"), ("parool", "password", "parool"), ("jelsz", "password", "jelsz"),
    ("kata ", "password", "kata sandi|kata laluan"), ("ậ", "password", "mật khẩu"),
    # Cyrillic, Greek
    ("о", "password", "парол|лозинк"), ("о", "token", "токен"), ("ө", "password", "құпиясөз"),
    ("к", "key", "api-ключ|api ключ|ключ api|ключ доступ|секретный ключ"),
    ("ω", "password", "κωδικ"), ("η", "password", "συνθηματικ"),
    # Korean, Japanese, Chinese
    ("비", "password", "비밀번호|비밀 번호|비번"), ("패", "password", "패스워드"), ("암", "password", "암호"),
    ("토", "token", "토큰"), ("키", "key", "api 키|api키|비밀 키|비밀키|액세스 키|시크릿 키"), ("시", "secret", "시크릿"),
    ("ー", "password", "パスワード|パスコード"), ("ー", "token", "トークン"), ("ー", "key", "apiキー|api キー|アクセスキー"),
    ("パ", "password", "パス"), ("シ", "secret", "シークレット"), ("暗", "password", "暗証番号"), ("合", "password", "合言葉"), ("鍵", "key", "秘密鍵"),
    ("密", "password", "密码|密碼"), ("口", "password", "口令"), ("令", "token", "令牌"), ("密", "key", "密钥|密鑰"),
    ("秘", "key", "秘钥"),
    # Arabic, Persian, Hebrew, Hindi, Bengali, Tamil, Thai, Georgian, Armenian
    ("ر", "password", "كلمة المرور|كلمة السر|كلمة مرور|رمز عبور|الرقم السري"), ("گ", "password", "گذرواژه"),
    ("ס", "password", "סיסמ"), ("प", "password", "पासवर्ड"), ("প", "password", "পাসওয়ার্ড"),
    ("க", "password", "கடவுச்சொல்"), ("ร", "password", "รหัสผ่าน"), ("პ", "password", "პაროლ"),
    ("գ", "password", "գաղտնաբառ"),
    # who logs in, and with which secret: `login: admin/HERE`
    ("login", "login", "login"), ("cred", "login", "creds|credential|credencia|credenzial"),
    (" in with", "login", "log in with|logged in with|sign in with"),
    ("daten", "login", "zugangsdaten|anmeldedaten|logindaten"), ("identifiant", "login", "identifiant"),
    ("inlogg", "login", "inloggegevens|inloggning"), ("о", "login", "логин"), ("계", "login", "계정"),
    ("로", "login", "로그인"), ("ロ", "login", "ログイン"), ("ア", "login", "アカウント"), ("账", "login", "账号|账户"),
    ("帳", "login", "帳號"), ("登", "login", "登录|登錄"),
    ("use ", "account", "use admin|use root|use user|use guest|use postgres|use sa/|use sa:|use deploy"),
    ("p: ", "brief", " p: |\np: |,p: |/p: "),
)  # fmt: skip
"""(what stands in each of the words, the kind, the words): what people call a secret in a sentence, but for NOUNS.

A word may go on: `senhas`, `lösenordet`, `паролем`.
"""
_PLAIN = tuple(row for row in LABELS if row[0].isascii())
_FOREIGN = tuple(row for row in LABELS if not row[0].isascii())
_ASCII = bytes(range(128))


def foreign(text: str) -> str:
    """The characters of a text that are no ASCII."""
    return text.encode("utf-8", "ignore").translate(None, _ASCII).decode("utf-8", "ignore")


def labels(low: str) -> list[tuple[str, str]]:
    """(word, kind) of each of LABELS that a text in lower case holds."""
    rows = [row for row in _PLAIN if row[0] in low]
    if not low.isascii():
        few = foreign(low)  # soon looked through
        rows += [row for row in _FOREIGN if row[0] in few]
    return [(word, kind) for _, kind, words in rows for word in words.split("|") if word in low]


# Words whose presence anywhere in a value shows that it stands in for a secret.
STAND_INS = (
    "xxx", "***", "...", "…", "example", "placeholder", "changeme", "change_me", "change-me", "your_", "your-", "your ",
    "redacted", "insert", "replace", "dummy", "sample", "process.env", "environ",
    "getenv", "env.", "notasecret", "not_a_secret", "not-a-secret", "not-real", "fake", "todo", "lorem", "mysecret",
)  # fmt: skip

# A value made of nothing but these is a name, a label or a default, not a secret.
VOCABULARY = frozenset(
    """a an the my your our some any this that these of for to from in on at by with and or not no is was be as if it its
    new old another other second first third one two three next last previous current expected actual correct wrong right
    changeit good bad bogus invalid valid expired missing empty blank null none nil undefined true false yes off default unset
    password passwords passwd pass pwd passphrase secret secrets token tokens key keys auth oauth oauth2 authorization
    authentication credential credentials cred creds api apikey access refresh bearer basic session cookie csrf xsrf jwt
    id ids name names user users username login admin root guest owner client server service account app application
    consumer customer private public shared master signing encryption ssh ssl tls gpg pgp rsa aes hmac sha hash salt
    value values val string str text data test tests testing tester foo bar baz qux spam eggs abc abcd abcdef xyz
    hello world bob alice john jane doe demo mock stub temp tmp local localhost dev prod production staging development
    string int integer bool boolean number float bytes object array list dict map any char const optional required
    required field form input output json xml html yaml text file path url uri header headers body query param params
    get set post put delete update create reset change forgot confirm confirmation verify verification enter type hidden
    gcm cbc ctr ecb hs rs es ps ed kid plain raw base64 hex utf8 encoded encrypted hashed super strong weak long short random generated nice cool insecure
    function symbol define defined include letmein something anything whatever nothing here there please provide see read write only both all each self obj ref
    email mail phone code pin otp totp mfa verifier request response grant state nonce scope redirect callback
    docker github gitlab google aws azure slack stripe openai anthropic mysql postgres postgresql redis mongo mongodb db
    database sql smtp ftp http https www com org net io""".split()
)

STEMS = (
    "pass", "pwd", "secret", "token", "key", "auth", "cred", "pw", "psk", "sid", "salt", "verif", "nonce", "pswd",
    "pssw", "pasw", "pswo", "pswr",
)  # fmt: skip
"""A name that is worth looking at holds one of these."""

STRONG = frozenset(
    """password passwords passwd passphrase passwort pass pwd pw passcode psk secret secrets token tokens apikey
    authtoken accesskey secretkey privatekey credential credentials cred creds userpass dbpass requirepass verifier
    pswd psswd pswrd psword psswrd pssword paswd paswrd pasword userpwd""".split()
)
"""A name that ends in one of these names a secret."""

ENDINGS = (
    "password", "passwd", "secret", "token", "apikey", "accesskey", "secretkey", "authkey", "pkey", "accountkey", "masterkey",
    "storagekey", "saskey", "pwd", "pswd",
)  # fmt: skip
"""So ends a word made of several that names a secret."""

PASSES = frozenset(
    "bypass compass encompass surpass trespass overpass underpass multipass subpass lastpass firstpass onepass askpass".split()
)
"""Words that end in `pass` and name no password, as `sshpass` does."""

QUALIFIERS = frozenset(
    """api secret access private encryption encrypt signing sign consumer client app application auth master service account
    shared storage aes hmac jwt session cookie license licence webhook integration deploy admin root db write server
    subscription functions host function security crypto cipher rpc sdk rest live ingest dsn azure aws gcp cosmos cosmosdb sas
    google github gitlab slack stripe twilio sendgrid openai anthropic datadog heroku""".split()
)
"""`key` names a secret after one of these; alone it may be anything."""

PUBLIC = frozenset("public pub publishable encrypted wrapped foreign primary sort partition cache".split())
"""A name that holds one of these names something that may be seen, or a key of a table."""

CURSORS = frozenset("next page pagination continuation cursor lock idempotency sequence cancellation sync".split())
"""A token after one of these says where to go on, not who may."""

WEAK = frozenset("auth salt sid authorization hmac code verifier nonce sign".split())
"""These name a secret only when the value looks random."""

NEUTRAL = frozenset(
    """value val data string str text plain plaintext raw base64 b64 hex env default test old new prod dev live
    current tmp temp my the 1 2 3 4 here base""".split()
)
"""Words at a name's end that say nothing about what it is."""

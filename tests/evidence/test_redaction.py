"""Forbidden material (EV-09, EV-11, CA-06; design/03 Admission, row 6). Everything that looks like a key is put together
here from pieces, so that this file itself holds none.
"""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.evidence.forbidden.identifiable import _rules
from apps.evidence.redaction import Kind, find_forbidden, marker, redact

LETTERS = "Zk3rQ8vNw1" * 8
HEX = "0f9a8b7c6d" * 8
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJraW9zayJ9." + "c2lnbmF0dXJlLW9mLW5vdGhpbmc0NDcx"
KEY_LINE = "MIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8AgEAAkEAq7BFUpkGp3"
BEGIN, END = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"

ISSUED = {
    "github": ("ghp_" + LETTERS[:36], Kind.ACCESS_TOKEN),
    "github fine-grained": ("github_pat_" + LETTERS[:22] + "_" + LETTERS[:59], Kind.ACCESS_TOKEN),
    "gitlab": ("glpat-" + LETTERS[:20], Kind.ACCESS_TOKEN),
    "aws": ("AKIA" + "QX7ZT2LM9B4WD8HJ", Kind.ACCESS_TOKEN),
    "google": ("AIza" + LETTERS[:35], Kind.API_KEY),
    "google oauth": ("ya29." + LETTERS[:60], Kind.ACCESS_TOKEN),
    "slack": ("xoxb-" + "123456789012-" + LETTERS[:24], Kind.ACCESS_TOKEN),
    "stripe": ("sk_live_" + LETTERS[:24], Kind.API_KEY),
    "openai": ("sk-proj-" + LETTERS[:48], Kind.API_KEY),
    "anthropic": ("sk-ant-api03-" + LETTERS[:40], Kind.API_KEY),
    "npm": ("npm_" + LETTERS[:36], Kind.ACCESS_TOKEN),
    "pypi": ("pypi-AgEIcHlwaS5vcmc" + LETTERS[:60], Kind.ACCESS_TOKEN),
    "hugging face": ("hf_" + LETTERS[:34], Kind.ACCESS_TOKEN),
    "azure storage": ("AccountKey=" + LETTERS[:80] + "==", Kind.API_KEY),
    "azure app": ("abc8Q~" + LETTERS[:34], Kind.API_KEY),
    "sendgrid": ("SG." + LETTERS[:22] + "." + LETTERS[:43], Kind.API_KEY),
    "digitalocean": ("dop_v1_" + (HEX + HEX)[:64], Kind.ACCESS_TOKEN),
    "vault": ("hvs." + LETTERS[:30], Kind.ACCESS_TOKEN),
    "telegram": ("1234567890:AA" + LETTERS[:33], Kind.ACCESS_TOKEN),
    "this platform": ("mp_01hzzzz_" + LETTERS[:43], Kind.ACCESS_TOKEN),
    "a delegation": ("mpd_01hzzzz_" + LETTERS[:43], Kind.ACCESS_TOKEN),
    "gitlab runner": ("GR1348941" + LETTERS[:20], Kind.ACCESS_TOKEN),
    "artifactory": ("AKC" + LETTERS[:64], Kind.ACCESS_TOKEN),
    "aws, old": ("A3TX" + "QX7ZT2LM9B4WD8HJ", Kind.ACCESS_TOKEN),
    "discord": ("M" + LETTERS[:25] + "." + LETTERS[:6] + "." + LETTERS[:38], Kind.ACCESS_TOKEN),
    "npmrc": ("//registry.test/:_authToken=" + "550e8400-e29b-41d4-a716-446655440000", Kind.ACCESS_TOKEN),
    "azure service bus": (LETTERS[:33] + "+ASbA" + LETTERS[:5] + "=", Kind.API_KEY),
    "azure search": (LETTERS[:42] + "AzSeB" + LETTERS[:5], Kind.API_KEY),
    "azure common": (LETTERS[:52] + "JQQJ99" + "B" + "C" + LETTERS[:16] + "A" + LETTERS[:7], Kind.API_KEY),
    "nuget": ("oy2" + ("abcdefghijklmnopqrstuvwxyz234567" * 2)[:43], Kind.API_KEY),
    "jwt": (JWT, Kind.JWT),
    "age": ("AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2, Kind.PRIVATE_KEY),
}


@pytest.mark.requirement("EV-09", "EV-11")
@pytest.mark.parametrize("around", ["{}", "use the token {} for the build", "令牌 {}，别外传", "X={};", "({})"])
@pytest.mark.parametrize("name", ISSUED)
def test_tokens_of_known_form_are_found_wherever_they_stand(name, around):
    secret, kind = ISSUED[name]
    text = around.format(secret)
    value = secret.removeprefix("AccountKey=").removeprefix("1234567890:").removeprefix("//registry.test/:_authToken=")
    done = redact(text)
    assert value not in done.text, done.text
    (found,) = (found for found in done.findings if value in text[found.start : found.end])
    assert found.kind in {kind, Kind.ACCESS_TOKEN}, found  # "the token …=…" may be found by its name as well


SAID = [
    ("the staging password is hunter-9012-zz", "hunter-9012-zz", Kind.PASSWORD),
    ("The cellar password is hunter-1a2b3c4d5e", "hunter-1a2b3c4d5e", Kind.PASSWORD),
    ("my password is Tr0ub4dor&3", "Tr0ub4dor&3", Kind.PASSWORD),
    ("My password is swordfish.", "swordfish", Kind.PASSWORD),
    ("password: swordfish", "swordfish", Kind.PASSWORD),
    ("**Password:** `blue-Horse7`", "blue-Horse7", Kind.PASSWORD),
    ("the password for the staging server is hunter2", "hunter2", Kind.PASSWORD),
    ("password for db01: s3cr3t", "s3cr3t", Kind.PASSWORD),
    ("the password is now hunter-9012", "hunter-9012", Kind.PASSWORD),
    ("the password is not hunter2", "hunter2", Kind.PASSWORD),
    ("password is either hunter2 or hunter3", "hunter3", Kind.PASSWORD),
    ("the password's hunter2", "hunter2", Kind.PASSWORD),
    ("password hunter2 works for both", "hunter2", Kind.PASSWORD),
    ("my password - hunter2", "hunter2", Kind.PASSWORD),
    ('the password is "open sesame"', "open sesame", Kind.PASSWORD),
    ("I changed my password to Tr0ub4dor&3 yesterday", "Tr0ub4dor&3", Kind.PASSWORD),
    ("hunter-9012 is my password", "hunter-9012", Kind.PASSWORD),
    ("use hunter-9012 as the password", "hunter-9012", Kind.PASSWORD),
    ("the passphrase is correct horse battery staple", "correct horse battery staple", Kind.PASSWORD),
    ("pwd: hunter2", "hunter2", Kind.PASSWORD),
    ("pw is hunter2", "hunter2", Kind.PASSWORD),
    ("credentials: admin / hunter2", "hunter2", Kind.PASSWORD),
    ("DB_PASSWORD=hunter2", "hunter2", Kind.PASSWORD),
    ('{"password": "hunter2", "user": "bob"}', "hunter2", Kind.PASSWORD),
    ("dbPassword = 'hunter2'", "hunter2", Kind.PASSWORD),
    ("mysql -u root --password hunter2", "hunter2", Kind.PASSWORD),
    ("curl -u admin:hunter2 http://localhost", "hunter2", Kind.PASSWORD),
    ("sshpass -p hunter2 ssh box", "hunter2", Kind.PASSWORD),
    ("machine git.local login bob password zork", "zork", Kind.PASSWORD),
    ("postgres://app:hunter2@db/app", "hunter2", Kind.PASSWORD),
    ("Server=db;User Id=app;Password=hunter2;", "hunter2", Kind.PASSWORD),
    ("password=$ecret1", "$ecret1", Kind.PASSWORD),
    ("我的密码是 hunter-9012-zz", "hunter-9012-zz", Kind.PASSWORD),
    ("我的密码是hunter-9012-zz，别告诉别人", "hunter-9012-zz", Kind.PASSWORD),
    ("密码：hunter2", "hunter2", Kind.PASSWORD),
    ("請記住，我的密碼是 hunter2", "hunter2", Kind.PASSWORD),
    ("服务器密码改成 abc123!@ 了", "abc123!@", Kind.PASSWORD),
    ("把密码 hunter2x 存下来", "hunter2x", Kind.PASSWORD),
    ("hunter2x 是我的密码", "hunter2x", Kind.PASSWORD),
    ("密码是“芝麻开门”", "芝麻开门", Kind.PASSWORD),
    ("密码是 123456", "123456", Kind.PASSWORD),
    ("登录口令为 admin", "admin", Kind.PASSWORD),
    ("ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２", "ｈｕｎｔｅｒ２", Kind.PASSWORD),
    ("my PIN is 4921", "4921", Kind.ONE_TIME_CODE),
    ("your verification code is 123 456", "123 456", Kind.ONE_TIME_CODE),
    ("验证码是 123456", "123456", Kind.ONE_TIME_CODE),
    ("API key: " + LETTERS[:32], LETTERS[:32], Kind.API_KEY),
    ("api_key = '" + HEX[:32] + "'", HEX[:32], Kind.API_KEY),
    ("client_secret=" + LETTERS[:16], LETTERS[:16], Kind.API_KEY),
    ("AWS_SECRET_ACCESS_KEY=" + LETTERS[:40], LETTERS[:40], Kind.API_KEY),
    ("X-Api-Key: abc123def456", "abc123def456", Kind.API_KEY),
    ("https://x.test/y?api_key=abcd1234efgh5678&user=bob", "abcd1234efgh5678", Kind.API_KEY),
    ("api key 是 abcd1234efgh5678", "abcd1234efgh5678", Kind.API_KEY),
    ("密钥：abcd1234efgh5678", "abcd1234efgh5678", Kind.API_KEY),
    ("token=abc123def456", "abc123def456", Kind.ACCESS_TOKEN),
    ("访问令牌：abcd1234efgh5678", "abcd1234efgh5678", Kind.ACCESS_TOKEN),
    ("Authorization: Bearer abcdef1234567890", "abcdef1234567890", Kind.ACCESS_TOKEN),
    ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA==", Kind.ACCESS_TOKEN),
    ("private key: 0x" + HEX[:64], HEX[:64], Kind.PRIVATE_KEY),
    ("Cookie: theme=dark; sessionid=" + HEX[:32], HEX[:32], Kind.SESSION_COOKIE),
    ("https://b.test/o?X-Amz-Signature=" + HEX[:64], HEX[:64], Kind.SIGNED_URL),
    (
        "seed phrase: apple banana cherry dog elephant fox grape horse igloo jacket kite lemon",
        "apple banana cherry dog elephant fox grape horse igloo jacket kite lemon",
        Kind.SEED_PHRASE,
    ),
]


@pytest.mark.requirement("EV-09", "EV-11", "CA-06")
@pytest.mark.parametrize(("text", "secret", "kind"), SAID, ids=[case[0][:40] for case in SAID])
def test_secrets_in_sentences_and_settings_are_taken_out_whole(text, secret, kind):
    """EV-11. The rest of the text stays as it was."""
    done = redact(text)
    assert secret not in done.text
    assert any(found.kind is kind and text[found.start : found.end].endswith(secret) for found in done.findings), done.findings
    outside = text
    for found in reversed(done.findings):
        outside = outside[: found.start] + marker(found.kind) + outside[found.end :]
    assert outside == done.text


KEPT = """
There is no API key in the build
apiKey: process.env.MAP_KEY
rotate the token every 90 days
the password field is the second one
密码框在第二行
commit 3f2a9c1b4d5e6f708192a3b4c5d6e7f8091a2b3c
id 550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
https://example.com/a/b?c=d#e
the password is stored in the vault
the password is required
my password is wrong
The password must be at least 12 characters long
The password is at least 8 characters
the password is hashed with argon2id
password hash uses argon2id
the password policy is strict
password manager: Bitwarden for everyone
reset your password by email
password reset link sent to bob
password: string
password: str = Field(...)
password: required, min 8
password = getpass.getpass()
password: ********
password=${DB_PASSWORD}
password=$DB_PASSWORD
the password is [redacted:password]
token: Optional[str] = None
const token = await getToken()
token = config.token
token: abc
token_type: bearer
max_tokens: 4096
tokenizer: o200k_base
We count tokens: 1500 per packet
the token is 512 bits
the token limit is 200000
The token was revoked yesterday
set the token in the header
secret=${DB_SECRET}
secret: none
secret santa is on Friday
the secret is to keep going
the secret to good bread is patience
the secret ingredient is cinnamon
API_KEY=<your-api-key>
api_key="your-api-key-here"
API key: see the wiki
the API key is required for the map
the access key is on the desk
the key is under the mat
primary key: customer_id
foreign key is order_id
the private key is in ~/.ssh/id_ed25519
look for -----BEGIN PRIVATE KEY----- in the file
PIN is 4 digits long
pin the version to 1.2.3
pin: 1.2.3
one-time code is sent by SMS
code review: 3 comments
error code: 5003
pass: 12, fail: 0
All tests pass: 120 of 120
Bearer of bad news
the `<thinking>` tag is stripped
what does the <think> tag do
I was thinking about reasoning models
http://localhost:8000/path@x
git@github.com:owner/repo.git
see postgres://user:password@host/db
task-management-system-version-2024-review
risk-sk-learn
We met the AKC registration desk at APDevelopment Conference
Manager.config.AbstractSingletonProxyFactoryBean
https://example.org/APIM/documentation/overview/of/everything/index.html
the file IMG_20240101_120000_APIM_AzSe_dapi_overview_of_everything.png
sk-learn-contrib-package-name
The passport number is on page 3
We finished the token budget chapter
密码是 6 位数字
密码是8位以上
密码是错的
密码是什么？
密码忘了
密码学是一门课
口令应该复杂
密钥在保险箱里
令牌每 90 天轮换一次
验证码是 6 位数
这个 API key 还没有申请
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==
Pneumonoultramicroscopicsilicovolcanoconiosis is a long word
Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft
""".strip().splitlines()


@pytest.mark.requirement("EV-09")
@pytest.mark.parametrize("text", KEPT)
def test_texts_that_only_speak_of_secrets_stay(text):
    assert redact(text).text == text, find_forbidden(text)


IDENTIFIABLE = sorted(_rules(), key=lambda rule: rule[2].pattern)


@pytest.mark.requirement("EV-09", "EV-11")
@pytest.mark.parametrize("number", range(len(IDENTIFIABLE)), ids=[rule[2].name for rule in IDENTIFIABLE])
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_every_form_that_the_library_knows_goes_through_the_door(number, data):
    kind, _, rule = IDENTIFIABLE[number]
    # From the middle of its own pattern; what may stand around a key is in the sentence.
    form = re.sub(r"\((?:\?:)?\^\|\[\^[^\]]*\]\)|\((?:\?:)?\[\^[^\]]*\]\|\$\)", "", rule.pattern)
    key = data.draw(st.from_regex(re.compile(form, re.ASCII), fullmatch=True).filter(lambda text: not text.endswith("\n")))
    done = redact(f"the key {key} opens it")
    assert key not in done.text and done.text.startswith("the key [redacted:") and done.text.endswith("] opens it")
    assert {found.kind for found in done.findings} <= {kind, Kind.ACCESS_TOKEN, Kind.API_KEY}


@pytest.mark.requirement("EV-11")
def test_what_the_library_finds_is_never_hashed(monkeypatch):
    from microsoft_security_utilities_secret_masker import regex_pattern

    def refuse(_value):
        raise AssertionError

    monkeypatch.setattr(regex_pattern, "generate_sha256_hash", refuse)
    assert redact(f"X={ISSUED['azure search'][0]};").text == "X=[redacted:api_key];"


# -- private keys


@pytest.mark.parametrize(
    "text",
    [
        f"here is the key:\n{BEGIN}\n{KEY_LINE}\n{END}\nkeep it",
        f"here is the key:\n{BEGIN}\r\nProc-Type: 4,ENCRYPTED\r\n\r\n{KEY_LINE}\r\n{END}\r\nkeep it",
        f'here is the key: "{BEGIN}\\n{KEY_LINE}\\n{END}\\n"\nkeep it',
        f"here is the key:\n{BEGIN.replace('PRIVATE', 'RSA PRIVATE')}\n{KEY_LINE}\n{END.replace('PRIVATE', 'RSA PRIVATE')}\nkeep it",
        f"here is the key:\n{BEGIN}\n{KEY_LINE}\n{KEY_LINE[:10]}==\n\nkeep it",
    ],
    ids=["plain", "headers", "json", "rsa", "cut off"],
)
def test_a_private_key_goes_with_its_whole_block(text):
    done = redact(text)
    assert KEY_LINE[:10] not in done.text
    assert "BEGIN" not in done.text
    assert [found.kind for found in done.findings] == [Kind.PRIVATE_KEY]
    assert done.text.startswith("here is the key:")
    assert done.text.endswith("keep it")


# -- hidden reasoning

REASONING = {
    "tag": ("<thinking>he must not see this</thinking>The answer is 4.", "The answer is 4."),
    "tag with attributes": ('<think class="x">he must not see this</think >The answer is 4.', "The answer is 4."),
    "nested": ("<thinking>a <thinking>b</thinking> must not see</thinking>The answer is 4.", "The answer is 4."),
    "left open": ("The answer is 4.<thinking>he must not see this", "The answer is 4."),
    "opening lost": ("he must not see this\n</think>\n\nThe answer is 4.", "The answer is 4."),
    "escaped": ("&lt;thinking&gt;must not see&lt;/thinking&gt;The answer is 4.", "The answer is 4."),
    "brackets": ("[THINK]must not see[/THINK]The answer is 4.", "The answer is 4."),
    "channel": (
        "<|channel|>analysis<|message|>must not see<|end|><|start|>assistant<|channel|>final<|message|>The answer is 4.",
        "The answer is 4.",
    ),
    "anthropic": (
        '{"role":"assistant","content":[{"type":"thinking","thinking":"must not see","signature":"EqQB"},{"type":"text","text":"The answer is 4."}]}',
        "The answer is 4.",
    ),
    "anthropic redacted": ('{"type":"redacted_thinking","data":"must not see"}\nThe answer is 4.', "The answer is 4."),
    "openai": (
        '{"type":"reasoning","summary":[{"type":"summary_text","text":"must not see"}],"encrypted_content":"gAAA"} The answer is 4.',
        "The answer is 4.",
    ),
    "openai, type last": ('{"summary":[{"text":"must not see"}],"type":"reasoning"} The answer is 4.', "The answer is 4."),
    "deepseek": ('{"role":"assistant","reasoning_content":"must not see","content":"The answer is 4."}', "The answer is 4."),
    "gemini": ('{"parts":[{"text":"must not see","thought":true},{"text":"The answer is 4."}]}', "The answer is 4."),
    "fragment": ('"reasoning_content": "must not see \\" really", "content": "The answer is 4."', "The answer is 4."),
    "after a stray quote": ('a 5" pipe\n{"type":"thinking","thinking":"must not see"} The answer is 4.', "The answer is 4."),
}


@pytest.mark.requirement("EV-09")
@pytest.mark.parametrize("name", REASONING)
def test_hidden_reasoning_is_taken_out(name):
    text, kept = REASONING[name]
    done = redact(text)
    assert not any(hidden in done.text for hidden in ("must not see", "EqQB", "gAAA"))
    assert kept in done.text
    assert {found.kind for found in done.findings} == {Kind.HIDDEN_REASONING}


def test_a_secret_inside_reasoning_is_one_finding():
    text = f"<thinking>the key is {ISSUED['github'][0]}</thinking>done"
    (found,) = find_forbidden(text)
    assert (found.kind, found.start, found.end) == (Kind.HIDDEN_REASONING, 0, len(text) - 4)


# -- the answer itself


def test_offsets_count_code_points_of_the_original():
    text = "👩‍🚀 cafe\u0301 密码是 hunter2 ok"
    (found,) = find_forbidden(text)
    assert text[found.start : found.end] == "hunter2"


def test_the_marker_says_the_kind_and_nothing_else():
    assert redact("password: hunter2").text == "password: [redacted:password]"
    assert redact("password: hunter2").text == redact("password: other-value-9").text


PIECES = st.sampled_from(
    [
        "password", "token", "api key", "secret", "密码", "令牌", " is ", ": ", "=", "是", "：", " to ", "\n", " ", '"', "'", "hunter-9012-zz",
        "eyJ", ".", "sk-", "ghp_", LETTERS[:36], "<thinking>", "</thinking>", "<think", "&lt;", "{", "}", '"thinking":"', '"type":"reasoning"',
        BEGIN, END, KEY_LINE, "://", "a:b@", "Bearer ", "[redacted:password]", "\\", "İ", "ｐ", "👩‍🚀", "\ud7ff", "[THINK]", "<|channel|>analysis<|message|>",
    ]
)  # fmt: skip
HOSTILE = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=30).map("".join)


@settings(max_examples=250, deadline=None)
@given(HOSTILE)
def test_any_text_gets_sorted_findings_inside_it(text):
    findings = find_forbidden(text)
    assert findings == find_forbidden(text)
    end = 0
    for found in findings:
        assert found.start >= end
        assert found.length > 0
        end = found.end
    assert end <= len(text)
    done = redact(text)
    assert done.findings == findings
    assert len(done.text) == len(text) + sum(len(marker(found.kind)) - found.length for found in findings)


@settings(max_examples=150, deadline=None)
@given(HOSTILE, st.sampled_from(SAID), HOSTILE)
def test_a_secret_on_its_own_line_is_found_in_any_company(before, case, after):
    text = case[0]
    if "<" in before + after or "{" in before or '"' in before or "BEGIN" in before or "[THINK]" in before:
        return  # something larger may have swallowed it, which is as good
    done = redact(f"{before}\n{text}\n{after}")
    assert done.findings
    assert f"\n{text}\n" not in f"\n{done.text}\n"


HOSTILE_UNITS = [
    "password", "password is ", "password for a ", "token=", "secret=a1", "密码是", "密码 ", "<thinking>", "<think", "</thinking>\n", BEGIN, "eyJ",
    "eyJabcdefghij.", "a.", "://a:", "{", '{"thinking":"', '{"text":"a","b":', '"', "sk-", "<|channel|>analysis<|message|>", "bearer ",
    "login a password ", "passphrase is abc ", "seed phrase: ", "1 ", "a-", "hunter2x is the password ", "set password to ", "Private-Lines: 1 ",
    "<think ", "\\", "AAAA", "+ASb", "AzFu", "dapi", "oy2", "JQQJ9", "+ASbdapiAzFuoy2APIMACDbAIoTAzCaAZEG", "MAAAAA.", ":_authToken=",
]  # fmt: skip


@pytest.mark.requirement("EV-11")
@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_hostile_text_costs_linear_time(unit):
    """Four times the text takes about four times the processor time, not sixteen times."""

    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            find_forbidden(text)
            best = min(best, time.process_time() - begun)
        return best

    small, large = cost(8_192), cost(32_768)
    assert large < 10 * max(small, 0.001), (small, large)

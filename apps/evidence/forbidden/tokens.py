"""Secrets that are recognised by their own form: tokens with a provider's prefix, JWT, private key blocks, signed URLs.

A pattern runs only if its trigger, a few lower-case letters, is in the text: a plain message costs some `in` tests.
Every pattern starts with a literal and has no nested repetition, so that hostile text costs linear time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from apps.evidence.forbidden.kinds import Kind, Span

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Form(NamedTuple):
    kind: Kind
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]
    needs_digit: bool


def _form(kind: Kind, triggers: str, pattern: str, *, needs_digit: bool = False) -> _Form:
    """`pattern` must not continue a word; its group `secret`, or all of it, is the finding."""
    return _Form(kind, tuple(triggers.split()), re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})"), needs_digit)


_FORMS = (
    # code hosts and package registries
    _form(Kind.ACCESS_TOKEN, "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    _form(Kind.ACCESS_TOKEN, "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _form(
        Kind.ACCESS_TOKEN,
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt)-[A-Za-z0-9_\-.]{16,300}",
    ),
    _form(Kind.ACCESS_TOKEN, "gr1348941", r"GR1348941[A-Za-z0-9_\-]{20,50}"),
    _form(Kind.ACCESS_TOKEN, "npm_", r"npm_[A-Za-z0-9]{30,64}"),
    _form(Kind.ACCESS_TOKEN, ":_authtoken=", r"(?i::_authToken)=\s?(?P<secret>[A-Za-z0-9_\-=+/.]{16,400})", needs_digit=True),
    _form(Kind.ACCESS_TOKEN, "akc", r"AKC[a-zA-Z0-9]{30,120}(?![A-Za-z0-9])", needs_digit=True),
    _form(Kind.ACCESS_TOKEN, "pypi-", r"pypi-[A-Za-z0-9_\-]{32,400}", needs_digit=True),
    _form(Kind.ACCESS_TOKEN, "rubygems_", r"rubygems_[a-f0-9]{40,64}"),
    _form(Kind.ACCESS_TOKEN, "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_\-]{20,64}"),
    _form(Kind.ACCESS_TOKEN, "atatt3 atctt3 atbb", r"(?:AT[AC]TT3[A-Za-z0-9_\-=]{20,400}|ATBB[A-Za-z0-9]{20,64})"),
    _form(Kind.ACCESS_TOKEN, "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,64}"),
    _form(Kind.ACCESS_TOKEN, "ccipat_ bkua_ nfp_ sntrys_ sntryu_", r"(?:CCIPAT|bkua|nfp|sntry[su])_[A-Za-z0-9_+/=]{20,400}"),
    # clouds
    _form(Kind.ACCESS_TOKEN, "akia asia abia acca", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _form(Kind.ACCESS_TOKEN, "a3t", r"A3T[A-Z0-9][A-Z0-9]{16}(?![A-Za-z0-9])"),
    _form(Kind.API_KEY, "aiza", r"AIza[A-Za-z0-9_\-]{30,45}"),
    _form(Kind.ACCESS_TOKEN, "ya29. 1//0", r"(?:ya29\.|1//0)[A-Za-z0-9_\-.]{30,400}"),
    _form(Kind.API_KEY, "gocspx-", r"GOCSPX-[A-Za-z0-9_\-]{20,64}"),
    _form(Kind.API_KEY, "ltai akid", r"(?:LTAI[A-Za-z0-9]{12,24}|AKID[A-Za-z0-9]{28,40})(?![A-Za-z0-9])", needs_digit=True),
    _form(
        Kind.API_KEY,
        "accountkey= sharedaccesskey=",
        r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{20,128}={0,2})",
    ),
    _form(Kind.API_KEY, "8q~ 7q~", r"[A-Za-z0-9_~.\-]{3}[78]Q~[A-Za-z0-9_~.\-]{31,34}"),
    _form(Kind.ACCESS_TOKEN, "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{40,64}"),
    _form(Kind.ACCESS_TOKEN, "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _form(Kind.ACCESS_TOKEN, "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_\-]{20,400}"),
    _form(Kind.ACCESS_TOKEN, ".atlasv1.", r"[A-Za-z0-9]{10,16}\.atlasv1\.[A-Za-z0-9_\-=]{40,80}"),
    _form(Kind.API_KEY, "hrku- nrak- pmak-", r"(?:HRKU|NRAK|PMAK)-[A-Za-z0-9_\-]{20,128}"),
    _form(
        Kind.ACCESS_TOKEN, "pul- sbp_ pscale_", r"(?:pul-[a-f0-9]{40}|sbp_[a-f0-9]{40}|pscale_(?:tkn|pw|oauth)_[\w\-.=]{20,64})"
    ),
    _form(Kind.ACCESS_TOKEN, "glc_ glsa_", r"gl(?:c|sa)_[A-Za-z0-9+/_=]{30,400}"),
    # models
    _form(Kind.API_KEY, "sk-", r"sk-[A-Za-z0-9_\-]{16,400}", needs_digit=True),
    _form(Kind.API_KEY, "gsk_ xai- pplx- r8_ nvapi-", r"(?:gsk_|xai-|pplx-|r8_|nvapi-)[A-Za-z0-9_\-]{24,128}", needs_digit=True),
    # payment, mail, chat, tools
    _form(Kind.API_KEY, "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}"),
    _form(Kind.API_KEY, "whsec_", r"whsec_[A-Za-z0-9+/=]{20,128}"),
    _form(Kind.ACCESS_TOKEN, "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[A-Za-z0-9_\-]{20,64}"),
    _form(Kind.ACCESS_TOKEN, "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _form(Kind.ACCESS_TOKEN, "xox", r"xox[abeoprs]-[A-Za-z0-9\-]{10,255}", needs_digit=True),
    _form(Kind.ACCESS_TOKEN, "xapp-", r"xapp-\d-[A-Za-z0-9\-]{20,255}"),
    _form(
        Kind.ACCESS_TOKEN,
        "hooks.slack.com/ /api/webhooks/",
        r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)(?P<secret>[A-Za-z0-9_/\-]{20,255})",
    ),
    _form(Kind.ACCESS_TOKEN, ":aa", r"\d{8,10}:(?P<secret>AA[A-Za-z0-9_\-]{33})(?![A-Za-z0-9_\-])"),
    # a bot's number in base64, the time, a signature
    _form(
        Kind.ACCESS_TOKEN,
        ".",
        r"[MNO][A-Za-z\d]{23,27}\.[A-Za-z\d_\-]{6}\.[A-Za-z\d_\-]{27,38}(?![A-Za-z\d_\-])",
        needs_digit=True,
    ),
    _form(Kind.API_KEY, "sg.", r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}"),
    _form(Kind.API_KEY, "key-", r"key-[a-f0-9]{32}(?![A-Za-z0-9])"),
    _form(Kind.API_KEY, "-us", r"[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    _form(Kind.API_KEY, "lin_api_ ntn_ figd_", r"(?:lin_api|ntn|figd)_[A-Za-z0-9_\-]{30,128}"),
    _form(Kind.ACCESS_TOKEN, "ops_eyj", r"ops_eyJ[A-Za-z0-9+/=_\-]{50,4000}"),
    _form(Kind.ACCESS_TOKEN, "eaacedeose0cba", r"EAACEdEose0cBA[A-Za-z0-9]{10,400}"),
    _form(Kind.PRIVATE_KEY, "age-secret-key-1", r"(?i:AGE-SECRET-KEY-1[A-Z0-9]{30,80})"),
    # this platform's own credentials and delegations: a recalled one would be a way in
    _form(Kind.ACCESS_TOKEN, "mp_ mpd_", r"mpd?_[A-Za-z0-9\-]{2,64}_[A-Za-z0-9_\-]{20,128}", needs_digit=True),
    # what opens a door without a password
    _form(Kind.SIGNED_URL, "x-amz-signature=", r"(?i:X-Amz-Signature)=(?P<secret>[A-Fa-f0-9]{32,128})"),
    _form(Kind.SIGNED_URL, "x-goog-signature=", r"(?i:X-Goog-Signature)=(?P<secret>[A-Fa-f0-9]{32,1024})"),
    _form(Kind.SIGNED_URL, "sig=", r"sig=(?P<secret>[A-Za-z0-9+/%]{40,128}(?:=|%3[Dd]){0,2})"),
    _form(
        Kind.SESSION_COOKIE,
        "sessionid= session_id= session= sessid= phpsessid= connect.sid= sid=",
        r"(?i:(?:JSESSION|PHPSESS|session_?)id|session|sessid|connect\.sid|sid)=(?P<secret>[A-Za-z0-9%_.:\-]{16,400})",
        needs_digit=True,
    ),
)

_BY_TRIGGER = tuple((trigger, number) for number, form in enumerate(_FORMS) for trigger in form.triggers)
# No form is shorter than this; ordinary prose has no run of so many visible ASCII characters.
_LONG_RUN = re.compile(r"[!-~]{15}")
_DIGIT = re.compile(r"\d")


def issued_secrets(text: str, folded: str) -> Iterator[Span]:
    """Secrets with a form of their own; `folded` is the text in lower case, used only to see whether a trigger occurs."""
    if "://" in text:
        yield from _url_passwords(text)
    if _LONG_RUN.search(text) is None:
        return
    for number in {number for trigger, number in _BY_TRIGGER if trigger in folded}:
        form = _FORMS[number]
        for match in form.pattern.finditer(text):
            start, end = match.span("secret" if "secret" in form.pattern.groupindex else 0)
            if not form.needs_digit or _DIGIT.search(text, start, end):
                yield Span(form.kind, start, end)
    if "eyj" in folded:
        yield from _json_web_tokens(text)
    if "private" in folded:
        yield from _private_key_blocks(text)


# -- JWT

_DOTTED = re.compile(r"(?<![A-Za-z0-9_\-])[A-Za-z0-9_\-]++(?:\.[A-Za-z0-9_\-]*+){1,4}")
_JWE_PARTS = 5
_SHORTEST_PART = 10


def _json_web_tokens(text: str) -> Iterator[Span]:
    """Signed (two or three parts) and encrypted (five parts) tokens; the header always begins like base64 of `{"`."""
    for match in _DOTTED.finditer(text):
        head, *rest = match.group().split(".")
        at = head.find("eyJ")
        if at < 0 or len(head) - at < _SHORTEST_PART:
            continue
        signed = rest[0].startswith("eyJ") and len(rest[0]) >= _SHORTEST_PART
        if signed or (len(rest) + 1 == _JWE_PARTS and len(rest[3]) >= _SHORTEST_PART):
            yield Span(Kind.JWT, match.start() + at, match.end())


# -- private keys

_BEGIN = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
# The rest of a block that was cut off: lines of base64 and header lines, also with their line breaks written as \n.
_REST = re.compile(r"(?:(?:\s|\\[nr])*+(?:[A-Z][A-Za-z\-]{2,20}: [^\n]{1,80}|[A-Za-z0-9+/=]{16,}+))++")
_LAST_LINE = re.compile(r"(?:\s|\\[nr])*+[A-Za-z0-9+/=]{4,}+(?=\s|\\|$)")
_PUTTY = re.compile(r"Private-Lines: ?\d{1,3}\s++(?P<secret>(?:[A-Za-z0-9+/=]{4,}+\s*+)++)")


def _private_key_blocks(text: str) -> Iterator[Span]:
    done = 0
    closes = True  # once no END is left, no further search for one
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        end = _END.search(text, begin.end()) if closes else None
        closes = end is not None
        if end is not None:
            done = end.end()
        elif (rest := _REST.match(text, begin.end())) is not None:
            last = _LAST_LINE.match(text, rest.end())
            done = last.end() if last else rest.end()
        else:
            continue  # somebody speaks of the line, there is no key behind it
        yield Span(Kind.PRIVATE_KEY, begin.start(), done)
    for match in _PUTTY.finditer(text):
        yield Span(Kind.PRIVATE_KEY, *match.span("secret"))


# -- user:password@host

_USER_INFO = re.compile(r"[^\s/:@\"'<>]{0,64}:(?P<secret>[^\s/\"'<>]{1,200})@")
_NOT_A_PASSWORD = re.compile(
    r"(?i)(?:pass(?:word|wd)?|pwd?|secret|token|x{3,}|\*+|\.{3}|\$\{?\w+\}?|\{+\w+\}+|%\w+%|\[redacted:\w+\])"
)


def _url_passwords(text: str) -> Iterator[Span]:
    at = text.find("://")
    while at >= 0:
        match = _USER_INFO.match(text, at + 3)
        if match is not None and not _NOT_A_PASSWORD.fullmatch(match["secret"]):
            yield Span(Kind.PASSWORD, *match.span("secret"))
        at = text.find("://", at + 3)

"""Secrets that are recognised by what is said about them: "the staging password is …", "我的密码是 …", `token=…`,
`Authorization: Bearer …`.

A name of a secret, a link ("is", ":", "=", 是) and a value that looks like one. What a value must look like depends on the
name and the link: after "password:" nearly anything is one, after "token is" only what no word, type or reference looks
like; `values.py` decides that. Doubt goes towards redaction for passwords, towards keeping the text for keys and tokens,
whose real values are long and mixed.

Names and links are looked for in the lower-case text, which has the same offsets as the original.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.evidence.forbidden.kinds import Kind, Span
from apps.evidence.forbidden.values import Link, Name, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = {
    Name.PASSWORD: Kind.PASSWORD,
    Name.PASSPHRASE: Kind.PASSWORD,
    Name.TOKEN: Kind.ACCESS_TOKEN,
    Name.KEY: Kind.API_KEY,
    Name.PRIVATE: Kind.PRIVATE_KEY,
    Name.CODE: Kind.ONE_TIME_CODE,
    Name.SEED: Kind.SEED_PHRASE,
}

# One stem per name, found by plain search; its pattern then says from there whether it is the name.
_STEMS = tuple(
    (stem, re.compile(re.escape(stem)), re.compile(pattern), han)
    for stem, pattern, han in (
        ("pass", r"(?P<phrase>pass[ _-]?phrase)|(?P<password>pass(?:[ _-]?word|wd|code)|(?<![a-z])pass(?=\s?[:=：]))", False),
        ("pwd", r"(?P<password>(?<![a-z])pwd)", False),
        ("pw", r"(?P<password>(?<![a-z])pw(?=\s?[:=：]|\sis\s))", False),
        ("token", r"(?P<token>(?<![a-z])token)", False),
        ("secret", r"(?P<secret>(?<![a-z])secret(?![ _-]?(?:key|phrase|token|word)))", False),
        ("key", r"(?P<key>key)", False),
        ("phrase", r"(?P<seed_phrase>phrase)", False),
        ("mnemonic", r"(?P<seed>mnemonic)", False),
        ("pin", r"(?P<pin>(?<![a-z])pin(?:[ _-]?(?:code|number))?(?![a-z]))", False),
        ("otp", r"(?P<pin>(?<![a-z])otp(?![a-z]))", False),
        ("code", r"(?P<code>code)", False),
        ("密", r"(?P<password>密[码碼](?![框学學本锁器的]))|(?P<han_key>密[钥鑰])", True),
        ("口令", r"(?P<password>口令)", True),
        ("钥", r"(?P<han_key>(?<=[秘金])钥)|(?P<private>(?<=私)钥)", True),
        ("鑰", r"(?P<han_key>(?<=[秘金])鑰)|(?P<private>(?<=私)鑰)", True),
        ("令牌", r"(?P<token>令牌)", True),
        ("杖", r"(?P<token>(?<=[权權])杖)", True),
        ("证码", r"(?P<han_code>(?<=验)证码)", True),
        ("證碼", r"(?P<han_code>(?<=驗)證碼)", True),
        ("动态码", r"(?P<han_code>动态码)", True),
        ("助记词", r"(?P<seed>助记词)", True),
        ("助記詞", r"(?P<seed>助記詞)", True),
    )
)
_NAMES = {
    "phrase": Name.PASSPHRASE,
    "password": Name.PASSWORD,
    "token": Name.TOKEN,
    "secret": Name.KEY,
    "private": Name.PRIVATE,
    "han_key": Name.KEY,
    "key": Name.KEY,
    "seed": Name.SEED,
    "seed_phrase": Name.SEED,
    "pin": Name.CODE,
    "code": Name.CODE,
    "han_code": Name.CODE,
}


def _joined(words: str, last: str = " _-") -> tuple[str, ...]:
    return tuple(word.replace("~", " ") + joint for word in words.split() for joint in ("", *last))


# A key is a secret only under one of these names: a primary key, a map key and the key to success are not.
_KEY_WORDS = _joined(
    "api access secret encryption signing master license licence client account service storage shared deploy admin auth app ssh"
)
_PRIVATE_WORDS = _joined("private")
_CODE_WORDS = _joined("verification one-time one~time security 2fa mfa login sms auth authentication authenticator")
_SEED_WORDS = _joined("seed recovery mnemonic secret")

_WORD = r"[^\s:=.!?,;。，；：]{1,24}"
# From the end of the name to the beginning of the value. A name may be part of an identifier (DB_PASSWORD_PROD), but not of
# another word (tokenizer, passwords_file), and may say what it is for ("the password for the staging server is").
_AFTER = re.compile(
    rf"""(?x)
    (?: [_-](?:prod|production|staging|stage|dev|test|live|value|plain|new|old|current|\d{{1,2}})(?![a-z]) )?
    (?: (?:\s(?:for|of|to|on|in|at)(?:\s{_WORD}){{1,6}}?)??
        (?: (?P<mark> ["'`*\]”」]{{0,3}} \s{{0,3}} (?: :=? | ： | => | -> | ==? ) [*_]{{0,2}} \s{{0,3}} )
          | (?P<verb> ["'”]? (?: ['’]s\s | \s(?:is|was|are|will\ be|equals|reads|becomes|became)\s ) )
        )
      | (?P<han> ["'”」]?\s? (?: 就?是 | [为為] | 叫做? | [设設][置为為成]{{1,2}} | [改换換]成?[为為成] | 更新[为為] | 重置[为為]
          | 等于 ) \s{{0,3}} )
      | (?P<dash> [ \t][-–—]{{1,2}}[ \t] )
      | (?P<to> [ \t](?:back\ )?to[ \t]{{1,2}} )
      | (?P<bare> [ \t]{{1,2}} )
    )
    (?: (?:(?:now|still|not|currently|just|simply|literally|actually|always|either|set\ to|called|:)\s){{1,3}}
      | 现在是 | 还是 | 不是 )?
    (?= [“‘「『] | [^\s\u2018-\u201f\u3000-\u30ff\u3400-\u9fff\uff01-\uffef]{{3}} )
    """
)
_LINKS = {"mark": Link.MARK, "verb": Link.VERB, "han": Link.VERB, "dash": Link.BARE, "to": Link.BARE, "bare": Link.BARE}
_TO = re.compile(r" (?:back )?to\s{1,2}(?=\S)")
_CHANGE = re.compile(r"\b(?:chang|reset|set|updat|switch|rotat)")
_MORE = re.compile(r"[\"'`”’」]?\s?(?:,|，|、|/|\bor\b|\band\b|或者?|和)\s?")

_LOOK_BACK = 100


def spoken_secrets(text: str, folded: str) -> Iterator[Span]:
    """Values said or written to be a secret."""
    latin_only = text.isascii()
    for stem, finder, pattern, han in _STEMS:
        if not (han and latin_only) and stem in folded:
            yield from _named_values(text, folded, finder, pattern)
    if "authorization" in folded or "bearer " in folded:
        yield from _headers(text, folded)
    if "login" in folded or " -u" in folded or "sshpass" in folded or "cred" in folded:
        yield from _logins(text)


def _named_values(text: str, folded: str, finder: re.Pattern[str], pattern: re.Pattern[str]) -> Iterator[Span]:
    done = 0
    for stem in finder.finditer(folded):
        start = stem.start()
        match = pattern.match(folded, start) if start >= done else None
        if match is None:
            continue
        end, group = match.end(), match.lastgroup or ""
        following = folded[end : end + 1]
        if (following.isalpha() and following.isascii() and folded[end - 1].isascii()) or not _is_secret(folded, group, start):
            continue
        name = _NAMES[group]
        if group == "key" and folded.endswith(_PRIVATE_WORDS, 0, start):
            name = Name.PRIVATE
        after = _AFTER.match(folded, end)
        if after is not None:
            for span in _after(text, folded, (start, end), name, after):
                done = span.end
                yield span
        if _MIXED.search(text, max(0, start - _LOOK_BACK), start) is not None:
            yield from _before(text, folded, (start, end), name)


def _is_secret(folded: str, group: str, start: int) -> bool:
    """Words that name a secret only in company: "key", "code", "phrase"."""
    if group == "key":
        return folded.endswith(_KEY_WORDS, max(0, start - 16), start) or folded.endswith(_PRIVATE_WORDS, max(0, start - 8), start)
    if group == "code":
        return folded.endswith(_CODE_WORDS, max(0, start - 16), start)
    return group != "seed_phrase" or folded.endswith(_SEED_WORDS, max(0, start - 10), start)


def _after(text: str, folded: str, at_name: tuple[int, int], name: Name, after: re.Match[str]) -> Iterator[Span]:
    start, end = at_name
    link, at = _LINKS[after.lastgroup or ""], after.end()
    to = _TO.match(folded, end)
    if to is not None and _CHANGE.search(folded, max(0, start - _LOOK_BACK), start):
        link, at = Link.VERB, to.end()  # "changed the password to"
    elif link is Link.BARE and folded.endswith("--", 0, start):
        link = Link.MARK  # --password hunter2
    found = value_at(text, at, name, link)
    while found is not None:
        yield Span(_KINDS[name], *found)
        more = _MORE.match(folded, found[1])
        found = value_at(text, more.end(), name, Link.BARE) if more is not None else None


_OWNED = re.compile(r" (?:is|as|was) (?:the|my|your|our|his|her|their|a)\s(?:[\w-]{1,20}\s){0,2}")
_HAN_OWNED = re.compile(r" ?(?:是|作为?|做|当)(?:我|你|他|她|我们|它)?的?[\u4e00-\u9fff]{0,6}")
_MIXED = re.compile(r"[\d@#$%^&*!+=~?|\\]")
_ASCII_TAIL = re.compile(r"[!-~]+$")
_BEFORE_VALUE = re.compile(r"[\s\"'`“‘「]")


def _before(text: str, folded: str, at_name: tuple[int, int], name: Name) -> Iterator[Span]:
    """In "hunter-9012 is my password", "log in with hunter-9012 as the password", "hunter-9012 是我的密码" the value is
    said first.
    """
    start, end = at_name
    low = max(0, start - _LOOK_BACK)
    if folded[end - 1].isascii():
        at = max(folded.rfind(" is ", low, start), folded.rfind(" as ", low, start), folded.rfind(" was ", low, start))
        owned = _OWNED
    else:
        at = max(folded.rfind("是", low, start), folded.rfind("作", low, start), folded.rfind("做", low, start))
        at -= at > 0 and folded[at - 1] == " "
        owned = _HAN_OWNED
    if at <= low or not owned.fullmatch(folded, at, start):
        return
    tail = _ASCII_TAIL.search(_BEFORE_VALUE.split(text[low:at].rstrip("\"'`”’」"))[-1])
    if tail is None:
        return
    value_end = low + len(text[low:at].rstrip("\"'`”’」"))
    value = value_at(text, value_end - len(tail[0]), name, Link.BARE, stop=value_end)
    if value is not None:
        yield Span(_KINDS[name], *value)


# -- headers

# The value is only looked at, not consumed: one header may follow straight after another's name.
_HEADER = re.compile(
    r"(?:authorization[\"']?[ \t]{0,2}[:=]\s{0,2}[\"']?(?:(?:bearer|basic|digest|token|apikey|negotiate|bot)[ \t]{1,2})?"
    r"|(?<![a-z])bearer[ \t]{1,2})(?=(?P<secret>[a-z0-9+/=_.~:\-]{8,4096}))"
)
_DIGIT = re.compile(r"\d")
_PLAIN_WORD = re.compile(r"[a-z]+(?:[-_][a-z]+)*|[A-Z][a-z]+|[A-Z_]+")
_MIXED_CASE = re.compile(r"[a-z][A-Z]")


def _headers(text: str, folded: str) -> Iterator[Span]:
    for match in _HEADER.finditer(folded):
        start = match.start("secret")
        value = text[start : match.end("secret")].rstrip(".,:;")
        if not _PLAIN_WORD.fullmatch(value) and (_DIGIT.search(value) or "=" in value or _MIXED_CASE.search(value)):
            yield Span(Kind.ACCESS_TOKEN, start, start + len(value))


# -- logins: .netrc, curl -u, sshpass, "credentials: admin / hunter2"

_LOGIN = re.compile(
    r"(?i)login\s{1,3}[^\s]{1,64}\s{1,3}password\s{1,3}(?P<netrc>[^\s]{1,128})"
    r"|\s-u\s{0,2}[\"']?[\w.@-]{1,64}:(?P<curl>[^\s\"']{1,128})"
    r"|sshpass\s{1,2}-p\s{0,2}[\"']?(?P<ssh>[^\s\"']{1,128})"
    r"|(?:credentials?|creds|login)\s{0,2}(?::|=|is|are)\s{0,2}[\w.@+-]{1,64}\s{0,2}[/:]\s{0,2}(?P<pair>[^\s\"',;，；。]{4,128})"
)


def _logins(text: str) -> Iterator[Span]:
    for match in _LOGIN.finditer(text):
        group = match.lastgroup or ""
        link = Link.BARE if group == "pair" else Link.MARK
        found = value_at(text, match.start(group), Name.PASSWORD, link, stop=match.end(group))
        if found is not None:
            yield Span(Kind.PASSWORD, *found)

"""Does what stands after the name of a secret look like one?"""

from __future__ import annotations

import re
from enum import Enum

from apps.evidence.forbidden.kinds import words


class Link(Enum):
    """What stands between the name of a secret and its value."""

    MARK = "mark"  # ":", "="
    VERB = "verb"  # is, 是
    BARE = "bare"  # a space or a dash


class Name(Enum):
    """What the secret is called; decides what its value must look like."""

    PASSWORD = "password"  # noqa: S105 - the name of a kind
    PASSPHRASE = "passphrase"  # noqa: S105 - the name of a kind
    TOKEN = "token"  # noqa: S105 - the name of a kind
    KEY = "key"
    PRIVATE = "private"
    CODE = "code"
    SEED = "seed"


# Han, kana, CJK punctuation and full-width signs end a value; so do typographic quotation marks.
_VISIBLE = r"[^\s\u2018-\u201f\u3000-\u30ff\u3400-\u9fff\uff01-\uffef]"
_RUN = re.compile(_VISIBLE + r"{1,100}")  # so much is looked at; nobody needs more to see what it is
_REST = re.compile(_VISIBLE + r"{1,4000}")
_QUOTED = re.compile(r"(?:\\?(?P<quote>[\"'`])(?P<plain>[^\"'`\n\\]{1,200})|[“‘「『](?P<curved>[^”’」』\n]{1,200}))")
_TRAILING = ".,;:)]}>\"'`*…"

_REFERENCE = re.compile(
    r"""(?ix)
    \$[{(] | \$[a-z_]+ $ | \{\{ | < [\w\ -]+ >? $ | %\w+% $
    | (?: process | os | env | import\.meta | config | settings | self | this | secrets? | vault | ssm | ref | github | inputs
        | vars | request | req | args? | params? | props | options | ctx | context | data | user | app ) [.:\[] [\w$]
    | (?: your | my | the | some | an? | example | sample | dummy | fake | placeholder | insert | enter | put | change | replace
        | redacted | hidden | masked | test )?
      [-_]? (?: api[-_]?key | pass(?:word|phrase|wd)? | pwd | token | secret(?:[-_]key)? | key | value | here | me | placeholder
        | string )?
      (?: [-_]? (?: here | goes[-_]here | value | \d ) )? $
    | [a-z_]+ _ (?: pass(?:word|wd)? | pwd | token | secret | key ) $ | [a-z_]+ \[ ["'\w] [^\[]* $ | \{ \w+ \} $
    | [x*•.#?_-]+ $ | \[redacted:\w+\] $
    | [a-z_$]+ (?: (?:\.|::|->)[a-z_$][\w$]* )* \( [^()]{0,60} \)? $
    | [a-z_$][\w$]* (?: (?:\.|::|->)[a-z_$][\w$]* )+ $
    | (?: optional | list | dict | union | vec | array | option | promise | literal | secret ) [\[<]
    | https?: | (?: arn | urn ) : | \.{0,2}/ | ~/
    """
)
_TECHNICAL = re.compile(
    r"""(?ix)
    (?: md[45] | sha-?\d{1,3} (?: sum )? | base-?\d\d (?:url)? | utf-?\d{1,2} | aes-?\d{3} (?:-\w+)? | rsa-?\d{4} | [ex]d?25519
        | hs256 | rs256 | es256 | oauth-?2(?:\.\d)? | pbkdf2 | argon2\w{0,2} | bcrypt2? | [23]fa | 2-?factor | k8s | i18n
        | ipv[46] | http/?[12](?:\.\d)? | s3 | ec2 | uuid-?v?\d? | pkcs-?\d{1,2} | x509 | p256 | ldap3 | tls1\.\d | win\d\d
        | o200k\w* | cl100k\w* )
    | v?\d{1,4} (?: \.\d{1,4} ){1,4} (?:[-+]?(?:rc|beta|alpha|dev|a|b)\.?\d{0,3})?
    | \d{4}-\d{1,2}-\d{1,2} (?: t[\d:.]+z? )? | \d{1,2}:\d\d(?::\d\d)?(?:am|pm)? | \d{1,2}/\d{1,2}/\d{2,4}
    | \d+ (?: st | nd | rd | th
        | [-–]?(?:char|digit|day|hour|hr|min|month|letter|word|bit|byte|time|sec|week|year|step|factor|key|way)\w*
        | [-–]?(?:k|ms|kb|mb|px|x|d|h|s|m) | % )
    | (?: field | input | line | column | page | section | step | slot | option | row | item | node | level | version | part
        | type | key | no )[-_#]?\d{1,3}
    | \#\d+ | \w{1,20}\[\d*\]
    """
)
_UNIT = re.compile(
    r"(?i)[ \t]?(?:-|to|or more)?[ \t]?(?:characters?|digits?|chars?|days?|letters?|symbols?|times?|bytes?|bits?|minutes?|hours?"
    r"|seconds?|weeks?|months?|years?|words?|long|of|out of|or more|fields?|[-–]\d|%|[位个個天次字年月种種分小秒周週条步到至～~])"
)
# Words that follow "the password is" without being one, and words that stand for a value or its type.
_PROSE = words(
    """
    a about absent accepted actually again all allowed almost also always an and any as ask asked at available bad
    because been before being below better blank both broken but by cached called case changed changing checked
    compromised configurable configured correct created case-insensitive case-sensitive current currently default
    defined deleted different disabled displayed down due easy either empty encoded encrypted enforced entered equal
    established exactly exempt expected expired expiring exposed extremely fetched fine first for forced forgotten
    fresh from full gone good guessable hard hard-coded hardcoded hashed here hidden how human identical if ignored
    important in incorrect inside insecure invalid irrelevant issued it its just kept known last leaked less like
    limited local locked logged long longer lost made managed mandatory masked maybe meant mine minimum missing more
    my necessary needed never new no none nonempty not nothing now null nullable obsolete obvious of off ok okay old
    on once one only optional or ours out outdated over passed permanent plain plaintext please pointless posted
    present printed private probably protected provided public random read really recorded rejected removed required
    reset right rotated safe salted same saved scoped secret secure secured see sensitive sent set shared short shown
    signed simple simply single so some somewhere something soon stale static still stolen stored strong stuck
    supplied supposed taken temporary that the their there these this those to too trimmed true truncated two typed
    unavailable unchanged under undefined unguessable unique unknown unneeded unset unsafe unused up updated used
    useless usually valid validated vaulted verified very visible weak well what when where which who why will with
    without working worthless written wrong yes yet your false nil string str text bool boolean int integer number
    bytes byte char varchar object void field input label password passwords passphrase token tokens key keys secrets
    value values username user email name type hash prompt manager n/a na tbd todo redacted bearer basic jwt oauth
    rotation policy box page form length strength rules management store vault literal enabled auto manual env
    environment variable constant file path url
    """
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_IDENTIFIER = re.compile(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]+(?:-[a-z]+)+|[a-z]+(?:[A-Z][a-z]+)+|(?:[A-Z][a-z]+)+"
)
_HAS_DIGIT = re.compile(r"\d")
_HAS_LETTER = re.compile(r"[^\W\d_]")
_SWITCH = re.compile(r"(?:[a-z]+[A-Z]+){3}")
_ODD = re.compile(r"[@#$%^&*!+=~?|\\]")
_CLOSES = re.compile(
    r"[\"'`)\]}>]{0,3}(?:[.,;!?。，；！？、\n\r]|\s*$|\s?[\u3000-\u9fff\uff00-\uffef]|\s(?:and|but|so|for|on|[-–—])\s|\s{2})"
)
_SEED_WORDS = re.compile(r"(?:[a-z]{3,8}[ \t,]{1,2}){11,23}[a-z]{3,8}(?![a-z])")
_PHRASE_WORDS = re.compile(r"[a-z]{3,12}(?:[ -][a-z]{3,12}){3,9}(?=[\s.,;!?。，；]|$)")
_FUNCTION_WORDS = words("in the is are not to for by with and or that which from when you this it be at will must should has")

_SHORTEST_PASSWORD = 4
_SHORTEST_MIXED = 6
_SHORTEST_TOKEN = 8
_SHORTEST_LETTERS = 20
_SHORTEST_LONG_TOKEN = 16
_CODE_DIGITS = re.compile(r"\d{3,4}[ -]?\d{0,6}(?!\d)")


def value_at(text: str, start: int, name: Name, link: Link, *, stop: int | None = None) -> tuple[int, int] | None:
    """Start and end of the secret value that begins at `start` (and ends before `stop`), or None if there is none."""
    if name is Name.SEED:
        seed = _SEED_WORDS.match(text, start)
        return seed.span() if seed else None
    if name is Name.CODE:
        return _code(text, start) if link is not Link.BARE else None
    quoted = _QUOTED.match(text, start) if stop is None else None
    if quoted is not None:
        group = "plain" if quoted["quote"] else "curved"
        return quoted.span(group) if _secret_in_quotes(quoted[group], name, link) else None
    if name is Name.PASSPHRASE and link is not Link.BARE:
        phrase = _PHRASE_WORDS.match(text, start)
        if phrase is not None and _is_phrase(re.split("[ -]", phrase[0])):
            return phrase.span()
    return _run(text, start, name, link, len(text) if stop is None else stop)


def _run(text: str, start: int, name: Name, link: Link, stop: int) -> tuple[int, int] | None:
    run = _RUN.match(text, start, stop)
    if run is None:
        return None
    value, end = run[0], run.end()
    parameter = value.find("&") if link is Link.MARK else -1  # one of several in a query string
    if parameter > 0:
        value = value[:parameter]
        end = start + parameter
    value = value.rstrip(_TRAILING) if not value.startswith("[redacted:") else value
    if not value or not _secret(value, text, start + len(value), name, link):
        return None
    if start + len(value) < end or parameter > 0:
        return start, start + len(value)
    rest = _REST.match(text, end, stop)
    return start, start + len(text[start : rest.end() if rest else end].rstrip(_TRAILING))


def _is_phrase(words: list[str]) -> bool:
    """Four or more words that make no sentence; one of them may be a word of judgement ("correct horse battery staple")."""
    return not _FUNCTION_WORDS.intersection(words) and sum(word in _PROSE for word in words) <= 1


def _secret(value: str, text: str, end: int, name: Name, link: Link) -> bool:
    digits = _HAS_DIGIT.search(value) is not None
    password = name in (Name.PASSWORD, Name.PASSPHRASE)
    if not digits and not _may_be_wordless(value, link, password=password):
        return False  # most of what follows a name is an ordinary word
    if value.casefold() in _PROSE or _REFERENCE.match(value) or _TECHNICAL.fullmatch(value):
        return False
    letters = _HAS_LETTER.search(value) is not None
    if password:
        return _password(value, text, end, link, letters=letters, digits=digits)
    if _IDENTIFIER.fullmatch(value) and (not digits or link is Link.BARE):
        return False
    shortest = _SHORTEST_TOKEN if digits and letters and link is not Link.BARE else _SHORTEST_LONG_TOKEN
    return len(value) >= shortest and (letters or link is not Link.BARE)


def _may_be_wordless(value: str, link: Link, *, password: bool) -> bool:
    """Without a digit: any password after "is" or ":", one with odd signs anywhere, and long letters in mixed case."""
    if password:
        return link is not Link.BARE or _ODD.search(value) is not None
    mixed = len(value) >= _SHORTEST_LETTERS and not value.islower() and not value.isupper()
    return mixed and link is not Link.BARE and _SWITCH.search(value) is not None


def _password(value: str, text: str, end: int, link: Link, *, letters: bool, digits: bool) -> bool:
    odd = _ODD.search(value) is not None
    if link is Link.BARE:
        return len(value) >= _SHORTEST_MIXED and letters and (digits or odd) and not _IDENTIFIER.fullmatch(value)
    if len(value) < _SHORTEST_PASSWORD:
        return False
    if not letters:
        return digits and _UNIT.match(text, end) is None
    if digits or odd:
        return _UNIT.match(text, end) is None or not value[0].isdigit()
    # A plain word is a password only where the sentence ends with it.
    return _LETTERS.fullmatch(value) is None or _CLOSES.match(text, end) is not None


def _secret_in_quotes(inner: str, name: Name, link: Link) -> bool:
    if inner.strip().casefold() in _PROSE or _REFERENCE.match(inner) or _TECHNICAL.fullmatch(inner):
        return False
    if name in (Name.PASSWORD, Name.PASSPHRASE):
        return link is not Link.BARE or _HAS_DIGIT.search(inner) is not None
    return " " not in inner and _secret(inner, inner, len(inner), name, Link.MARK if link is Link.BARE else link)


def _code(text: str, start: int) -> tuple[int, int] | None:
    digits = _CODE_DIGITS.match(text, start)
    if digits is None or _UNIT.match(text, digits.end()) is not None or digits[0].endswith((" ", "-")):
        return None
    return digits.span()

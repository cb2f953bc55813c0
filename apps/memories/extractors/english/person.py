"""Who the speaker is, what has changed about it, and what he asks to be remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors.base import SUBJECT
from apps.memories.extractors.concepts import (
    BACKGROUND_LANGUAGE,
    PROGRAM,
    Reading,
    replaced,
    things_in,
)
from apps.memories.extractors.keys import fact_key, statement_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    import re

    from apps.memories.extractors.sentences import Sentence


# -- corrections

_ITEM = r"[\w+#.-]+(?:\ [\w+#.-]+){0,2}?"
_TAIL = (
    r"(?:\ (?:now|instead|from\ now\ on|these\ days|today|recently|(?:last|this)\ (?:week|month|year|spring|summer|autumn"
    r"|winter)|in\ \d{4}))*+[.!]?$"
)
_CORRECTIONS = (
    verbose(
        rf"^(?:it['’]?s\ |i['’]?m\ )?(?:not|no\ longer)\ (?:using\ |writing\ )?(?P<old>{_ITEM})(?:\ any\ ?more"
        rf"|\ any\ longer)?[,;.–—-]+\s?(?:but\ |it['’]?s\ |now\ |i\ (?:now\ )?(?:use|write)\ "
        rf"|use\ )*+(?P<new>{_ITEM}){_TAIL}"
    ),
    verbose(
        rf"^i\ (?:no\ longer|don['’]?t|do\ not|stopped|quit|gave\ up)\ (?:really\ )?(?:writ(?:e|ing)|us(?:e|ing)|cod(?:e"
        rf"|ing)\ in|program(?:ming)?\ in|work(?:ing)?\ (?:with|in)|do(?:ing)?)\ (?P<old>{_ITEM})(?:\ any\ ?more"
        rf"|\ any\ longer)?[,;.–—-]*\s(?:and\ |but\ )?(?:now\ )?(?:i['’]?m\ |i\ |i['’]?ve\ )?(?:now\ )?(?:mainly\ "
        rf"|mostly\ )?(?:write|use|writing|using|on|switched\ to|moved\ to|it['’]?s)?\s?(?P<new>{_ITEM}){_TAIL}"
    ),
    verbose(
        rf"^(?:i|we)(?:['’]ve|\ have)?\ (?:now\ |just\ |recently\ |finally\ )?(?:switched|moved|migrated|changed|gone|went"
        rf"|converted)\ (?:over\ )?from\ (?P<old>{_ITEM})\ to\ (?P<new>{_ITEM}){_TAIL}"
    ),
    verbose(
        rf"^(?:i|we)(?:['’]ve|\ have)?\ (?:now\ |just\ |recently\ )?(?:switched|moved|migrated"
        rf"|changed)\ (?:over\ )?to\ (?P<new>{_ITEM})\ from\ (?P<old>{_ITEM}){_TAIL}"
    ),
    verbose(
        rf"^i\ used\ to\ (?:mainly\ )?(?:write|use|code\ in|program\ in)\ (?P<old>{_ITEM})[,;.–—-]*\s(?:but\ "
        rf"|and\ )?(?:now\ )?(?:i['’]?m\ |i\ )?(?:now\ )?(?:mainly\ |mostly\ )?(?:write|use|using|on"
        rf"|it['’]?s)\ (?P<new>{_ITEM}){_TAIL}"
    ),
    verbose(
        rf"^i\ (?:now\ )?(?:mainly\ |mostly\ )?(?:use|write|code\ in"
        rf"|program\ in)\ (?P<new>{_ITEM})(?:\ now)?(?:,?\ (?:instead\ of|rather\ than"
        rf"|not)\ )(?P<old>{_ITEM})(?:\ any\ ?more|\ now)?[.!]?$"
    ),
    verbose(rf"^(?P<new>{_ITEM})\ now,\ (?:not|no\ longer)\ (?P<old>{_ITEM})(?:\ any\ ?more)?[.!]?$"),
    verbose(rf"^(?P<new>{_ITEM})\ instead\ of\ (?P<old>{_ITEM})\ (?:now|from\ now\ on)[.!]?$"),
)  # fmt: skip
_NEW_EMPLOYER = verbose(
    r"^i\ (?:no\ longer|don['’]?t|do\ not|stopped)\ work(?:ing)?\ (?:at"
    r"|for)\ \S.{0,40}?[,;.–—-]+\s?(?:and\ )?(?:now\ )?(?:i['’]?m\ |i\ )?(?:now\ )?(?:work\ |working\ )?(?:at|for"
    r"|with)\ (?P<new>.+?)(?:\ now)?[.!]?$"
)
_NEW_HOME = verbose(
    r"^(?:i|we)(?:['’]ve|\ have)?\ (?:just\ |recently\ )?(?:moved"
    r"|relocated)\ (?:house\ )?(?:from\ (?-i:[A-Z])[\w\ -]{1,30}\ )?to\ (?P<new>(?-i:[A-Z])[\w\ ,-]{1,40}?)(?:\ "
    r"(?:last|this|in|now|recently)\b.*)?[.!]?$"
)


def correction(sentence: Sentence) -> Reading | None:
    """A new value for something of a known kind. Of other things nobody can say which of a person's records it replaces."""
    for pattern in _CORRECTIONS:
        match = pattern.match(sentence.masked)
        found = replaced(match["old"], match["new"]) if match is not None else None
        if found is not None:
            return Reading(memory_type=found[0], key=found[1], belongs_to=SUBJECT)
    if _NEW_EMPLOYER.match(sentence.masked):
        return Reading(memory_type="fact", key="employer", belongs_to=SUBJECT)
    home = _NEW_HOME.match(sentence.masked)
    if home is not None and not things_in(home["new"]):
        return Reading(memory_type="fact", key="residence", belongs_to=SUBJECT)
    return None


# -- who the speaker is

_NAME = r"(?P<value>(?-i:[A-Z])[\w'’-]+(?:\ (?-i:[A-Z])[\w'’.-]+){0,3}|[\u4e00-\u9fff]{1,6})"
_PROGRAMS = rf"(?:{PROGRAM})(?:(?:,\ |\ and\ |,\ and\ |\ or\ |/)(?:{PROGRAM}))*+"
_PLACE = r"(?-i:[A-Z])[\w'’-]+(?:[ ,]+(?-i:[A-Z])[\w'’-]+){0,3}"
_PROFESSION = r"""(?:\w+\ ){0,3}?(?:nurse|teacher|engineer|developer|programmer|designer|doctor|lawyer|student
    |accountant|architect|biologist|chemist|physicist|journalist|chef|cook
    |scientist|researcher|analyst|manager|consultant|pilot|farmer|electrician|plumber|carpenter|photographer
    |musician|writer|translator|librarian|dentist|pharmacist|therapist
    |veterinarian|paramedic|firefighter|mechanic|baker|barista|editor|professor|lecturer|economist|geologist
    |historian|statistician|technician|administrator|freelancer|sysadmin)"""
_FACTS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("fact", "name", verbose(
        rf"^(?:my\ (?:full\ |real\ )?name\ is|my\ name['’]s|i['’]m\ called|i\ am\ called)\ {_NAME}[.!]?(?:$|,)"
    )),
    ("preference", "name.preferred", verbose(
        rf"^(?:please\ |you\ can\ |just\ |people\ )*+call\ me\ (?!(?:Later|Back|When|Tomorrow|Today|If|Crazy|Maybe|Old"
        rf"|Stupid|A|Sunday|Monday)\b){_NAME}[.!]?$"
    )),
    ("preference", "name.preferred", verbose(rf"^i\ (?:go\ by|prefer\ to\ be\ called)\ {_NAME}[.!]?$")),
    ("fact", BACKGROUND_LANGUAGE, verbose(
        rf"^i\ (?:mainly|mostly|usually|primarily|typically|generally|normally|chiefly|only)\ (?:write|code\ in|program\ in"
        rf"|develop\ in|use|work\ (?:in|with))\ {_PROGRAMS}(?:\ (?:at\ work|code|for\ a\ living|these\ days|now))*+[.!]?$"
    )),
    ("fact", BACKGROUND_LANGUAGE, verbose(
        rf"^i\ (?:write|code\ in|program\ in)\ {_PROGRAMS}\ (?:mainly|mostly|for\ a\ living|at\ work|every\ day"
        rf"|these\ days)[.!]?$"
    )),
    ("fact", BACKGROUND_LANGUAGE, verbose(
        rf"^my\ (?:main|go-to|primary|first|daily|usual|favou?rite)\ (?:programming\ )?language\ is\ "
        rf"(?:now\ )?{_PROGRAMS}[.!]?$"
    )),
    ("fact", BACKGROUND_LANGUAGE, verbose(
        rf"^i(?:['’]m|\ am)\ (?:mainly\ |mostly\ )?an?\ (?:\w+\ )?(?:{PROGRAM})\ (?:developer|programmer|engineer"
        rf"|dev)[.!]?$"
    )),
    ("fact", "employer", verbose(
        rf"^(?:i\ (?:now\ |currently\ )?work\ (?:at|for)|i(?:['’]ve|\ have)?\ (?:just\ |recently\ )?(?:joined"
        rf"|started\ (?:at|working\ (?:at|for)))|my\ employer\ is)\ (?!(?:Night|Home|The|Monday|Tuesday|Wednesday|Thursday"
        rf"|Friday|Saturday|Sunday)\b){_PLACE}(?:\ (?:now|as\ .+|since\ .+|in\ .+|(?:last|this|next)\ \w+"
        r"|yesterday|today|on\ \w+))?[.!]?$"
    )),
    ("fact", "occupation", verbose(
        r"^(?:i\ work\ as|my\ (?:job|profession|occupation)\ is)\ (?:being\ )?(?:an?|the|teaching|driving|selling"
        r"|designing|building|writing)\ [\w\ -]{3,50}[.!]?$"
    )),
    ("fact", "occupation", verbose(
        rf"^i(?:['’]m|\ am)\ (?:an?|the)\ {_PROFESSION}(?:\ (?:by\ (?:trade|profession)|for\ a\ living|at\ .+"
        rf"|in\ .+))?[.!]?$"
    )),
    ("fact", "residence", verbose(
        rf"^i(?:['’]m|\ am)?\ (?:now\ |currently\ )?(?:live|living|based|reside)\ in\ (?:the\ )?{_PLACE}(?:\ (?:now"
        rf"|since\ .+|with\ .+))?[.!]?$"
    )),
    ("fact", "origin", verbose(
        rf"^i(?:['’]m|\ am|\ come)\ (?:originally\ )?from\ (?!The\b|Monday|Tuesday|Friday){_PLACE}[.!]?$"
    )),
    ("fact", "birthday", verbose(r"^my\ birthday\ is\ (?:on\ )?(?:the\ )?(?=.*\d)[\w\ ,.-]{3,30}[.!]?$")),
    ("preference", "timezone", verbose(r"^my\ time\ ?zone\ is\ [\w/+:\ -]{2,40}[.!]?$")),
    ("preference", "timezone", verbose(r"^i(?:['’]m|\ am)\ in\ the\ [\w/+:\ -]{2,30}\ time\ ?zone[.!]?$")),
    ("fact", "diet", verbose(
        r"^i(?:['’]m|\ am)\ (?:a\ |an\ )?(?:strict\ |lifelong\ )?(?:vegetarian|vegan|pescatarian"
        r"|gluten[- ]free)(?:\ (?:now|since\ .+))?[.!]?$"
    )),
)  # fmt: skip
_ALLERGY = verbose(
    r"^i(?:['’]m|\ am)\ (?:severely\ |very\ |slightly\ |badly\ )?allergic\ to\ (?P<what>(?!you|that|this|mondays|work"
    r"|meetings)[\w\ ,-]{2,40})[.!]?$"
)


def about_the_speaker(sentence: Sentence) -> Reading | None:
    """Name, work, home, main language: facts of which a person has one at a time."""
    for memory_type, key, pattern in _FACTS:
        match = pattern.match(sentence.masked)
        if match is not None:  # what follows a comma ("nice to meet you") is no part of the fact
            return Reading(memory_type=memory_type, key=key, said=(0, match.end()), belongs_to=SUBJECT)
    allergy = _ALLERGY.match(sentence.masked)
    return (
        Reading(memory_type="fact", key=fact_key("allergy", allergy["what"]), belongs_to=SUBJECT) if allergy is not None else None
    )


# -- asked to be remembered

_STATES = verbose(
    r"\b(?:is|are|am|was|were|has|have|had|will|can|must|['’]s|['’]m|['’]re|my|our|i|we|lives|works|needs|starts|ends"
    r"|hangs|visits|comes|goes|likes|prefers|runs|costs|opens|closes|takes|leaves|uses|expires)\b"
    r"|^\w+(?:\ [\w'’-]+){0,4}\ (?:live|work|need|start|end|hang|come|go|like|prefer|run|cost|open|close|take|leave"
    r"|use|expire)\b"
)
_ADDRESSED = verbose(r"\b(?:you|your|yourself|yours)\b")


def noted(sentence: Sentence) -> Reading | None:
    """What was asked to be remembered and is nothing else: kept as the speaker's own statement."""
    if len(sentence.text.split()) < 3 or not _STATES.search(sentence.masked) or _ADDRESSED.search(sentence.masked):  # noqa: PLR2004
        return None
    return Reading(memory_type="fact", key=statement_key("noted", sentence.text.strip(" .!")), belongs_to=SUBJECT)

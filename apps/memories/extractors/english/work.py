"""Decisions, goals and constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors import dates
from apps.memories.extractors.concepts import (
    NUMBER,
    Reading,
)
from apps.memories.extractors.english.frame import REASON
from apps.memories.extractors.keys import fact_key, statement_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from apps.memories.extractors.sentences import Sentence


# -- decisions

_WE = r"(?:we|i|(?:the|our)\ (?:\w+\ )?(?:team|board|committee|group|council|management))"
_DECISION = verbose(
    rf"""^(?: {_WE}(?:['’]ve|\ have|\ has)?\ (?:now\ |just\ |finally\ |already\ |all\ |both\ |jointly\ )*+
              (?:decided|agreed|resolved|opted|settled|elected)\ (?:(?:in|at|during|after)\ [^,]{{3,40}}?\ )?
              (?P<what>(?:to|on|that|not\ to|against|for|upon|in\ favou?r\ of)\ .*)
            | {_WE}(?:['’]ve|\ have|\ has)?\ (?:now\ |just\ |finally\ |both\ )*+(?:chose|chosen|picked)
                \ (?P<chosen>(?!up\b|out\b)[^,]{{2,60}}?\ (?:over|for|instead\ of|as|because|since)\ .*)
            | (?:we|i)(?:['’]re|\ are|['’]m|\ am)\ going\ with\ (?P<with>.+)
            | (?:final\ )?decision(?:\ made)?\s?[:—–-]\s+(?P<noted>.+)
            | (?:it\ was|it\ has\ been)\ decided\ (?P<passive>(?:to|that)\ .+) )"""
)
_NO_DECISION = verbose(
    r"""^(?: to\ (?:see|wait\ and|think\ about|talk\ about|discuss|meet\ (?:again|later)) | on\ nothing | that\ way | so\b | it\b
      | the\ (?:same|first|wrong)\b | (?:them|this|these|those|him|her)\b | (?:to\ )?\w+\ (?:it|this|that|them)\b
      | .*\b(?:this|that|it)[.!]?$ )"""
)
_REASON_FIRST = verbose(
    r"^(?:because(?:\ of)?|since|due\ to|given(?:\ that)?|as)\ (?P<reason>[^,]{3,200}),\ (?P<decision>(?:we|i)\ .+)"
)
_ASIDE = verbose(r",?\s(?:which|that\ is|who|considering|even\ though|although)\b|\s[-–—]\s")
_PURPOSE = verbose(r"\sfor\ (?P<purpose>(?:the\ |our\ |all\ )?[\w\ -]{2,50}?)[.!]?$")


def decision(sentence: Sentence) -> Reading | None:
    """What was decided, its reason split off (PK-12). The key is what it is for, else the decision itself."""
    leading = _REASON_FIRST.match(sentence.masked)
    start = leading.start("decision") if leading is not None else 0
    match = _DECISION.match(sentence.masked[start:])
    if match is None:
        return None
    what = next(group for group in ("what", "chosen", "with", "noted", "passive") if match[group] is not None)
    if _NO_DECISION.match(match[what]):
        return None
    begin, end, rationale = start, len(sentence.text), None
    if leading is not None:
        rationale = sentence.text[leading.start("reason") : leading.end("reason")].strip()
    else:
        reason = REASON.search(sentence.masked, match.start(what))
        if reason is not None:
            rationale, end = sentence.text[reason.end() :].strip(" .!"), reason.start()
    stated = sentence.text[start + match.start(what) : end].strip(" .!,")
    if not any(character.isalpha() for character in stated):
        return None
    purpose = _PURPOSE.search(_ASIDE.split(sentence.masked[begin:end], maxsplit=1)[0])
    key = fact_key("decision", purpose["purpose"]) if purpose is not None else statement_key("decision", stated)
    return Reading(memory_type="decision", key=key, said=(begin, end), rationale=rationale or None)


# -- goals

_GOAL = verbose(
    r"^(?:my|our)\ (?:main\ |current\ |long[- ]term\ |short[- ]term\ |big\ |next\ |ultimate\ |overall\ )?(?:goal|aim"
    r"|objective|target|ambition|new\ year['’]s\ resolution)"
    r"(?:\ (?:for|this)\ [\w\ ]{2,30})?\ is\ (?:still\ |now\ )?(?:to\ )?(?P<what>(?!not\ clear|clear|unclear|simple"
    r"|unknown|what|the\ same).+)"
)
_YEARS_GOAL = verbose(r"^this\ (?:year|month|quarter|semester)['’]s\ (?:goal|aim|objective|target)\ is\ (?:to\ )?(?P<what>.+)")
_AIM = verbose(
    r"^(?:i|we)(?:['’]m|['’]re|\ am|\ are)?\ (?:really\ |still\ |also\ )*+(?:want\ to|plan\ to|plan\ on|planning\ to"
    r"|intend\ to|intending\ to|aim\ to|aiming\ (?:to|for)|hope\ to|hoping\ to|would\ like\ to|going\ to"
    r"|working\ towards|determined\ to|trying\ to)\ (?P<what>.+)"
)
_ID_AIM = verbose(r"^(?:i|we)['’]d\ like\ to\ (?P<what>.+)")
_FAR = verbose(
    r"\b(?:by|before|until)\ (?:the\ )?(?:end\ of|next|summer|winter|spring|autumn|fall|christmas|easter|january"
    r"|february|march|april|may|june|july|august|september|october|november|december|\d{4}|20\d\d"
    r"|year[- ]?end|q[1-4])|\bthis\ (?:year|quarter|month|spring|summer|autumn|fall|winter|semester)\b"
    r"|\bnext\ (?:year|quarter|summer)\b"
    r"|\bwithin\ (?:the\ next\ )?\w+\ (?:weeks|months|years)\b|\bin\ (?:\d+|two|three|six|twelve)\ (?:months|years)\b"
)
_AMBITION = verbose(
    r"^(?:learn(?!\ (?:from|more\ about\ (?:it|that|this)|about\ (?:it|that|this)|that|how\ (?:you|it)))|master"
    r"|become\ an?|run\ (?:a|my\ first|the)\ (?:half[- ])?marathon|lose\ \d+|save\ \d+|publish\ (?:a|my)|pass\ the"
    r"|get\ (?:certified|my\ (?:licence|license|degree))|write\ a\ (?:book|novel|thesis)|build\ my\ own|earn\ (?:a|my)"
    r"|read\ \d+\ books)\b"
)
_DEADLINE = verbose(
    r"[,\s]*\b(?:by|before|until|within|this\ (?:year|quarter|summer|winter)|next\ (?:year|quarter|summer)|in\ (?:\d+|two"
    r"|three|six|twelve)\ (?:months|years))\b.*$"
)
_FINISHING = verbose(r"^(?:finish(?:ing)?|complete|completing|get\ through|getting\ through)\ ")


def goal(sentence: Sentence) -> Reading | None:
    """What the speaker is after; a wish without a horizon ("I want to go home") is none."""
    masked = sentence.masked
    match = _GOAL.match(masked) or _YEARS_GOAL.match(masked)
    if match is None:
        match = _AIM.match(masked) or _ID_AIM.match(masked)
        if match is None or not (_FAR.search(match["what"]) or _AMBITION.match(match["what"])):
            return None
    aim = _FINISHING.sub("", _DEADLINE.sub("", REASON.split(match["what"], maxsplit=1)[0])).strip(" .!,")
    if not any(character.isalpha() for character in aim):
        return None
    until = dates.deadline(sentence.text, sentence.spoken_at)
    return Reading(memory_type="goal", key=fact_key("goal", aim), expected_resolution_at=until)


# -- constraints

_DEED = (
    r"(?:use|run|deploy|push|touch|edit|change|modify|write|read|send|publish|release|commit|install|test|train|merge"
    r"|delete|drop|share|store|expose|log|restart|upgrade|overwrite|access|call"
    r"|connect|work|spend|buy|allocate|schedule|accept|support|ship|open|start|exceed|force[- ]push|rebase|upload"
    r"|download|contact|copy|print|collect|reboot|hire|book|query)"
)
_REQUIRED = (
    r"(?!(?:i|you|he|she|it|this|that|there|they|these|those|we|something|someone|somebody|one|your|his|her|their)\b)"
    r"[\w][\w\ '’-]{2,60}?"
)
_VERB = r"(?!have\ been|be\ (?:kidding|easy|joking))\w{2,}"
_CONSTRAINTS = (
    verbose(
        rf"^(?:please\ )?(?:(?:for|in|on|during)\ [\w\ -]{{2,40}},?\ )?(?:we\ |you\ |i\ )?(?:can\ |may\ |must\ |should\ "
        rf"|are\ allowed\ to\ |have\ to\ )?(?:only|just)\ {_DEED}\ (?P<what>(?!it\b|that\b|this\b|them\b).+)"
    ),
    verbose(
        rf"^(?:please\ )?(?:we\ |you\ )?(?:can\ |may\ |must\ |should\ )?{_DEED}\ (?:only|at\ most|no\ more\ than"
        rf"|nothing\ but)\ (?P<what>.+)"
    ),
    verbose(
        r"^only\ (?P<what>(?!if\b|then\b|when\b|one\ thing|thing|joking|kidding|because|you\b|i\b|a\ few"
        r"|then)[\w\ –-]{2,50}?)\ (?:may|can|must|should|(?:is|are)\ (?:allowed|permitted|approved|supported))\b"
    ),
    verbose(
        rf"^(?:please\ )?(?:never|do\ not\ ever|don['’]t\ ever|under\ no\ circumstances)\ {_DEED}\ (?P<what>(?!it\b|that\b"
        rf"|this\b|them\b|me\b|again).+)"
    ),
    verbose(
        r"^(?:please\ )?(?:do\ not|don['’]t)\ (?:push|deploy|delete|drop|commit|merge|publish|release|share|store|expose"
        r"|log|restart|exceed|overwrite|force[- ]push)\ (?P<what>(?!it\b|that\b|this\b|them\b|me\b)(?!.*\b(?:yet|now|today"
        r"|tonight|again|until|here)\b).+)"
    ),
    verbose(
        rf"^(?:we|you)(?:\ |(?=['’]re))(?:['’]re\ not\ allowed\ to|can['’]?t|cannot|can\ not|must\ not|mustn['’]t"
        rf"|may\ not|are\ not\ allowed\ to"
        rf"|aren['’]t\ allowed\ to)\ {_DEED}\ (?P<what>(?!it\b|that\b|this\b|them\b)(?!.*\b(?:yet|today|tonight"
        rf"|right\ now)\b).+)"
    ),
    verbose(
        rf"^(?P<what>{_REQUIRED})\ (?:must|shall)\ (?:(?:not|never|always|only)\ {_VERB}|be\ (?:\w+(?:ed|en|t)|done|run"
        rf"|kept|read|under|below|above|at|in|on|within|less|more|no|between)\b(?!\ (?:so|really|very|to\ (?:see|hear"
        rf"|have)))"
        r"|(?:use|run|stay|remain|fit|support|pass|include|contain|finish|complete|start|end|follow|return|respond"
        r"|carry|cost|not|go\ through)\b)"
    ),
    verbose(rf"^(?P<what>{_REQUIRED})\ may\ (?:not|never|only)\ {_VERB}"),
    verbose(
        r"^(?P<what>(?!(?:i|you|he|she|it|this|that|there|they|we)\b)[\w][\w\ '’-]{2,60}?)\ (?:is|are)\ (?:strictly\ "
        r"|hard\ )?(?:limited\ to|capped\ at|restricted\ to|not\ allowed|not\ permitted|forbidden|prohibited|off[- ]limits"
        r"|banned)\b"
    ),
    verbose(
        r"^(?:the\ )?(?P<what>(?:hard\ )?(?:deadline|budget|limit|cap|maximum|quota)(?:\ limit|\ cap)?(?:\ (?:for|of"
        r"|on)\ [\w\ -]{2,40}?)?)\ is\ (?!a\b|not\b|too\b|very\b|unclear|unknown|tight|near|over\b|close)(?=.*(?:\d|monday"
        r"|tuesday|wednesday|thursday|friday|saturday|sunday|midnight|noon|end\ of))"
    ),
    verbose(
        r"^no\ (?P<what>(?!kidding|joking|thinking|wondering|hard)\w+ing\ (?:in|on|to|during|with|without|from|of|before"
        r"|after)\ .+)"
    ),
    verbose(
        rf"^(?P<what>{_REQUIRED})\ (?:has|have)\ to\ (?:be\ (?:\w+(?:ed|en|t)|below|above|under|over|at|within|less|more)"
        rf"|stay|remain|fit|pass|support|run)\b"
    ),
    verbose(
        rf"^(?:use\ |allow\ |spend\ |keep\ it\ )?(?:at\ most|no\ more\ than|not\ more\ than|a\ maximum\ of"
        rf"|max\.?)\ (?P<what>{NUMBER}.*\b[a-z]{{3,}}.*)"
    ),
)  # fmt: skip
_NUMBERS = verbose(r"[\d–—,.:%/-]+|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b")


def constraint(sentence: Sentence) -> Reading | None:
    """What must, must not or may only be done. Numbers leave the key: GPU 0–3 and GPU 4–7 answer one question."""
    for pattern in _CONSTRAINTS:
        match = pattern.match(sentence.masked)
        if match is None:
            continue
        stated = REASON.split(sentence.text[match.start("what") : match.end("what")], maxsplit=1)[0].strip(" .!,")
        subject = " ".join(_NUMBERS.sub(" ", stated).split())
        if not any(character.isalpha() for character in subject):
            continue
        reason = REASON.search(sentence.masked, match.start("what"))
        rationale = sentence.text[reason.end() :].strip(" .!") if reason is not None else None
        said = (0, reason.start()) if reason is not None else None
        return Reading(
            memory_type="constraint",
            key=fact_key("constraint", subject),
            verdict="not_applicable",
            rationale=rationale,
            said=said,
        )
    return None

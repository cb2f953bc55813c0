"""What the rules understand in English. Patterns begin where the sentence begins: what somebody else said, asked or imagined does
not begin with "I prefer" or "we decided".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.memories.extractors import dates
from apps.memories.extractors.base import SUBJECT, TASK_SCOPED
from apps.memories.extractors.concepts import (
    BACKGROUND_LANGUAGE,
    EN_ORDINAL,
    EN_STEP,
    LANGUAGE,
    NUMBER,
    PROGRAM,
    REPLY_LANGUAGE,
    Reading,
    preference_key,
    progress_key,
    replaced,
    reply_style,
    state_key,
    things_in,
)
from apps.memories.extractors.keys import fact_key, statement_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from apps.memories.extractors.sentences import Sentence


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?ix){pattern}")


# -- what is not said as it stands

_HYPOTHETICAL = _re(
    r"""\b(?: if | unless | whether | suppos(?:e|ing) | assum(?:e|ing) | provided\ that | in\ case | imagine | pretend | hypothetically
      | let['’]?s\ say | would\ have | could\ have | should\ have | wish | as\ long\ as | as\ though | when(?:ever)? | once\ (?:i|we|you|the|it)
      | until\ (?:i|we|you) | for\ example | e\.g\. | what\ about | how\ about )\b"""
)
_POLITE = _re(r",?\s?\b(?: if|when(?:ever)?|where(?:ver)? )\ (?: possible | necessary | needed | you\ (?:can|could|would|want|like|please|don['’]t\ mind)"
              r" | I(?:['’]m\ not\ mistaken|\ (?:remember|recall)(?:\ (?:correctly|right(?:ly)?))?) )\b")  # fmt: skip
_ASKS = _re(
    r"^(?: what | why | who | whom | whose | which | where | how | when | can\ (?:you|we|i) | could\ (?:you|we|i) | would\ (?:you|we|i) | will\ you"
    r" | do\ (?:you|we|i)\b | does | did | is\ (?:it|there|this|that|the) | are\ (?:you|we|there|the) | should\ (?:i|we) | shall )\b"
)
RETRACTED = _re(
    r"^(?:(?:i['’]?m |i\ was )?\s?(?: just | only )?\s?(?: kidding | joking | jk )\b | never\ ?mind | scratch\ that | forget\ (?:it|that|what\ i\ said)"
    r" | (?: no,?\ )?i\ take\ (?:it|that)\ back )"
)


def withheld(sentence: Sentence) -> bool:
    """A question, hypothesis or condition: nothing in it is stated."""
    masked = _POLITE.sub("", sentence.masked)
    return _HYPOTHETICAL.search(masked) is not None or _ASKS.search(masked) is not None


_LEAD_IN = _re(
    r"""(?: (?: ok(?:ay)? | well | so | and | but | also | oh | ah | hey | hi | hello | thanks | thank\ you | yes | yeah | yep | sure | right | great | cool
        | actually | btw | by\ the\ way | fyi | note(?:\ that)? | for\ the\ record | just\ so\ you\ know | please\ note(?:\ that)? | to\ be\ clear
        | honestly | frankly | update | quick\ (?:update|note) | good\ news | as\ (?:i|we)\ (?:said|mentioned) | one\ more\ thing | another\ thing
        | first(?:ly)? | second(?:ly)? | then | today | yesterday | this\ (?:morning|afternoon|week|month) | last\ (?:week|month|night) | in\ the\ end
        | after\ (?:some|a\ long|much)\ (?:thought|discussion|debate) | hm+ | my\ (?:two|2)\ cents | personally | correction )
        \s*[,:;!.–—-]*\s+
      | (?: finally | just | recently | eventually )\s+(?=[a-z]+ed\b|i\b|we\b|done\b)
      | [A-Z][a-z]{1,14},\s+(?=[a-z]) )"""
)
_REMEMBER = _re(
    r"(?:please\ |pls\ )?(?:always\ )?(?:remember|note|keep\ in\ mind|bear\ in\ mind|do\ not\ forget|don['’]t\ forget|make\ a\ note)"
    r"(?:\ that\b|\ this\b)?[,:]?\s+(?!to\b|when\b|how\b|what\b|why\b|who\b|where\b|the\ time\b|me\b|us\b)"
)


def plain(sentence: Sentence) -> tuple[Sentence, bool]:
    """The sentence without "ok, by the way", and whether it asks to be remembered."""
    at, asked = 0, False
    for _ in range(4):
        lead = _LEAD_IN.match(sentence.masked, at)
        remember = _REMEMBER.match(sentence.masked, at) if lead is None else None
        if lead is None and remember is None:
            break
        at = (lead or remember).end()  # type: ignore[union-attr]
        asked = asked or remember is not None
    return (sentence.part(at, len(sentence.text)) if at else sentence), asked


_CLAUSE = _re(r"(?:,\ ?(?:and|but|so)|\ but|;|\ —|\ –|\ -)\s+(?=(?:i|we|my|our|please)\b)")


def clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Independent statements joined by "and I", "but we"."""
    begun = 0
    for joint in _CLAUSE.finditer(sentence.masked):
        yield sentence.part(begun, joint.start())
        begun = joint.end()
    yield sentence.part(begun, len(sentence.text))


# -- parameters of the task at hand

_TASK = _re(
    r"""(?: \b(?: just\ this\ once | this\ (?:one\ )?time | for\ (?:now|today|this\ \w+|the\ moment|the\ time\ being|the\ next\ \w+(?:\ \w+)?)
        | (?:only|just)\ (?:today|this\ time|for\ (?:this|now|today)) | today\ only | right\ now | temporarily
        | in\ this\ (?:chat|conversation|session|thread|message|reply|answer|document|report|file)
        | until\ (?:tomorrow|tonight|the\ end\ of\ (?:the\ )?(?:day|week|session)) )\b
      | \b(?:this|the\ current|today['’]s)\ (?:report|email|e-mail|mail|message|letter|document|answer|reply|response|summary|article|post|essay|page
        |presentation|slides?|task|draft|section|paragraph|note|review|readme|commit(?:\ message)?)\b )"""
)
_TASK_PARAMETER = _re(
    rf"""^(?:please\ )?(?:(?:write|make|do|give|prepare|keep|put|draft|send|format|answer|reply|use|create|let['’]?s\ do|i\ (?:want|need|would\ like)|i['’]d\ like)
        \ (?:me\ |us\ )?)?
        (?:(?:this|the\ current|today['’]s)\ \w+(?:\ \w+)?[,:]?\ (?:should\ be\ |must\ be\ |needs\ to\ be\ |has\ to\ be\ |will\ be\ |written\ )?)?
        (?:in|into|to|use|with|as|at\ most|under|no\ more\ than|short|brief|formal|informal|casual|longer|shorter)\b"""
)
_IMPERATIVE = _re(
    r"^(?:please\ )?(?:only\ )?(?:answer|reply|respond|write|speak|talk|use|keep|make|be|call|include|add|give|show|explain|format|avoid|skip|put|send|summari[sz]e"
    r"|translate|stick|switch|do\ not|don['’]t|no|leave|draft|prepare|create)\b"
)
_DESCRIBES = _re(r"\b(?:is|was|are|were|has\ been|had|happens|looks|seems|appears)\b")


def task_parameter(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """A wish for this report, this time, today: named so that it can be refused (CA-12)."""
    masked = sentence.masked
    marker = _TASK.search(masked)
    if marker is None or _STABLE.search(masked):
        return None
    without = (masked[: marker.start()] + masked[marker.end() :]).strip(" ,:;.!")
    if marker.start() == 0 and _TASK_PARAMETER.match(masked) and not _DESCRIBES.search(masked):
        pass
    elif not _IMPERATIVE.match(without) or not (reply_style(without) or things_in(without)):
        return None
    return Reading(memory_type="preference", key=reply_style(f"use {without}") or statement_key("task", without), marks=frozenset({TASK_SCOPED}), belongs_to=SUBJECT)


# -- corrections

_ITEM = r"[\w+#.-]+(?:\ [\w+#.-]+){0,2}?"
_TAIL = r"(?:\ (?:now|instead|from\ now\ on|these\ days|today))*[.!]?$"
_CORRECTIONS = (
    _re(rf"^(?:it['’]?s\ |i['’]?m\ )?(?:not|no\ longer)\ (?:using\ |writing\ )?(?P<old>{_ITEM})(?:\ any\ ?more|\ any\ longer)?[,;.–—-]+\s?(?:but\ |it['’]?s\ |now\ |i\ (?:now\ )?(?:use|write)\ |use\ )*(?P<new>{_ITEM}){_TAIL}"),
    _re(rf"^i\ (?:no\ longer|don['’]?t|do\ not|stopped|quit|gave\ up)\ (?:really\ )?(?:writ(?:e|ing)|us(?:e|ing)|cod(?:e|ing)\ in|program(?:ming)?\ in|work(?:ing)?\ (?:with|in)|do(?:ing)?)\ (?P<old>{_ITEM})(?:\ any\ ?more|\ any\ longer)?[,;.–—-]*\s(?:and\ |but\ )?(?:now\ )?(?:i['’]?m\ |i\ |i['’]?ve\ )?(?:now\ )?(?:mainly\ |mostly\ )?(?:write|use|writing|using|on|switched\ to|moved\ to|it['’]?s)?\s?(?P<new>{_ITEM}){_TAIL}"),
    _re(rf"^(?:i|we)(?:['’]ve|\ have)?\ (?:now\ |just\ |recently\ |finally\ )?(?:switched|moved|migrated|changed|gone|went|converted)\ (?:over\ )?from\ (?P<old>{_ITEM})\ to\ (?P<new>{_ITEM}){_TAIL}"),
    _re(rf"^i\ (?:now\ )?(?:mainly\ |mostly\ )?(?:use|write|code\ in|program\ in)\ (?P<new>{_ITEM})(?:\ now)?(?:,?\ (?:instead\ of|rather\ than|not)\ )(?P<old>{_ITEM})(?:\ any\ ?more|\ now)?[.!]?$"),
    _re(rf"^(?P<new>{_ITEM})\ now,\ (?:not|no\ longer)\ (?P<old>{_ITEM})(?:\ any\ ?more)?[.!]?$"),
    _re(rf"^(?P<new>{_ITEM})\ instead\ of\ (?P<old>{_ITEM})\ (?:now|from\ now\ on)[.!]?$"),
)  # fmt: skip
_NEW_EMPLOYER = _re(
    r"^i\ (?:no\ longer|don['’]?t|do\ not|stopped)\ work(?:ing)?\ (?:at|for)\ \S.{0,40}?[,;.–—-]+\s?(?:and\ )?(?:now\ )?(?:i['’]?m\ |i\ )?(?:now\ )?(?:work\ |working\ )?(?:at|for|with)\ (?P<new>.+?)(?:\ now)?[.!]?$"
)
_NEW_HOME = _re(
    r"^(?:i|we)(?:['’]ve|\ have)?\ (?:just\ |recently\ )?(?:moved|relocated)\ (?:house\ )?(?:from\ (?-i:[A-Z])[\w\ -]{1,30}\ )?to\ (?P<new>(?-i:[A-Z])[\w\ ,-]{1,40}?)(?:\ (?:last|this|in|now|recently)\b.*)?[.!]?$"
)


def correction(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
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


# -- preferences

_STABLE = _re(
    r"\b(?: from\ (?:now|here|today|this\ point)\ on(?:wards?)? | going\ forward | in\ (?:the\ )?future | by\ default | default\ to | always | every\ time | each\ time"
    r" | as\ a\ rule | henceforth | in\ general | generally | permanently | for\ all\ (?:future\ )?(?:my\ )?(?:answers|replies|responses|messages|sessions|chats)"
    r" | never | whatever\ language | no\ matter )\b"
)
_TOLD = _re(
    r"""^(?: (?: from\ (?:now|here|today|this\ point)\ on(?:wards?)? | going\ forward | in\ (?:the\ )?future | by\ default | as\ a\ rule | henceforth | in\ general | generally )[,:]?\s+
        | (?: please | kindly )[,]?\s+ | (?: you\ should | i\ (?:want|need|would\ like|expect)\ you\ to | i['’]d\ (?:like|prefer)\ (?:it\ if\ )?you\ (?:to\ )?| let['’]?s | you\ can )\s+
        | (?: always | never )\s+ )*
        (?P<verb> answer | reply | respond | speak | write | talk | communicate | converse | use | keep | make | be | call\ me | address\ me | refer\ to\ me | include | add | give
        | show | explain | format | avoid | skip | start | begin | end | put | send | summari[sz]e | cite | translate | stick\ to | default\ to | switch\ to | do\ not | don['’]t | no
        | round | quote | mention | leave | tell | ask | assume | list | sign | prefer )\b (?P<rest>.*)"""
)
_LIKING = _re(
    r"""^(?:i|we)\s
        (?: (?:really|generally|usually|strongly|much|still|always|definitely|absolutely|personally|also|do|just|simply|truly|quite|typically|normally|mostly|particularly|especially)\s)*
        (?P<verb> prefer | like | love | enjoy | hate | dislike | favou?r | adore | can['’]?t\ stand | cannot\ stand | am\ (?:a\ (?:big\ |huge\ )?fan\ of|fond\ of)
            | don['’]?t\ (?:really\ |particularly\ |much\ )?(?:like|enjoy|care\ for) | do\ not\ (?:really\ |particularly\ )?(?:like|enjoy|care\ for) | no\ longer\ (?:like|enjoy|prefer)
            | ['’]d\ rather | would\ rather ) \s (?P<liked>.+)"""
)
_ID_LIKING = _re(r"^(?:i['’]m\ (?:a\ (?:big\ |huge\ )?fan\ of|fond\ of|not\ (?:a\ (?:big\ )?fan\ of|fond\ of))|i['’]d\ (?:much\ |really\ )?(?:rather|prefer))\s(?P<liked>.+)")
_NOT_A_LIKING = _re(
    r"""^(?: it | that | this | these | those | them | him | her | you | your | ['’]em | how | what | where | who | when | why | the\ (?:way|idea|fact|sound|look|new|first|second|other|one)
        | his | their | both | all\ of | not\ to\ (?:say|answer|talk|discuss|disclose|comment|be\ asked|go\ into) | option | choice | version | number | one\ of | everything | nothing
        | seeing | hearing\ (?:that|about) | to\ (?:know|see|hear|ask|thank|say|point|mention|add|talk|get\ back|start|think) | so\ | to\ be\ honest | being\ (?:here|able)
        | (?:that|this)\b | for\ you\b | every\ (?:minute|second|moment)\ of | our | my\ (?:new|time) | getting\ to )"""
)
_ONE_OFF = _re(r"\b(?: today | yesterday | tonight | this\ (?:morning|evening|time|one|week|weekend|idea|song|movie|film) | last\ (?:night|week|time) | right\ now | just\ now | you | your | too$"
               r" | (?:first|second|third|latter|former)\ (?:one|option|version|variant) | option\ \w )\b")  # fmt: skip
_FAVOURITE = _re(
    r"^my\ (?:all[- ]time\ )?(?:favou?rite|preferred)\ (?P<what>[\w\ -]{2,40}?)\ (?:is|are)\ (?:definitely\ |probably\ |still\ |always\ )?(?P<value>(?!not\b|the\ one\b|when\b|how\b|what\b|that\b).+)"
)


def reply_preference(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """How to answer from now on (CA-11). Without a word that makes it last it may be for this task only: nothing."""
    masked = sentence.masked
    if not _STABLE.search(masked):
        return None
    told = _TOLD.match(masked)
    if told is None:
        return None
    verb = told["verb"].lower()
    if verb in ("call me", "address me", "refer to me"):
        return Reading(memory_type="preference", key="name.preferred", belongs_to=SUBJECT)
    wish = f"{verb} {told['rest']}"
    if re.search(rf"(?i)\b(?:{LANGUAGE})\b", wish) and verb in _SPEAKING:
        return Reading(memory_type="preference", key=REPLY_LANGUAGE, belongs_to=SUBJECT)
    style = reply_style(wish)
    if style is None and (re.search(r"(?i)\bnever\b", masked) and _ACTS.search(wish)):
        return None  # a rule about deeds, not about answers
    if style is None and len(told["rest"].split()) < 1:
        return None
    return Reading(memory_type="preference", key=style or fact_key("preference", _without_markers(wish)), belongs_to=SUBJECT)


_SPEAKING = frozenset("answer reply respond speak write talk communicate converse use|default to|switch to|stick to".replace("|", " ").split()) | {
    "default to", "switch to", "stick to", "use", "keep", "explain",
}  # fmt: skip
_ACTS = _re(r"\b(?:push|deploy|delete|drop|commit|merge|publish|release|share|store|expose|log|restart|install|upgrade|overwrite|run|force)\b")
_MARKERS = _re(r",?\s?\b(?:from\ (?:now|here|today)\ on(?:wards?)?|going\ forward|in\ (?:the\ )?future|by\ default|as\ a\ rule|henceforth|in\ general|generally|always|please)\b")


def _without_markers(text: str) -> str:
    return _MARKERS.sub("", text).strip(" ,.!:;")


def liking(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """ "I prefer …", "I don't like …", "my favourite … is …": about the speaker and lasting, never about this one thing here."""
    favourite = _FAVOURITE.match(sentence.masked)
    if favourite is not None and not _ONE_OFF.search(favourite["what"]):
        return Reading(memory_type="preference", key=fact_key("preference.favourite", favourite["what"]), belongs_to=SUBJECT)
    match = _LIKING.match(sentence.masked) or _ID_LIKING.match(sentence.masked)
    if match is None or _NOT_A_LIKING.match(match["liked"]) or _ONE_OFF.search(match["liked"]):
        return None
    liked = sentence.text[match.start("liked") :].strip(" .!")
    if not any(character.isalpha() for character in liked):
        return None
    return Reading(memory_type="preference", key=preference_key(_REASON.split(_without_markers(liked), maxsplit=1)[0]), belongs_to=SUBJECT)


# -- who the speaker is

_NAME = r"(?P<value>(?-i:[A-Z])[\w'’-]+(?:\ (?-i:[A-Z])[\w'’.-]+){0,3}|[\u4e00-\u9fff]{1,6})"
_PROGRAMS = rf"(?:{PROGRAM})(?:(?:,\ |\ and\ |,\ and\ |\ or\ |/)(?:{PROGRAM}))*"
_PLACE = r"(?-i:[A-Z])[\w'’-]+(?:[ ,]+(?-i:[A-Z])[\w'’-]+){0,3}"
_PROFESSION = r"""(?:\w+\ ){0,3}?(?:nurse|teacher|engineer|developer|programmer|designer|doctor|lawyer|student|accountant|architect|biologist|chemist|physicist|journalist|chef|cook
    |scientist|researcher|analyst|manager|consultant|pilot|farmer|electrician|plumber|carpenter|photographer|musician|writer|translator|librarian|dentist|pharmacist|therapist
    |veterinarian|paramedic|firefighter|mechanic|baker|barista|editor|professor|lecturer|economist|geologist|historian|statistician|technician|administrator|freelancer|sysadmin)"""
_FACTS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("fact", "name", _re(rf"^(?:my\ (?:full\ |real\ )?name\ is|my\ name['’]s|i['’]m\ called|i\ am\ called)\ {_NAME}[.!]?(?:$|,)")),
    ("preference", "name.preferred", _re(rf"^(?:please\ |you\ can\ |just\ |people\ )*call\ me\ (?!(?:Later|Back|When|Tomorrow|Today|If|Crazy|Maybe|Old|Stupid|A|Sunday|Monday)\b){_NAME}[.!]?$")),
    ("preference", "name.preferred", _re(rf"^i\ (?:go\ by|prefer\ to\ be\ called)\ {_NAME}[.!]?$")),
    ("fact", BACKGROUND_LANGUAGE, _re(rf"^i\ (?:mainly|mostly|usually|primarily|typically|generally|normally|chiefly|only)\ (?:write|code\ in|program\ in|develop\ in|use|work\ (?:in|with))\ {_PROGRAMS}(?:\ (?:at\ work|code|for\ a\ living|these\ days|now))*[.!]?$")),
    ("fact", BACKGROUND_LANGUAGE, _re(rf"^i\ (?:write|code\ in|program\ in)\ {_PROGRAMS}\ (?:mainly|mostly|for\ a\ living|at\ work|every\ day|these\ days)[.!]?$")),
    ("fact", BACKGROUND_LANGUAGE, _re(rf"^my\ (?:main|primary|first|daily|usual|favou?rite)\ (?:programming\ )?language\ is\ (?:now\ )?{_PROGRAMS}[.!]?$")),
    ("fact", BACKGROUND_LANGUAGE, _re(rf"^i(?:['’]m|\ am)\ (?:mainly\ |mostly\ )?an?\ (?:\w+\ )?(?:{PROGRAM})\ (?:developer|programmer|engineer|dev)[.!]?$")),
    ("fact", "employer", _re(rf"^(?:i\ (?:now\ |currently\ )?work\ (?:at|for)|i(?:['’]ve|\ have)?\ (?:just\ |recently\ )?(?:joined|started\ (?:at|working\ (?:at|for)))|my\ employer\ is)\ (?!(?:Night|Home|The|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b){_PLACE}(?:\ (?:now|as\ .+|since\ .+|in\ .+))?[.!]?$")),
    ("fact", "occupation", _re(r"^(?:i\ work\ as|my\ (?:job|profession|occupation)\ is)\ (?:being\ )?(?:an?|the)\ [\w\ -]{3,50}[.!]?$")),
    ("fact", "occupation", _re(rf"^i(?:['’]m|\ am)\ (?:an?|the)\ {_PROFESSION}(?:\ (?:by\ (?:trade|profession)|for\ a\ living|at\ .+|in\ .+))?[.!]?$")),
    ("fact", "residence", _re(rf"^i(?:['’]m|\ am)?\ (?:now\ |currently\ )?(?:live|living|based|reside)\ in\ (?:the\ )?{_PLACE}(?:\ (?:now|since\ .+|with\ .+))?[.!]?$")),
    ("fact", "birthday", _re(r"^my\ birthday\ is\ (?:on\ )?(?:the\ )?(?=.*\d)[\w\ ,.-]{3,30}[.!]?$")),
    ("preference", "timezone", _re(r"^my\ time\ ?zone\ is\ [\w/+:\ -]{2,40}[.!]?$")),
    ("preference", "timezone", _re(r"^i(?:['’]m|\ am)\ in\ the\ [\w/+:\ -]{2,30}\ time\ ?zone[.!]?$")),
    ("fact", "diet", _re(r"^i(?:['’]m|\ am)\ (?:a\ |an\ )?(?:strict\ |lifelong\ )?(?:vegetarian|vegan|pescatarian|gluten[- ]free)(?:\ (?:now|since\ .+))?[.!]?$")),
)  # fmt: skip
_ALLERGY = _re(r"^i(?:['’]m|\ am)\ (?:severely\ |very\ |slightly\ |badly\ )?allergic\ to\ (?P<what>(?!you|that|this|mondays|work|meetings)[\w\ ,-]{2,40})[.!]?$")


def about_the_speaker(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """Name, work, home, main language: facts of which a person has one at a time."""
    for memory_type, key, pattern in _FACTS:
        if pattern.match(sentence.masked):
            return Reading(memory_type=memory_type, key=key, belongs_to=SUBJECT)
    allergy = _ALLERGY.match(sentence.masked)
    return Reading(memory_type="fact", key=fact_key("allergy", allergy["what"]), belongs_to=SUBJECT) if allergy is not None else None


# -- decisions

_DECISION = _re(
    r"""^(?: (?:we|i|the\ team)(?:['’]ve|\ have|\ has)?\ (?:now\ |just\ |finally\ |already\ |all\ |both\ |jointly\ )*(?:decided|agreed|resolved|opted|settled|chose|chosen|picked|elected)
              (?!\ (?:yet|whether|if|that\ (?:it|he|she)\ was)\b)\ (?P<what>(?:to|on|that|not\ to|against|for|upon|in\ favou?r\ of|[\w-]+).*)
            | (?:we|i)(?:['’]re|\ are|['’]m|\ am)\ going\ with\ (?P<with>.+)
            | (?:final\ )?decision(?:\ made)?\s?[:—–-]\s+(?P<noted>.+)
            | (?:it\ was|it\ has\ been)\ decided\ (?P<passive>(?:to|that)\ .+) )"""
)
_NO_DECISION = _re(r"^(?: to\ (?:see|wait\ and|think\ about|talk\ about|discuss|meet\ (?:again|later)) | on\ nothing | that\ way | so\b | it\b | the\ (?:same|first|wrong)\b )")
_REASON = _re(r",?\s(?:because(?:\ of)?|since(?!\s(?:\d|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|last|yesterday|then))"
              r"|so\ that|in\ order\ to|due\ to|as\ it|as\ we|as\ they|,\ as|owing\ to|given\ that|the\ reason\ (?:is|being))\s")  # fmt: skip
_LEADING_REASON = _re(r"^(?:because(?:\ of)?|since|due\ to|given\ (?:that\ )?|as)\ (?P<reason>[^,]{3,200}),\ (?P<decision>(?:we|i)\ .+)")
_PURPOSE = _re(r"\sfor\ (?P<purpose>(?:the\ |our\ |all\ )?[\w\ -]{2,50}?)[.!]?$")


def decision(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """What was decided, its reason split off (PK-12). The key is what it is for, else the decision itself."""
    leading = _LEADING_REASON.match(sentence.masked)
    start = leading.start("decision") if leading is not None else 0
    match = _DECISION.match(sentence.masked[start:])
    if match is None:
        return None
    what = next(group for group in ("what", "with", "noted", "passive") if match[group] is not None)
    if _NO_DECISION.match(match[what]):
        return None
    begin, end, rationale = start, len(sentence.text), None
    if leading is not None:
        rationale = sentence.text[leading.start("reason") : leading.end("reason")].strip()
    else:
        reason = _REASON.search(sentence.masked, match.start(what))
        if reason is not None:
            rationale, end = sentence.text[reason.end() :].strip(" .!"), reason.start()
    stated = sentence.text[start + match.start(what) : end].strip(" .!,")
    if not any(character.isalpha() for character in stated):
        return None
    purpose = _PURPOSE.search(sentence.masked[begin:end])
    key = fact_key("decision", purpose["purpose"]) if purpose is not None else statement_key("decision", stated)
    return Reading(memory_type="decision", key=key, said=(begin, end), rationale=rationale or None)


# -- goals

_GOAL = _re(
    r"^(?:my|our)\ (?:main\ |current\ |long[- ]term\ |short[- ]term\ |big\ |next\ |ultimate\ |overall\ )?(?:goal|aim|objective|target|ambition|new\ year['’]s\ resolution)"
    r"(?:\ (?:for|this)\ [\w\ ]{2,30})?\ is\ (?:still\ |now\ )?(?:to\ )?(?P<what>(?!not\ clear|clear|unclear|simple|unknown|what|the\ same).+)"
)
_AIM = _re(
    r"^(?:i|we)(?:['’]m|['’]re|\ am|\ are)?\ (?:really\ |still\ |also\ )*(?:want\ to|plan\ to|plan\ on|planning\ to|intend\ to|intending\ to|aim\ to|aiming\ to|hope\ to|hoping\ to|would\ like\ to|going\ to"
    r"|working\ towards|determined\ to|trying\ to|have\ to|need\ to|['’]d\ like\ to)\ (?P<what>.+)"
)
_ID_AIM = _re(r"^(?:i|we)['’]d\ like\ to\ (?P<what>.+)")
_FAR = _re(
    r"\b(?:by|before|until)\ (?:the\ )?(?:end\ of|next|summer|winter|spring|autumn|fall|christmas|easter|january|february|march|april|may|june|july|august|september|october|november|december|\d{4}|20\d\d"
    r"|year[- ]?end|q[1-4])|\bthis\ (?:year|quarter|summer|winter|semester)\b|\bnext\ (?:year|quarter|summer)\b|\bwithin\ (?:the\ next\ )?\w+\ (?:weeks|months|years)\b|\bin\ (?:\d+|two|three|six|twelve)\ (?:months|years)\b"
)
_AMBITION = _re(
    r"^(?:learn(?!\ (?:more\ about\ (?:it|that|this)|about\ (?:it|that|this)|that|how\ (?:you|it)))|master|become\ an?|run\ (?:a|my\ first|the)\ (?:half[- ])?marathon|lose\ \d+|save\ \d+|publish\ (?:a|my)|pass\ the|get\ (?:certified|my\ (?:licence|license|degree))|write\ a\ (?:book|novel|thesis)|build\ my\ own|earn\ (?:a|my)|read\ \d+\ books)\b"
)
_DEADLINE = _re(r"[,\s]*\b(?:by|before|until|within|this\ (?:year|quarter|summer|winter)|next\ (?:year|quarter|summer)|in\ (?:\d+|two|three|six|twelve)\ (?:months|years))\b.*$")
_FINISHING = _re(r"^(?:finish(?:ing)?|complete|completing|get\ through|getting\ through)\ ")


def goal(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """What the speaker is after; a wish without a horizon ("I want to go home") is none."""
    masked = sentence.masked
    match = _GOAL.match(masked)
    if match is None:
        match = _AIM.match(masked) or _ID_AIM.match(masked)
        if match is None or not (_FAR.search(match["what"]) or _AMBITION.match(match["what"])):
            return None
        if re.search(r"(?i)\b(?:have|need)\ to\b", masked[: match.start("what")]) and not _AMBITION.match(match["what"]):
            return None
    aim = _FINISHING.sub("", _DEADLINE.sub("", _REASON.split(match["what"], maxsplit=1)[0])).strip(" .!,")
    if not any(character.isalpha() for character in aim):
        return None
    until = dates.deadline(sentence.text, spoken_at)
    return Reading(memory_type="goal", key=fact_key("goal", aim), expected_resolution_at=until)


# -- constraints

_DEED = (
    r"(?:use|run|deploy|push|touch|edit|change|modify|write|read|send|publish|release|commit|install|test|train|merge|delete|drop|share|store|expose|log|restart|upgrade|overwrite|access|call"
    r"|connect|work|spend|buy|allocate|schedule|accept|support|ship|open|start|exceed|force[- ]push|rebase|upload|download|hire|book|query)"
)
_CONSTRAINTS = (
    _re(rf"^(?:please\ )?(?:(?:for|in|on|during)\ [\w\ -]{{2,40}},?\ )?(?:we\ |you\ |i\ )?(?:can\ |may\ |must\ |should\ |are\ allowed\ to\ |have\ to\ )?(?:only|just)\ {_DEED}\ (?P<what>(?!it\b|that\b|this\b|them\b).+)"),
    _re(rf"^(?:please\ )?(?:we\ |you\ )?(?:can\ |may\ |must\ |should\ )?{_DEED}\ (?:only|at\ most|no\ more\ than|nothing\ but)\ (?P<what>.+)"),
    _re(r"^only\ (?P<what>(?!if\b|then\b|when\b|one\ thing|thing|joking|kidding|because|you\b|i\b|a\ few|then)[\w\ –-]{2,50}?)\ (?:may|can|must|should|(?:is|are)\ (?:allowed|permitted|approved|supported))\b"),
    _re(rf"^(?:please\ )?(?:never|do\ not\ ever|don['’]t\ ever|under\ no\ circumstances)\ {_DEED}\ (?P<what>(?!it\b|that\b|this\b|them\b|me\b|again).+)"),
    _re(r"^(?:please\ )?(?:do\ not|don['’]t)\ (?:push|deploy|delete|drop|commit|merge|publish|release|share|store|expose|log|restart|exceed|overwrite|force[- ]push)\ (?P<what>(?!it\b|that\b|this\b|them\b|me\b)(?!.*\b(?:yet|now|today|tonight|again|until|here)\b).+)"),
    _re(rf"^(?:we|you)\ (?:can['’]?t|cannot|can\ not|must\ not|mustn['’]t|may\ not|are\ not\ allowed\ to|aren['’]t\ allowed\ to)\ {_DEED}\ (?P<what>(?!it\b|that\b|this\b|them\b)(?!.*\b(?:yet|today|tonight|right\ now)\b).+)"),
    _re(r"^(?P<what>(?!(?:i|you|he|she|it|this|that|there|they|these|those|we|something|someone|somebody|one)\b)[\w][\w\ '’-]{2,60}?)\ (?:must|may|shall)\ (?:not\ |never\ |always\ |only\ )?(?!have\ been|have\ gone|be\ (?:kidding|joking|tired|nice|hard|great|wonderful|so|fun|amazing))(?:be|have|use|run|stay|remain|fit|support|work|go|finish|complete|contain|exceed|cost|take|leave|include|pass|start|end|come|follow|return|respond|answer|keep|not)\b"),
    _re(r"^(?P<what>(?!(?:i|you|he|she|it|this|that|there|they|we)\b)[\w][\w\ '’-]{2,60}?)\ (?:is|are)\ (?:strictly\ |hard\ )?(?:limited\ to|capped\ at|restricted\ to|not\ allowed|not\ permitted|forbidden|prohibited|off[- ]limits|banned)\b"),
    _re(r"^(?:the\ )?(?P<what>(?:hard\ )?(?:deadline|budget|limit|cap|maximum|quota)(?:\ (?:for|of|on)\ [\w\ -]{2,40}?)?)\ is\ (?!a\b|not\b|too\b|very\b|unclear|unknown|tight|near|over\b|close)(?=.*(?:\d|monday|tuesday|wednesday|thursday|friday|saturday|sunday|midnight|noon|end\ of))"),
    _re(rf"^(?:use\ |allow\ |spend\ |keep\ it\ )?(?:at\ most|no\ more\ than|not\ more\ than|a\ maximum\ of|max\.?)\ (?P<what>{NUMBER}.*\b[a-z]{{3,}}.*)"),
)  # fmt: skip
_NUMBERS = _re(r"[\d–—,.:%/-]+|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b")


def constraint(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """What must, must not or may only be done. Numbers leave the key: GPU 0–3 and GPU 4–7 answer one question."""
    for pattern in _CONSTRAINTS:
        match = pattern.match(sentence.masked)
        if match is None:
            continue
        stated = _REASON.split(sentence.text[match.start("what") : match.end("what")], maxsplit=1)[0].strip(" .!,")
        subject = " ".join(_NUMBERS.sub(" ", stated).split())
        if not any(character.isalpha() for character in subject):
            continue
        reason = _REASON.search(sentence.masked, match.start("what"))
        rationale = sentence.text[reason.end() :].strip(" .!") if reason is not None else None
        said = (0, reason.start()) if reason is not None else None
        return Reading(memory_type="constraint", key=fact_key("constraint", subject), verdict="not_applicable", rationale=rationale, said=said)
    return None


# -- dated states

_STATE = _re(
    rf"^(?:(?P<as_of>as\ of|since|starting(?:\ (?:on|from))?|effective|from|with\ effect\ from|beginning(?:\ on)?)\ (?P<date>{dates.DATE}|today|now)(?:\ on(?:wards?)?)?"
    rf"(?:\ (?:to|until|till|through)\ (?P<until>{dates.DATE}))?[,:]?\s+(?P<stated>.+))"
)
_STATE_AFTER = _re(rf"^(?P<stated>.{{6,200}}?),?\ (?:as\ of|since|starting(?:\ on)?|effective)\ (?P<date>{dates.DATE})[.!]?$")
_SUBJECT = _re(
    r"^(?:the\ |our\ |my\ )?(?P<subject>[\w][\w\ '’./-]{0,60}?)\ (?P<verb>(?:is|are|was)\ (?:now\ )?(?:on|at|running|using)?|runs?|uses?|has|have|costs?|contains?|supports?|requires?|serves?|listens?|holds?|stands?\ at|sits?\ at|lives?"
    r"|works?|points?|needs?|belongs?|accepts?|allows?|returns?|ships?|depends?|consists?|counts?|moved|switched|reports?)\b\s?(?P<rest>.*)"
)
_NOT_A_STATE = _re(r"^(?:i|we)\ (?:have|had|haven['’]t|['’]ve)\b|\b(?:i|we)\ (?:think|feel|guess)\b")


def dated_state(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """How something stands from a day on; the day is when it became true (TM-01)."""
    match = _STATE.match(sentence.masked) or _STATE_AFTER.match(sentence.masked)
    if match is None:
        return None
    named = match["date"].lower()
    since = spoken_at if named in ("today", "now") else dates.read(match["date"])
    until = match.groupdict().get("until")
    subject = _SUBJECT.match(match["stated"])
    if since is None or subject is None or _NOT_A_STATE.match(match["stated"]):
        return None
    ends = dates.day_after(until) if until else None
    if until and (ends is None or ends <= since):
        return None
    return Reading(
        memory_type="state",
        key=state_key(subject["subject"], subject["verb"], subject["rest"]),
        epistemic_status="observed",
        valid_from=since,
        valid_to=ends,
    )


# -- progress

_DONE = _re(
    r"^(?:(?:i|we)(?:['’]ve|\ have)?\ )?(?:(?:just|finally|already|now|also|recently|successfully|at\ last|today|nearly\ all)\ )*"
    r"(?P<verb>finished|completed|done\ with|got\ through|worked\ through|wrapped\ up|passed|submitted|shipped|released|merged|migrated|published|learned|learnt|mastered|finalized|finalised|read|reached|covered)"
    r"\ (?:reading\ |writing\ |studying\ |watching\ |working\ (?:on|through)\ |learning\ |with\ )?(?P<what>.+)"
)
_AT = _re(
    r"^(?:i['’]m|i\ am|we['’]re|we\ are)\ (?:now\ |currently\ |already\ )*(?:on|at|up\ to|in\ the\ middle\ of|halfway\ through|done\ with|through\ with|finished\ with|\d+\s?%\ (?:through|done\ with))\ (?P<what>.+)"
)
_IS_DONE = _re(r"^(?P<what>(?:the\ |our\ |my\ )?[\w][\w\ '’#.-]{1,60}?)\ (?:is|are|has\ been|have\ been|was)\ (?:now\ |finally\ |already\ )*(?:finished|completed?|done|merged|shipped|migrated|submitted|published|released)[.!]?$")
_WORK = _re(
    r"\b(?:chapter|lesson|unit|section|module|course|book|thesis|paper|draft|tutorial|exercise|milestone|sprint|phase|stage|migration|report|project|task|ticket|issue|feature|release|prototype|training|assignment|homework"
    r"|review|refactor\w*|implementation|experiment|translation|manuscript|novel|curriculum|level|step|episode|volume|part|certification|exam|backlog|setup|documentation|docs|api|tests?|module|pipeline|analysis|survey|interviews?"
    r"|application|presentation|slides|proposal|design|audit|upgrade|installation|import|dataset|website|app|version|pr|pull\ request)s?\b"
)
_NOT_WORK = _re(r"^(?:it|that|this|them|you|your|him|her|his|their|lunch|dinner|breakfast|eating|work\b(?!\ on)|school|crying|talking|out|about|a\ lot|my\ (?:coffee|tea|meal|lunch|dinner)|somewhere|something|an?\ (?:article|interesting|great|good))\b")
_STUDYING = frozenset("learned learnt read reached covered passed released published".split())  # noqa: SIM905 - words


def progress(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """How far something has come. The same thing at another step is a new value of one key."""
    masked = sentence.masked
    done = _DONE.match(masked)
    match = done or _AT.match(masked) or _IS_DONE.match(masked)
    if match is None or _NOT_WORK.match(match["what"]):
        return None
    what = _REASON.split(match["what"], maxsplit=1)[0].strip(" .!,")
    stepped = EN_STEP.search(what) is not None or EN_ORDINAL.search(what) is not None
    if not stepped and (done is None or done["verb"].lower() in _STUDYING or not _WORK.search(what)) and not (done is None and _WORK.search(what) and match.re is not _AT):
        return None
    return Reading(memory_type="progress", key=progress_key(_WHEN.sub("", what)))


_WHEN = _re(r"[,\s]+(?:today|yesterday|tonight|this\ (?:morning|week|afternoon)|last\ (?:night|week)|at\ last|on\ (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|already|now|finally)\b.*$")


# -- leads

_HEDGE = _re(
    r"""^(?: (?:it['’]?s\ |that['’]?s\ |it\ is\ |this\ is\ )?(?:most\ |very\ |quite\ )?(?:probably|maybe|perhaps|possibly|presumably|likely)\b,?\s+(?:it['’]?s\ |due\ to\ |because\ of\ |caused\ by\ |down\ to\ )?(?P<guess>.+)
        | (?:i\ (?:strongly\ )?(?:suspect|guess|assume|reckon)|my\ (?:guess|hunch|theory|suspicion)\ is|i['’]d\ guess)(?:\ that)?,?\s+(?P<mine>.+)
        | (?:it|this|that|the\ (?:cause|culprit|problem|issue|reason|root\ cause|bug|error|failure))\ (?:might|could|may|must)\ (?:well\ |also\ |just\ )?be\ (?P<might>.+)
        | (?:it|this)\ (?:looks|seems|sounds|appears)\ (?:like|as\ if|to\ be)\ (?P<looks>.+)
        | the\ (?:cause|culprit|problem|issue|reason|root\ cause|bug)\ is\ (?:probably|likely|possibly|most\ likely|perhaps|maybe)\ (?P<cause>.+)
        | (?P<subject>(?:the|a|an|our)\ [\w\ -]{2,50}?)\ (?:is|are)\ (?:probably|likely|possibly|most\ likely|perhaps|maybe)\ (?:the\ (?:cause|culprit|problem|issue|reason)|to\ blame|at\ fault|broken|stale|down|overloaded|misconfigured|leaking)
        | (?P<may>(?:the|a|an|our)\ [\w\ -]{2,50}?)\ (?:might|could|may)\ (?:well\ )?be\ (?:the\ (?:cause|culprit|problem|issue|reason)|to\ blame|at\ fault|broken|stale|down|overloaded|misconfigured|leaking|causing) )"""
)
_TECHNICAL = _re(
    r"\b(?:prox(?:y|ies)|nodes?|cach(?:e|ing|ed)|networks?|servers?|bugs?|leak\w*|drivers?|config\w*|timeouts?|dns|certs?|certificates?|disks?|memory|versions?|dependenc\w+|race|locks?|deadlock\w*|index(?:es)?|quer(?:y|ies)|databases?|firewalls?"
    r"|permissions?|quotas?|clock|gc|caus(?:e|es|ed|ing)|culprit|due\ to|faults?|issues?|errors?|crash\w*|failures?|failing|stale|corrupt\w*|misconfig\w*|overload\w*|routers?|cables?|sensors?|threads?|process(?:es)?|queues?|workers?|load\ balancer"
    r"|regression|rate\ limit\w*|batch|kernel|firmware|battery|gpus?|cpu|compiler|parser|encoding|migration|schema|token|session|api|service|deployment|container|pods?|cluster|replica\w*|pool|buffer|overflow|typo|library|package|plugin|script"
    r"|pump|valve|fuse|leakage|wiring|thermostat|filter)\b"
)
_NOT_A_GUESS = _re(
    r"^(?:tomorrow|later|tonight|next|today|yesterday|soon|not|so|another|some(?:time|day)|one\ day|time\ to|on\ |in\ the\ (?:morning|evening)|at\ |around\ |about\ |\d|we\ (?:should|could|can)|i\ (?:should|could|can|will|am|was)|you|he|she|they|let['’]?s"
    r"|we['’]ll|i['’]ll|i['’]m|because\ (?:i|you|he|she)|it\ will|it['’]ll|best|better|worth|fine|ok|nothing)\b"
)


def lead(sentence: Sentence, spoken_at: datetime | None) -> Reading | None:
    """A guess at a cause: an inference, provisional, never more (CA-13)."""
    match = _HEDGE.match(sentence.masked)
    if match is None:
        return None
    guess = next(value for value in match.groupdict().values() if value is not None)
    if _NOT_A_GUESS.match(guess) or not _TECHNICAL.search(sentence.masked):
        return None
    return Reading(memory_type="finding", key=statement_key("finding", guess.strip(" .!")), epistemic_status="inferred", verdict="provisional")


def noted(sentence: Sentence) -> Reading | None:
    """What was asked to be remembered and is nothing else: kept as the speaker's own statement."""
    if len(sentence.text.split()) < 3 or not any(character.isalpha() for character in sentence.text):  # noqa: PLR2004
        return None
    return Reading(memory_type="fact", key=statement_key("noted", sentence.text.strip(" .!")), belongs_to=SUBJECT)


# In this order; the first that understands the sentence has it.
RULES: tuple[Callable[[Sentence, datetime | None], Reading | None], ...] = (
    task_parameter,
    correction,
    about_the_speaker,
    reply_preference,
    liking,
    decision,
    goal,
    dated_state,
    constraint,
    progress,
    lead,
)

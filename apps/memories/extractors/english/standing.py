"""How far things are, how they stand since when, and what is only guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors import dates
from apps.memories.extractors.concepts import (
    EN_ORDINAL,
    EN_STEP,
    Reading,
    progress_key,
    state_key,
)
from apps.memories.extractors.english.frame import REASON
from apps.memories.extractors.keys import statement_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from apps.memories.extractors.sentences import Sentence


# -- progress

_DONE = verbose(
    r"^(?:(?:i|we)(?:['’]ve|\ have)?\ )?(?:(?:just|finally|already|now|also|recently|successfully|at\ last|today"
    r"|nearly\ all)\ )*+"
    r"(?P<verb>finished(?:\ up|\ off)?|completed|done\ with|got\ through|worked\ through|wrapped\ up|passed|submitted"
    r"|shipped|released|merged|migrated|published|learned|learnt|mastered|finalized|finalised|read|reached|covered)"
    r"\ (?:reading\ |writing\ |studying\ |watching\ |working\ (?:on|through)\ |learning\ |with\ )?(?P<what>.+)"
)
_AT = verbose(
    r"^(?:i['’]m|i\ am|we['’]re|we\ are)\ (?:now\ |currently\ |already\ )*+(?:on|at|up\ to|in\ the\ middle\ of)"
    r"\ (?P<what>.+)|^(?:(?:i['’]m|i\ am)\ )?(?:now|currently)\ (?:reading|on|at|studying|working\ on|doing)\ (?P<doing>.+)"
)
_MOSTLY = verbose(
    r"^(?:i['’]m|i\ am|we['’]re|we\ are)\ (?:now\ |currently\ |already\ )*+(?:halfway\ through|done\ with|through\ with"
    r"|finished\ with|\d+\s?%\ (?:through|done\ with))\ (?P<what>.+)"
)
_IS_DONE = verbose(
    r"^(?P<what>(?:the\ |our\ |my\ )?[\w][\w\ '’#.-]{1,60}?)\ (?:is|are|has\ been|have\ been|was)\ (?:now\ |finally\ "
    r"|already\ )*+(?:finished|completed?|done|merged|shipped|migrated|submitted|published|released)[.!]?$"
)
_SHARE = verbose(
    r"^(?P<what>(?:the\ |our\ |my\ )?[\w][\w\ '’#.-]{1,60}?)\ (?:is|are)\ (?:now\ |about\ |already\ "
    r"|roughly\ )*+(?:\d{1,3}\ ?(?:%|percent)"
    r"|half|halfway)\ (?:done|finished|complete[d]?|through|ready)[.!]?$"
)
_WORK = verbose(
    r"\b(?:cleaning|labell?ing|testing|planning|coding|packing|onboarding|writing|modell?ing|tuning|chapter|lesson"
    r"|unit|section|module|course|book|thesis|paper|draft|tutorial|exercise|milestone|sprint|phase"
    r"|stage|migration|report|project|task|ticket|issue|feature|release|prototype|training|assignment|homework"
    r"|review|refactor\w*|implementation|experiment|translation|manuscript|novel|curriculum|level|step|episode|volume"
    r"|part|certification|exam|backlog|setup|documentation|documents?|requirements|coursework|docs|api|tests?|module|pipeline|analysis|survey|interviews?"
    r"|application|presentation|slides|proposal|design|audit|upgrade|installation|import|dataset|website|app|version"
    r"|pr|pull\ request)s?\b"
)
_NOT_WORK = verbose(
    r"^(?:it|that|this|them|you|your|him|her|his|their|lunch|dinner|breakfast|eating|work\b(?!\ on)|school|crying|talking"
    r"|out|about|a\ lot|my\ (?:coffee|tea|meal|lunch|dinner)|somewhere|something|an?\ (?:article|interesting|great"
    r"|good))\b"
)
_STUDYING = frozenset(("learned", "learnt", "read", "reached", "covered", "released", "published"))


def progress(sentence: Sentence) -> Reading | None:
    """How far something has come. The same thing at another step is a new value of one key."""
    masked = sentence.masked
    done = _DONE.match(masked)
    at = _AT.match(masked)
    match = done or at or _MOSTLY.match(masked) or _IS_DONE.match(masked) or _SHARE.match(masked)
    if match is None:
        return None
    what = match["what"] or match["doing"]
    if _NOT_WORK.match(what):
        return None
    what = REASON.split(what, maxsplit=1)[0].strip(" .!,")
    stepped = EN_STEP.search(what) is not None or EN_ORDINAL.search(what) is not None
    only_steps = at is not None or (done is not None and done["verb"].lower() in _STUDYING)
    if not stepped and (only_steps or not _WORK.search(what)):
        return None
    return Reading(memory_type="progress", key=progress_key(_WHEN.sub("", what)))


_WHEN = verbose(
    r"[,\s]+(?:today|yesterday|tonight|this\ (?:morning|week|afternoon)|last\ (?:night|week)|at\ last|on\ (?:monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday)|already|now|finally)\b.*$"
)


# -- dated states

_STATE = verbose(
    rf"^(?:(?P<as_of>as\ of|since|starting(?:\ (?:on|from))?|effective|from|with\ effect\ from"
    rf"|beginning(?:\ on)?)\ (?P<date>{dates.DATE}|today|now)(?:\ on(?:wards?)?)?"
    rf"(?:\ (?:to|until|till|through)\ (?P<until>{dates.DATE}))?[,:]?\s+(?P<stated>.+))"
)
_STATE_AFTER = verbose(rf"^(?P<stated>.{{6,200}}?),?\ (?:as\ of|since|starting(?:\ on)?|effective)\ (?P<date>{dates.DATE})[.!]?$")
_SUBJECT = verbose(
    r"^(?:the\ |our\ |my\ )?(?P<subject>[\w][\w\ '’./-]{0,60}?)\ (?P<verb>(?:is|are|was)\ (?:now\ )?(?:on|at|running"
    r"|using)?|runs?|uses?|has|have|costs?|contains?|supports?|requires?|serves?|listens?|holds?|stands?\ at|sits?\ at"
    r"|lives?|opens?|closes?|starts?|ends?|begins?|works?|points?|needs?|belongs?|accepts?|allows?|returns?|ships?"
    r"|depends?|consists?|counts?|moved|switched"
    r"|reports?)\b\s?(?P<rest>.*)"
)
_NOT_A_STATE = verbose(r"^(?:i|we)\ (?:have|had|haven['’]t|['’]ve)\b|\b(?:i|we)\ (?:think|feel|guess)\b")


def dated_state(sentence: Sentence) -> Reading | None:
    """How something stands from a day on; the day is when it became true (TM-01)."""
    match = _STATE.match(sentence.masked) or _STATE_AFTER.match(sentence.masked)
    if match is None:
        return None
    named = match["date"].lower()
    since = sentence.spoken_at if named in ("today", "now") else dates.read(match["date"])
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


# -- leads

_HEDGE = verbose(
    r"""^(?: (?:it['’]?s\ |that['’]?s\ |it\ is\ |this\ is\ )?(?:most\ |very\ |quite\ )?(?:probably|maybe|perhaps|possibly
            |presumably|likely)\b,?\s+(?:it['’]?s\ |due\ to\ |because\ of\ |caused\ by\ |down\ to\ )?(?P<guess>.+)
        | (?:i\ (?:strongly\ )?(?:suspect|guess|assume|reckon|think|believe)|my\ (?:guess|hunch|theory|suspicion)\ is
            |i['’]d\ guess)(?:\ that)?,?\s+(?P<mine>.+)
        | (?:it|this|that|the\ (?:cause|culprit|problem|issue|reason|root\ cause|bug|error|failure))\ (?:might
            |could|may|must)\ (?:well\ |also\ |just\ )?be\ (?P<might>.+)
        | (?:(?:it|this)\ )?(?:looks|seems|sounds|appears)\ (?:(?:like|as\ if|to\ be|that)\ )?(?P<looks>.+)
        | the\ (?:error|failure|crash|problem|issue|bug|slowness|delay)\ (?:probably|likely|possibly|presumably|perhaps)
            \ (?:has\ to\ do\ with|comes\ from|stems\ from|is|results\ from|lies)\ (?P<stems>.+)
        | the\ (?:cause|culprit|problem|issue|reason|root\ cause|bug)\ is\ (?:probably|likely|possibly
            |most\ likely|perhaps|maybe)\ (?P<cause>.+)
        | (?P<subject>(?:the|a|an|our)\ [\w\ -]{2,50}?)\ (?:is|are)\ (?:probably|likely|possibly|most\ likely
            |perhaps|maybe)\ (?:the\ (?:cause|culprit|problem|issue|reason)|to\ blame|at\ fault|broken|stale|down
            |overloaded|misconfigured|leaking)
        | (?P<may>(?:the|a|an|our)\ [\w\ -]{2,50}?)\ (?:might|could|may)\ (?:well\ )?be\ (?:the\ (?:cause|culprit
            |problem|issue|reason)|to\ blame|at\ fault|broken|stale|down|overloaded|misconfigured|leaking|causing
            |caused\ by|due\ to|locked|corrupt(?:ed)?|blocked|missing|full|outdated|expired) )"""
)
_TECHNICAL = verbose(
    r"\b(?:prox(?:y|ies)|nodes?|cach(?:e|ing|ed)|networks?|servers?|bugs?|leak\w*|drivers?|config\w*|timeouts?|dns"
    r"|certs?|certificates?|disks?|memory|versions?|dependenc\w+|race|locks?|deadlock\w*|index(?:es)?|quer(?:y|ies)"
    r"|databases?|firewalls?"
    r"|permissions?|quotas?|clock|gc|caus(?:e|es|ed|ing)|culprit|due\ to|faults?|issues?|errors?|crash\w*|failures?"
    r"|failing|stale|corrupt\w*|misconfig\w*|overload\w*|routers?|cables?|sensors?|threads?|process(?:es)?|queues?"
    r"|workers?|load\ balancer"
    r"|regression|rate\ limit\w*|batch|kernel|firmware|battery|gpus?|cpu|compiler|parser|encoding|migration|schema"
    r"|token|session|api|service|deployment|container|pods?|cluster|replica\w*|pool|buffer|overflow|typo|library"
    r"|package|plugin|script"
    r"|pump|valve|fuse|leakage|wiring|thermostat|filter)\b"
)
_NOT_A_GUESS = verbose(
    r"^(?:tomorrow|later|tonight|next|today|yesterday|soon|not|so|another|some(?:time|day)|one\ day|time\ to|on\ "
    r"|in\ the\ (?:morning|evening)|at\ |around\ |about\ |\d|we\ (?:should|could|can)|i\ (?:should|could|can|will|am"
    r"|was)|you|he|she|they|let['’]?s"
    r"|we['’]ll|i['’]ll|i['’]m|because\ (?:i|you|he|she)|it\ will|it['’]ll|best|better|worth|fine|ok|nothing)\b"
)


def lead(sentence: Sentence) -> Reading | None:
    """A guess at a cause: an inference, provisional, never more (CA-13)."""
    match = _HEDGE.match(sentence.masked)
    if match is None:
        return None
    guess = next(value for value in match.groupdict().values() if value is not None)
    if _NOT_A_GUESS.match(guess) or not _TECHNICAL.search(sentence.masked):
        return None
    return Reading(
        memory_type="finding",
        key=statement_key("finding", guess.strip(" .!")),
        epistemic_status="inferred",
        verdict="provisional",
    )

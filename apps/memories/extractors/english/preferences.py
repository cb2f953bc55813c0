"""Likings, ways of answering, and wishes that hold only for the task at hand (CA-11, CA-12)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.memories.extractors.base import SUBJECT, TASK_SCOPED
from apps.memories.extractors.concepts import (
    LANGUAGE,
    REPLY_LANGUAGE,
    Reading,
    preference_key,
    reply_style,
    things_in,
)
from apps.memories.extractors.keys import fact_key, spelled, statement_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from apps.memories.extractors.sentences import Sentence


# -- parameters of the task at hand

_TASK = verbose(
    r"""(?: \b(?: just\ this\ once | this\ (?:one\ )?time | for\ (?:now|today|this\ \w+|the\ moment|the\ time\ being)
        | for\ the\ next\ \w+(?:\ \w+)?
        | (?:only|just)\ (?:today|this\ time|for\ (?:this|now|today)) | today\ only | right\ now | temporarily
        | in\ this\ (?:chat|conversation|session|thread|message|reply|answer|document|report|file)
        | until\ (?:tomorrow|tonight|the\ end\ of\ (?:the\ )?(?:day|week|session)) )\b
      | \b(?:this|the\ current|today['’]s)\ (?:report|email|e-mail|mail|message|letter|document|answer|reply
        |response|summary|article|post|essay|page
        |presentation|slides?|one|task|draft|section|paragraph|note|review|readme|commit(?:\ message)?)\b )"""
)
_TASK_PARAMETER = verbose(
    r"""^(?:please\ )?(?:(?:write|make|do|give|prepare|keep|put|draft|send|format|answer|reply|use|create
            |let['’]?s\ do|i\ (?:want|need|would\ like)|i['’]d\ like)
        \ (?:me\ |us\ )?)?
        (?:(?:this|the\ current|today['’]s)\ \w+(?:\ \w+)?[,:]?\ (?:(?:should\ be|must\ be|needs\ to\ be
            |has\ to\ be|will\ be|written)\ )?)?
        (?:in|into|to|use|with|as|at\ most|under|no\ more\ than|short|brief|formal|informal|casual|longer|shorter)\b"""
)
_IMPERATIVE = verbose(
    r"^(?:please\ )?(?:only\ )?(?:answer|reply|respond|write|speak|talk|use|keep|make|be|call|include|add|give|show"
    r"|explain|format|avoid|skip|put|send|summari[sz]e"
    r"|translate|stick|switch|do\ not|don['’]t|no|leave|draft|prepare|create)\b"
)
_DESCRIBES = verbose(r"\b(?:is|was|are|were|has\ been|had|happens|looks|seems|appears)\b")


_NAMES_LANGUAGE = verbose(rf"\b(?:{LANGUAGE})\b")


def task_parameter(sentence: Sentence) -> Reading | None:
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
    return Reading(
        memory_type="preference",
        key=REPLY_LANGUAGE
        if _NAMES_LANGUAGE.search(without)
        else reply_style(f"use {without}") or statement_key("task", without),
        marks=frozenset({TASK_SCOPED}),
        belongs_to=SUBJECT,
    )


# -- preferences

_STABLE = verbose(
    r"\b(?: from\ (?:now|here|today|this\ point)\ on(?:wards?)? | going\ forward | in\ (?:the\ )?future | by\ default "
    r"| default\ to | always | every\ time | each\ time"
    r" | as\ a\ rule | henceforth | in\ general | generally | permanently | for\ all\ (?:future\ )?(?:my\ )?(?:answers"
    r"|replies|responses|messages|sessions|chats)"
    r" | never | whatever\ language | no\ matter )\b"
)
_TOLD = verbose(
    r"""^(?: (?: from\ (?:now|here|today|this\ point)\ on(?:wards?)? | going\ forward | in\ (?:the\ )?future
            | by\ default | as\ a\ rule | henceforth | in\ general | generally )[,:]?\s+
        | (?: please | kindly )[,]?\s+ | (?: you\ should | i\ (?:want|need|would\ like|expect)\ you\ to
            | i['’]d\ (?:like|prefer)\ (?:it\ if\ )?you(?:\ to)? | let['’]?s | you\ can )\s+
        | (?: always | never )\s+ )*+
        (?P<verb> answer | reply | respond | speak | write | talk | communicate | converse | use | keep | make
            | be | call\ me | address\ me | refer\ to\ me | include | add | give
        | show | explain | format | avoid | skip | start | begin | end | put | send | summari[sz]e | cite
            | translate | stick\ to | default\ to | switch\ to | do\ not | don['’]t | no
        | round | quote | mention | leave | tell | ask | assume | list | sign | prefer )\b (?P<rest>.*)"""
)
_LIKING = verbose(
    r"""^(?:i|we)\s
        (?: (?:really|generally|usually|strongly|much|still|always|definitely|absolutely|personally|also|do|just
            |simply|truly|quite|typically|normally|mostly|particularly|especially|tend\ to)\s)*+
        (?P<verb> prefer | like | love | enjoy | hate | dislike | favou?r | adore | can['’]?t\ stand
            | cannot\ stand | am\ (?:a\ (?:big\ |huge\ )?fan\ of|fond\ of)
            | don['’]?t\ (?:really\ |particularly\ |much\ )?(?:like|enjoy|care\ for) | do\ not\ (?:(?:really
                |particularly)\ )?(?:like|enjoy|care\ for) | no\ longer\ (?:like|enjoy|prefer)
            | ['’]d\ rather | would\ rather ) \s (?P<liked>.+)"""
)
_REPLIES = verbose(
    rf"^(?:please\ |i\ (?:want|need|expect|would\ like)\ |i['’]d\ like\ |from\ now\ on,?\ )*+(?:all\ |every\ |your\ "
    rf"|my\ |future\ )*+(?:answers?|repl(?:y|ies)|responses?"
    rf"|messages|explanations)\ (?:should\ (?:always\ )?be\ |must\ (?:always\ )?be\ "
    rf"|always\ )?(?:written\ )?in\ (?:{LANGUAGE})\b"
)
_FAVOURITE_LAST = verbose(
    r"^(?!(?:this|that|it|he|she|here|which|what)\b)[\w\ '’-]{2,50}?\ (?:is"
    r"|are)\ my\ (?:all[- ]time\ )?favou?rite\ (?P<what>[\w\ -]{2,40}?)[.!]?$"
)
_ABSTAINS = verbose(
    r"^i\ (?:don['’]?t|do\ not|never)\ (?:ever\ )?(?:eat|drink|smoke|consume)\ (?P<what>(?!it\b|that\b|this\b|much\b"
    r"|enough\b|anything|breakfast|lunch|dinner|alone)[\w\ -]{3,40}?)"
    r"(?:\ (?:at\ all|any\ ?more|since\ .+|because\ .+))?[.!]?$"
)
_ID_LIKING = verbose(
    r"^(?:i['’]m\ (?:really\ |very\ )?(?:into|a\ (?:big\ |huge\ )?fan\ of|fond\ of|not\ (?:a\ (?:big\ )?fan\ of"
    r"|fond\ of))|i['’]d\ (?:much\ "
    r"|really\ )?(?:rather|prefer))\s(?P<liked>.+)"
)
_NOT_A_LIKING = verbose(
    r"""^(?: it | that | this | these | those | them | him | her | you | your | ['’]em | how | what | where | who
        | when | why | the\ (?:way|idea|fact|sound|look|new|first|second|other|one)
        | his | their | both | all\ of | not\ to\ (?:say|answer|talk|discuss|disclose|comment|be\ asked|go\ into)
            | option | choice | version | number | one\ of | everything | nothing
        | seeing | hearing\ (?:that|about) | to\ (?:know|see|hear|ask|thank|say|point|mention|add|talk|get\ back
            |start|think) | so\ | the\ (?:concept|feeling|part|scene|effects?|connection|smell) | to\ be\ honest
            | being\ (?:here|able)
        | (?:that|this)\b | for\ you\b | every\ (?:minute|second|moment)\ of | our | my\ (?:new|time) | getting\ to )"""
)
_ONE_OFF = verbose(
    r"\b(?: today | yesterday | tonight | this | these | them | him | her | it | last\ (?:night|week|time) | right\ now "
    r"| just\ now | you | your | yours"

               r" | (?:first|second|third|latter|former)\ (?:one|option|version|variant) | option\ \w )\b")  # fmt: skip
# What is said about the liked thing is no part of its name.
_COMMENT = verbose(
    r",?\s(?:because|since|but|though|although|especially|as\ (?:it|they|i|we)|which|who|so)\b|,\s(?:it|they|he|she|i"
    r"|we|and\ (?:it|they|i|we)|there)\b"
    r"|\s?[–—]\s?|\s?-\s|[,\s]+(?:too|as\ well|a\ lot|very\ much|so\ much|lately|now\ and\ then|these\ days|the\ most"
    r"|the\ best)\b(?=[\s.,!]*$)|[.!;]\s"
)
_FAVOURITE = verbose(
    r"^my\ (?:all[- ]time\ )?(?:favou?rite|preferred)\ (?P<what>(?!one\b|part\b|thing\ about)[\w\ -]{2,40}?)\ (?:is"
    r"|are)\ (?:definitely\ |probably\ |still\ |always\ )?(?P<value>(?!not\b|the\ one\b|when\b|how\b|what\b|that\b).+)"
)


def reply_preference(sentence: Sentence) -> Reading | None:  # noqa: PLR0911 - one return per way of saying it
    """How to answer from now on (CA-11). Without a word that makes it last it may be for this task only: nothing."""
    masked = sentence.masked
    if _REPLIES.match(masked) and (
        _LASTING.search(masked) or _EVER.search(masked) or re.search(r"(?i)\b(?:all|every)\b", masked)
    ):
        return Reading(memory_type="preference", key=REPLY_LANGUAGE, belongs_to=SUBJECT)
    told = _TOLD.match(masked)
    if told is None or not (_LASTING.search(masked) or _EVER.search(masked[: told.start("verb")])):
        return None
    verb = told["verb"].lower()
    if verb in ("call me", "address me", "refer to me"):
        return Reading(memory_type="preference", key="name.preferred", belongs_to=SUBJECT)
    wish = f"{verb} {told['rest']}"
    if _NAMES_LANGUAGE.search(wish) and verb in _SPEAKING:
        return Reading(memory_type="preference", key=REPLY_LANGUAGE, belongs_to=SUBJECT)
    style = reply_style(wish)
    if style is None and not (_LASTING.search(masked) or (verb in _TO_ASSISTANT and told["rest"].strip(" .!"))):
        return None  # "never give up" is addressed to nobody, "never force-push" is about deeds
    if style is None and _ACTS.search(wish):
        return None
    return Reading(memory_type="preference", key=style or fact_key("preference", _without_markers(wish)), belongs_to=SUBJECT)


_SPEAKING = frozenset(
    (
        *("answer", "reply", "respond", "speak", "write", "talk", "communicate", "converse", "use", "keep", "explain"),
        *("default to", "switch to", "stick to"),
    )
)
_TO_ASSISTANT = frozenset(
    (
        *("answer", "reply", "respond", "explain", "format", "include", "cite", "translate", "quote", "summarize"),
        *("summarise", "mention", "list"),
    )
)
_LASTING = verbose(
    r"\b(?: from\ (?:now|here|today|this\ point)\ on(?:wards?)? | going\ forward | in\ (?:the\ )?future | by\ default "
    r"| default\ to | every\ time | each\ time | as\ a\ rule"
    r" | henceforth | in\ general | generally | permanently | for\ all\ (?:future\ )?(?:my\ )?(?:answers|replies"
    r"|responses|messages|sessions|chats) | whatever\ language )\b"
)
_EVER = verbose(r"\b(?:always|never)\b")
_ACTS = verbose(
    r"\b(?:push|deploy|delete|drop|commit|merge|publish|release|share|store|expose|log|restart|install|upgrade|overwrite"
    r"|run|force)\b"
)
_MARKERS = verbose(
    r",?\s?\b(?:from\ (?:now|here|today)\ on(?:wards?)?|going\ forward|in\ (?:the\ )?future|by\ default|as\ a\ rule"
    r"|henceforth|in\ general|generally|always|please)\b"
)


def _without_markers(text: str) -> str:
    return _MARKERS.sub("", text).strip(" ,.!:;")


def liking(sentence: Sentence) -> Reading | None:
    """For "I prefer …", "I don't like …", "my favourite … is …": lasting, and not about the one thing being talked of."""
    favourite = _FAVOURITE.match(sentence.masked) or _FAVOURITE_LAST.match(sentence.masked)
    if favourite is not None and not _ONE_OFF.search(favourite["what"]):
        return Reading(memory_type="preference", key=fact_key("preference.favourite", favourite["what"]), belongs_to=SUBJECT)
    abstains = _ABSTAINS.match(sentence.masked)
    if abstains is not None:
        return Reading(memory_type="preference", key=preference_key(abstains["what"]), belongs_to=SUBJECT)
    match = _LIKING.match(sentence.masked) or _ID_LIKING.match(sentence.masked)
    if match is None or _NOT_A_LIKING.match(match["liked"]) or _ONE_OFF.search(match["liked"]):
        return None
    if match["liked"].lower().startswith("the ") and "prefer" not in _words_before(match):
        return None  # "I like the actors" is about what is being talked of
    liked = _without_markers(_COMMENT.split(sentence.text[match.start("liked") :], maxsplit=1)[0])
    if not spelled(liked):
        return None
    return Reading(
        memory_type="preference", key=preference_key(liked, chooses="prefer" in _words_before(match)), belongs_to=SUBJECT
    )


def _words_before(match: re.Match[str]) -> str:
    """The words of the match before its object."""
    return match[0][: match.start("liked") - match.start()].lower()

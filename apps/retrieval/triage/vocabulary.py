"""Closed vocabularies of triage (design/04 stage 1). Part of the public contract, like apps/retrieval/vocabulary.py."""

from __future__ import annotations

from enum import StrEnum


class Decision(StrEnum):
    """What a query comes to, and what a caller may ask for instead of an answer (`auto`, `retrieve`)."""

    RETRIEVE = "RETRIEVE"
    ASK = "ASK"
    SKIP = "SKIP"


class Asked(StrEnum):
    """Who decides: triage, or the caller, who has decided to retrieve."""

    AUTO = "auto"
    RETRIEVE = "retrieve"


class Divergence(StrEnum):
    """What triage would have done where the caller decided to retrieve; it did not happen (TR-19)."""

    ASK_SUPPRESSED = "ask_suppressed"
    SKIP_SUPPRESSED = "skip_suppressed"


class Ground(StrEnum):
    """Why a request is retrieved, asked about or skipped."""

    EXPLICIT = "explicit"  # keys, labels, or another moment of the agent's life than a question
    ANCHORED = "anchored"
    BOUND = "bound"  # nothing but references, and the window says what they mean
    UNREADABLE = "unreadable"  # in a language without rules here
    BLANK = "blank"
    NO_ANCHOR = "no_anchor"
    NO_TEXT = "no_text"  # work on a text that is not there
    SMALL_TALK = "small_talk"
    COMPUTATION = "computation"
    GIVEN_TEXT = "given_text"
    COMPOSITION = "composition"
    GENERAL_KNOWLEDGE = "general_knowledge"
    PRESENT_MOMENT = "present_moment"  # the clock, the weather: no memory knows
    HOT_CONTEXT = "hot_context"  # about what was said a moment ago, and that is in the window
    ANSWERED = "answered_in_window"


class TaskType(StrEnum):
    """What kind of work a request is."""

    LOOKUP = "lookup"
    REASON = "reason"
    PROCEDURE = "procedure"
    CHECK = "check"
    CONTINUATION = "continuation"
    OVERVIEW = "overview"
    COMPOSITION = "composition"
    TRANSFORMATION = "transformation"
    COMPUTATION = "computation"
    SMALL_TALK = "small_talk"


class TimeView(StrEnum):
    """Which time a request looks at."""

    CURRENT = "current"
    PAST = "past"
    FUTURE = "future"


class AnchorKind(StrEnum):
    """What a retrieval can hold on to (TR-07)."""

    PERSON = "person"
    PROJECT = "project"
    EVENT = "event"
    DECISION = "decision"
    ARTEFACT = "artefact"
    DATE = "date"
    QUOTE = "quote"
    NAME = "name"
    LABEL = "label"
    OWN = "own"  # something of the person who asks: "my plan"
    THING = "thing"  # any other word with a meaning of its own


class ReferenceKind(StrEnum):
    """What a word points to that does not say it itself."""

    PERSON = "person"
    THING = "thing"
    PLACE = "place"
    TIME = "time"
    TEXT = "text"
    NAMED_KIND = "named_kind"  # "that project": the kind is said, which one is not
    ELLIPSIS = "ellipsis"  # "and then?": nothing is said


class ParseStatus(StrEnum):
    """Whether the deterministic parser could tell what is asked (EL-06)."""

    PARSED = "parsed"
    FALLBACK = "fallback"

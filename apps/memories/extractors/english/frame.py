"""What is not a plain statement, and what stands around one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.memories.extractors.sentences import Sentence


REASON = verbose(
    r",?\s(?:because(?:\ of)?|since(?!\s(?:\d|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|monday|tuesday|last|yesterday|then))"

              r"|so\ that|in\ order\ to|due\ to|as\ it|as\ we|as\ they|,\ as|owing\ to|given\ that|the\ reason\ (?:is"
              r"|being))\s")  # fmt: skip

_HYPOTHETICAL = verbose(
    r"""\b(?: if | unless | whether | suppos(?:e|ing) | assum(?:e|ing) | provided\ that | in\ case | imagine | pretend
      | hypothetically
      | let['’]?s\ say | would\ have | could\ have | should\ have | wish | as\ long\ as | as\ though
      | when(?:ever)? | once\ (?:i|we|you|the|it)
      | until\ (?:i|we|you) | for\ example | e\.g\. | what\ about | how\ about )\b"""
)
_POLITE = verbose(
    r",?\s?\b(?: if|when(?:ever)?|where(?:ver)? )\ (?: possible | necessary | needed | you\ (?:can|could|would|want|like"
    r"|please|don['’]t\ mind|(?:repl|answer|respond|quot|writ|explain|summari[sz]|cod|talk|speak)\w*)"

              r" | I(?:['’]m\ not\ mistaken|\ (?:remember|recall)(?:\ (?:correctly|right(?:ly)?))?) )\b")  # fmt: skip
_ASKS = verbose(
    r"^(?: what | why | who | whom | whose | which | where | how | when | can\ (?:you|we|i) | could\ (?:you|we|i) "
    r"| would\ (?:you|we|i) | will\ you"
    r" | do\ (?:you|we|i)\b | does | did | is\ (?:it|there|this|that|the) | are\ (?:you|we|there|the) | should\ (?:i"
    r"|we) | shall )\b"
)
RETRACTED = verbose(
    r"^(?:(?:i['’]?m |i\ was )?\s?(?: just | only )?\s?(?: kidding | joking | jk )\b | never\ ?mind | scratch\ that "
    r"| forget\ (?:it|that|what\ i\ said)"
    r" | (?: no,?\ )?i\ take\ (?:it|that)\ back )"
)


def withheld(sentence: Sentence) -> bool:
    """A question, hypothesis or condition: nothing in it is stated."""
    masked = _POLITE.sub("", sentence.masked)
    return _HYPOTHETICAL.search(masked) is not None or _ASKS.search(masked) is not None


_LEAD_IN = verbose(
    r"""(?: (?: ok(?:ay)? | well | so | and | but | also | oh | ah | hey | hi | hello | thanks | thank\ you | yes | yeah
        | yep | sure | right | great | cool
        | actually | btw | by\ the\ way | fyi | for\ the\ record | just\ so\ you\ know
        | to\ be\ clear
        | honestly | frankly | update | quick\ (?:update|note) | good\ news | as\ (?:i|we)\ (?:said|mentioned)
        | one\ more\ thing | another\ thing
        | first(?:ly)? | second(?:ly)? | then | today | yesterday | this\ (?:morning|afternoon|week|month)
        | last\ (?:week|month|night) | in\ the\ end
        | after\ (?:some|a\ long|much)\ (?:thought|discussion|debate) | hm+ | my\ (?:two|2)\ cents | personally | correction )
        \s*[,:;!.–—-]*\s+
      | (?: finally | just | recently | eventually )\s+(?=[a-z]+ed\b|i\b|we\b|done\b)
      | [A-Z][a-z]{1,14},\s+(?=[a-z]) )"""
)
_REMEMBER = verbose(
    r"(?:please\ |pls\ )?(?:always\ )?(?:remember|note(?=\ that\b|:)|keep\ in\ mind|bear\ in\ mind|do\ not\ forget"
    r"|don['’]t\ forget"
    r"|make\ a\ note)"
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


_CLAUSE = verbose(r"(?:,\ ?(?:and|but|so)|\ but|;|\ —|\ –|\ -)\s+(?=(?:i|we|my|our|please)\b)")


def clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Independent statements joined by "and I", "but we"."""
    begun = 0
    for joint in _CLAUSE.finditer(sentence.masked):
        yield sentence.part(begun, joint.start())
        begun = joint.end()
    yield sentence.part(begun, len(sentence.text))

"""English for triage: when, whose, small talk, and the frames of requests."""

from __future__ import annotations

import re
from typing import Final

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_LONG_MONTHS = "january|february|april|june|july|august|september|october|november|december"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_SPANS = (
    f"week|weekend|month|year|quarter|night|spring|summer|autumn|fall|winter|morning|afternoon|evening|semester|term|"
    f"{_DAYS}|{_MONTHS}"
)
_COUNT = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|few|several|a couple of|couple of)"
DATE: Final = re.compile(
    rf"""\b(?:
    (?:the\ day\ (?:before|after)\ )?(?:yesterday|tomorrow)(?:\ (?:morning|afternoon|evening|night))?
    |today|tonight
    |(?:last|past|previous|next|this|coming|every|earlier\ this|later\ this)\ (?:{_SPANS})
    |{_COUNT}\ (?:hour|day|week|month|year)s?\ (?:ago|before|earlier|later)
    |(?:in|over|during|for)\ the\ (?:last|past|next)\ {_COUNT}?\ ?(?:day|week|month|year)s?
    |\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?
    |\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}
    |\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?(?:{_MONTHS})(?:\ \d{{4}})?
    |(?:{_MONTHS})\ \d{{1,2}}(?:st|nd|rd|th)?(?:,?\ \d{{4}})?
    |(?:in|since|until|by|during|before|after|around|last|early|late|mid)[ -](?:{_MONTHS})\b(?:\ \d{{4}})?
    |(?:on\ )?{_DAYS}|(?:{_LONG_MONTHS})
    |(?:19|20)\d\d|q[1-4]
    |(?:christmas|easter|halloween|thanksgiving|new\ year(?:'s)?(?:\ eve|\ day)?)
    |(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|latest|most\ recent)
     \ (?:time|meeting|session|visit|attempt|version|draft|chapter|test|round|trip|talk|review|sprint|run|lesson|try)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A direction in time, but no place in it.
LONG_AGO: Final = re.compile(
    r"\b(?:last time|the other day|back then|at that time|that time|at the time|earlier|recently|lately|previously|originally|"
    r"initially|at first|before that|in the past|once upon|formerly|used to|the time before)\b",
    re.IGNORECASE,
)
UNPLACED: Final = re.compile(r"\b(?:back then|at that time|that time|at the time|before that|after that)\b", re.IGNORECASE)
FUTURE: Final = re.compile(
    r"\b(?:will|tomorrow|next (?:week|month|year|time|step)s?|going to|upcoming|planned|coming)\b", re.IGNORECASE
)
PAST: Final = re.compile(
    r"\b(?:did|was|were|had|yesterday|ago|last (?:week|month|year|time|night|\w+day|\w+)|finally|in the end|became|happened|went|"
    r"chose|chosen|decided|agreed|said|told|picked|used to|rejected|dropped|turned out|wrote|made|got|remember|still remember)\b",
    re.IGNORECASE,
)

# What belongs to the one who asks, or was shared with them. Orders to the assistant ("give me") do not count.
ORDERS: Final = re.compile(
    r"\b(?:(?:tell|give|show|help|let|teach|write|make|find|get|send|explain to|remind|ask|lend|quiz|sing)\s+(?:me|us)\b|"
    r"for me\b|"
    r"(?:can|could|may) i (?:get|have|ask)\b|i(?:'d| would) like (?:you to)?|i (?:want|need) (?:you to|a|an|some|to know)\b|"
    r"i (?:have|got) a question|i wonder|i'm (?:wondering|curious)|(?:how|what|where) (?:do|can|would|should|could) (?:i|we|"
    r"you|one)\b(?=.*\b(?:in|with|using)\b))",
    re.IGNORECASE,
)
OWN: Final = re.compile(
    r"\b(?:my|mine|our|ours|we|us|i|me|myself|ourselves|i've|i'm|i'd|we've|we're|we'd|let's)\b|"
    r"\b(?:as usual|like last time|the usual|same as before|as before|as always|as agreed|as discussed|remember (?:when|"
    r"that|the)|"
    r"told you|you (?:said|told|mentioned|wrote|suggested|recommended|promised)|you remember|do you recall)\b",
    re.IGNORECASE,
)
OWN_NOUN: Final = re.compile(r"\b(?:my|our)\s+(?:[a-z]+\s+)?[a-z]+", re.IGNORECASE)
HABIT: Final = re.compile(
    r"\b(?:as usual|the usual|like last time|same as (?:before|last time|always)|as always|as agreed|as discussed)\b",
    re.IGNORECASE,
)
OWN_TEXT: Final = re.compile(
    r"\bmy (?:own )?(?:english|grammar|spelling|writing|sentence|essay|text|paragraph|message|wording|translation|punctuation)\b",
    re.IGNORECASE,
)
RECALLING: Final = re.compile(
    r"\b(?:remember|remind|recall|refresh my memory|look up|check (?:your|the) (?:memory|notes)|what do you know about)\b",
    re.IGNORECASE,
)
CONTINUING: Final = re.compile(
    r"\b(?:continue|carry on|go on|resume|keep going|pick (?:it |this |that |things )?up|proceed|where (?:were we|"
    r"did we (?:stop|leave off))|"
    r"left off|pick up)\b",
    re.IGNORECASE,
)

# One phrase of small talk; a message is small talk when it is made of these alone.
SMALL_TALK: Final = re.compile(
    r"""(?:
    how\ (?:are|r)\ (?:you|things)(?:\ (?:doing|going))?(?:\ today)?|how(?:'s|\ is)\ it\ going|how\ do\ you\ do|what(?:'s|
    \ is)\ up|
    (?:nice|good|great)\ to\ (?:meet|see)\ you|(?:who|what)\ are\ you|what(?:'s|\ is)\ your\ name|what\ can\ you\ do|
    are\ you\ (?:there|a\ (?:bot|human|robot|machine|person))|can\ you\ help(?:\ me)?|help(?:\ me)?|
    good\ (?:morning|afternoon|evening|night|day|luck|job|work|bye)|morning|evening|see\ (?:you|ya)(?:\ (?:later|soon|tomorrow|
    then|around))?|
    have\ a\ (?:nice|good|great|lovely)\ \w+|take\ care|thank\ you|thanks|thx|ty|cheers|much\ appreciated|appreciate\ (?:it|
    that)|
    (?:so|very)\ much|a\ (?:lot|million|bunch)|for\ (?:now|everything|today|your\ \w+|the\ (?:help|time|info|update|
    quick\ reply))|
    no\ (?:problem|worries|thanks|thank\ you|need)|nothing(?:\ else)?|never\ ?mind|got\ it|i\ see|i\ understand|understood|
    makes\ sense|
    sounds?\ (?:good|great|fine)|
    will\ do|that(?:'s|\ is|\ was)?\ (?:all|it|fine|great|good|perfect|ok|okay|helpful|right|correct|everything)|
    that\ will\ be\ all|all\ (?:good|set|right|done)|
    you(?:'re|\ are)\ (?:welcome|right|the\ best|great)|you\ too|my\ bad|of\ course|well\ done|
    oh|ah|ok|okay|k|well|yes|yeah|yep|yup|no|nope|hm+|so|and|then|great|perfect|cool|nice|fine|good|sure|alright|right|awesome|
    excellent|
    wonderful|brilliant|lovely|hi|hello|hey|hiya|howdy|greetings|welcome|dear|there|again|everyone|all|assistant|bot|later|
    please|sorry|
    bye|goodbye|agreed|exactly|indeed|done|now|lol|(?:ha)+h?|wow|test|testing|ping|amazing|really|too
    )(?![\w'])""",
    re.IGNORECASE | re.VERBOSE,
)

# -- frames of complete requests

_POLITE = (
    r"(?:(?:please|pls|kindly|hey|hi|ok|okay|so|now|then|just|and|also)[\s,]+)*(?:(?:can|could|would|"
    r"will)\ you\ (?:please\ |kindly\ |help\ me\ |help\ )?(?:to\ )?|i(?:'d|\ would)\ like\ you\ to\ |i\ (?:need|"
    r"want)\ you\ to\ |help\ me\ (?:to\ )?|let's\ |(?:do\ you|would\ you)\ know\ )?(?:please\ )?(?:tell\ (?:me|us)\ )?"
)
_NUMBER = (
    r"(?>-?\d+(?:[.,]\d+)*|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|"
    r"a\ half|half|a\ dozen)"
)
_OPERATOR = r"(?:plus|minus|times|multiplied\ by|divided\ by|over|modulo|mod|to\ the\ power\ of|squared|cubed|x|[-+*/×÷^%=<>()])"
_UNITS = (
    r"(?:mm|cm|m|km|mi|in|ft|yd|g|kg|mg|lb|lbs|oz|l|ml|millimet\w+|centimet\w+|met(?:er|re)s?|kilomet\w+|miles?|inch(?:es)?|"
    r"feet|foot|yards?|grams?|kilograms?|kilos?|pounds?|ounces?|lit(?:er|re)s?|gallons?|pints?|cups?|seconds?|minutes?|"
    r"hours?|days?|weeks?|months?|years?|decades?|centuries|century|degrees?|celsius|fahrenheit|kelvin|bytes?|kilobytes?|"
    r"megabytes?|gigabytes?|kb|mb|gb|tb|bits?|knots?|mph|kph|km/h|acres?|hectares?|euros?|dollars?|yen|yuan|"
    r"pounds\ sterling|usd|eur|gbp|radians?|joules?|calories|watts?|leap\ year|fortnight)"
)
COMPUTATION: Final = re.compile(
    rf"""^{_POLITE}(?:
    (?:(?:what(?:'s|\ is|\ does|\ are|\ do(?:es)?\ (?:you|i|we|one)\ get\ (?:if|when)\ (?:you|i|we|one)\ (?:add|multiply|divide|
    subtract|take)|\ do)?|how\ much\ (?:is|are|does)|calculate|compute|evaluate|work\ out|solve(?:\ for\ \w)?|
    find|simplify|add|sum|multiply|divide|subtract|take)\s+)?
      (?:the\ (?:result|value|sum|product|quotient|difference)\ of\s+)?\(*{_NUMBER}(?>(?:\s*(?:{_OPERATOR}|{_NUMBER}|and|from|
      by|to|equals?|make))+)
    |(?:what(?:'s|\ is)?|how\ much\ is|calculate|compute)?\s*{_NUMBER}\s*(?:%|percent|per\ cent)\s*(?:of|off)\s*{_NUMBER}
    |(?:what(?:'s|\ is)|calculate|compute|find|give\ me|evaluate)\s+(?:the\s+)?(?:square\ root|cube\ root|sum|product|average|
    mean|median|
      factorial|square|cube|log(?:arithm)?|sine|cosine|tangent|greatest\ common\ divisor|gcd|lcm|least\ common\ multiple|
      prime\ fact\w+|remainder)\ of\s+
      (?:the\ (?:numbers?|values?)\ )?{_NUMBER}.*
    |(?:what(?:'s|\ is)|calculate|compute|find)\s+(?:the\s+)?(?:area|volume|perimeter|circumference|hypotenuse)\ of\ an?
      \ (?:\w+\ )?(?:circle|square|triangle|rectangle|sphere|cube|cylinder|cone|trapezoid|hexagon)\b.*
    |(?:what(?:'s|\ is)|calculate|compute|find)\s+(?:the\s+)?(?:derivative|integral)\ of\b.*
    |(?:what\ (?:is\ )?|what's\ )?(?:half|a\ third|a\ quarter|double|twice|triple|one\ half|one\ third)\ (?:of\ |
    as\ much\ as\ )?{_NUMBER}(?:\ is)?
    |(?:what\ (?:is\ )?|what's\ )?{_NUMBER}\ (?:squared|cubed|factorial|to\ the\ \w+(?:\ power)?)(?:\ is)?
    |how\ many\ \w+\ (?:are\ |is\ )?(?:there\ )?(?:in|make(?:\ up)?)\ (?:an?|{_NUMBER})\ (?:{_NUMBER}\ )?(?:dozen|score|gross|
    pair|{_UNITS})s?
    |which\ (?:number\ )?is\ (?:bigger|larger|greater|smaller|more|less),?\s+{_NUMBER}.*
    |(?:convert|change|turn)\s+{_NUMBER}.*\b(?:to|into|in)\b.*
    |(?:how\ many|how\ much)\s+{_UNITS}\s+(?:are\s+|is\s+)?(?:there\s+)?(?:in|are|is|per|make|equal|does)\b.*\b{_UNITS}\b
    |(?:what(?:'s|\ is)|how\ much\ is)\s+{_NUMBER}\s*°?\s*{_UNITS}\s+(?:in|to|into|as)\s+.*
    |(?:is|are)\s+{_NUMBER}\s+(?:an?\ )?(?:prime|even|odd|divisible|a\ multiple|perfect|greater|less|bigger|smaller|larger)\b.*
    |(?:sort|order|rank|add\ up|sum\ up|count|average)\s+(?:these|the\ following|the|those)?\s*(?:numbers?|values?|figures?|
    integers?)\b.*\d.*
    |(?:what\ (?:day|weekday|date)\b.*\b(?:was|is|will\ be|falls?)\b.*\d{{4}}.*)
    |how\ many\ days\ (?:are\ )?(?:there\ )?(?:between|until|till|from)\b.*\d.*
    |(?:what\ (?:comes|is|number\ comes)\ next|continue\ the\ sequence)\b.*\d.*|.*\d[\d\s,]+.*what\ (?:comes|is)\ next.*
    )[\s?.!=]*$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
FORMULA: Final = re.compile(r"(?=[^\d]*\d)(?=[^+\-*/×÷^%=]*[+\-*/×÷^%=])[\s\d.,+\-*/×÷^%=()<>!?？]+")
_TEXT_WORK = (
    "translate|rewrite|re-write|rephrase|reword|paraphrase|proofread|proof-read|correct|fix|edit|polish|improve|"
    "summari[sz]e|sum up|shorten|condense|"
    "expand|simplify|spell-?check|grammar-?check|punctuate|capitali[sz]e|format|reformat|convert|turn|put|render|transcribe|"
    "transliterate|"
    "extract|count|classify|categori[sz]e|label|tag|analy[sz]e|explain|review|parse|decode|encode|reverse|sort|alphabeti[sz]e|"
    "check|make|give|find|list|highlight|outline|say|write|read|answer|reply to|respond to|complete|continue|finish|"
    "interpret|compare|clean up|tidy"
)
TEXT_WORK: Final = re.compile(
    rf"^{_POLITE}(?:{_TEXT_WORK}|what (?:does|do|is|are|language)|how (?:do|would) (?:you|i|we|one)|is|are|which)\b",
    re.IGNORECASE,
)
_ONLY_TEXT = (
    "translate|rewrite|re-write|rephrase|reword|paraphrase|proofread|proof-read|summari[sz]e|sum\\ up|shorten|condense|"
    "polish|transcribe|punctuate|"
    "spell-?check|extract|count|format|convert|transliterate"
)
# Work that needs a text and nothing else; without the text there is nothing to do.
ONLY_TEXT: Final = re.compile(rf"^{_POLITE}(?:{_ONLY_TEXT})\b", re.IGNORECASE)
NEEDS_TEXT: Final = re.compile(
    rf"^{_POLITE}(?:{_ONLY_TEXT})\s+(?:(?:the\ )?(?:above|below|following)|this|that|it|these|those|"
    r"(?:this|that|the) (?:\w+\ )?(?:text|sentence|paragraph|passage|message|word|phrase|article|email|letter|line|quote|one))\b",
    re.IGNORECASE,
)
GIVEN_BELOW: Final = re.compile(
    r"\b(?:below|following|here|next (?:line|sentence|paragraph)|this (?:\w+ )?(?:text|sentence|paragraph|passage|message|"
    r"word|line|article|email|letter|story|list|code|snippet))\b",
    re.IGNORECASE,
)
EDITING: Final = re.compile(
    rf"^{_POLITE}(?:make (?:it|that|this)(?: a (?:bit|little))? (?:\w+er|more \w+|less \w+|\w+)|(?:even |much |"
    rf"a bit )?(?:shorter|longer|"
    rf"simpler|more \w+|less \w+),?(?: please)?[.!]?$|"
    r"say (?:it|that|this) (?:again|differently|in)|repeat (?:that|it|this)|try again|once more|again please|another one|"
    r"one more|"
    r"(?:translate|rewrite|rephrase|reword|shorten|summari[sz]e|simplify|expand|explain|elaborate on|fix|format|continue|"
    r"undo|redo) ?(?:it|that|this|the (?:above|last|previous) \w+|your (?:last |previous )?(?:answer|reply|message))?\b|"
    r"(?:the )?same (?:thing |again )?(?:in|but|for|with|as)\b|in (?:other|simpler|plain|fewer) words|can you elaborate|"
    r"elaborate|go on|carry on|keep going|continue|"
    r"what do you mean|why not|tell me more$)",
    re.IGNORECASE,
)
_CREATIVE = (
    r"poems?|haikus?|limericks?|sonnets?|jokes?|puns?|riddles?|rhymes?|songs?|lullab(?:y|ies)|fairy\ tales?|fables?|"
    r"tongue\ twisters?|fun\ facts?|stor(?:y|ies)|essays?|"
    r"functions?|regex(?:es)?|regular\ expressions?|for\ loops?|while\ loops?|one-liners?|sql\ quer(?:y|ies)|"
    r"shell\ commands?|random\ (?:numbers?|words?|names?|colou?rs?)|"
    r"primary\ colou?rs|anagrams?|palindromes?|acrostics?|synonyms?|antonyms?"
)
# Something made up or known to everybody: whose it is does not matter.
WRITING: Final = re.compile(
    rf"^{_POLITE}(?:write|compose|create|make(?:\ up)?|invent|generate|tell|give|suggest|list|name|sing|come\ up\ with|"
    rf"think\ of|show|code|implement)\s+"
    rf"(?:me\s+|us\s+)?(?:(?:an?|another|some|any|one|two|three|four|five|six|seven|eight|nine|ten|a\ few|several|\d+|"
    rf"the)\s+)?(?:[\w-]+\s+){{0,3}}?(?:{_CREATIVE})\b",
    re.IGNORECASE,
)
_WORLD_HEADS = (
    "capital|capital city|population|currency|boiling point|melting point|freezing point|atomic (?:number|weight|mass)|"
    "chemical symbol|"
    "chemical formula|"
    "official language|national (?:anthem|flag|animal|dish|language)|plural|singular|past tense|past participle|opposite|"
    "antonyms?|synonyms?|"
    "pronunciation|etymology|literal meaning|dictionary definition|spelling"
)
# About the world by the words of the request alone, whatever it asks about.
WORLDLY: Final = re.compile(
    rf"\b(?:{_WORLD_HEADS})\ (?:of|for|in)\b|\b(?:synonyms?|antonyms?|rhymes?|rhyming\ words)\ (?:for|of|with)\b|"
    rf"\bwhat\ rhymes\ with\b|"
    rf"^{_POLITE}(?:define|spell|pronounce|conjugate)\b|\bwhat\ do(?:es)?\ .+\ (?:mean|stand\ for)\b|"
    r"\bhow\ (?:do|would|can)\ (?:you|i|we|one)\ (?:spell|pronounce|say)\b|\bwho\ (?:invented|discovered|painted|composed)\b|"
    r"\bwhat\ (?:official\ |main\ )?(?:languages?|currency|religion)\b.*\b(?:spoken|used|spoken\ in|"
    r"practi[sc]ed)\b.*\b(?:in|by)\b",
    re.IGNORECASE,
)
AUTHORSHIP: Final = re.compile(
    "\\b[Ww]ho (?:wrote|directed|founded|built|created|sang|designed|proved|was|is) [\"\u201c\u2018'A-Z]"
)
# "a monad", "photosynthesis", "the difference between a list and a tuple": things without an owner.
INDEFINITE: Final = re.compile(
    rf"^{_POLITE}(?:what(?:'s|\ is|\ are)\s+(?:an?\s+)?(?!(?:left|missing|open|due|overdue|pending|blocked|planned|"
    rf"scheduled|next|new|outstanding|remaining|"
    r"wrong|going|happening|there|on|in|up)\b)[a-z][a-z-]*(?:\ [a-z-]+)?|what(?:'s|\ is|\ are)\s+an?\s+.+|(?:explain|"
    r"describe)\s+(?:to\ me\s+)?(?:what\s+|how\s+|why\s+)?.+|"
    r"how\ do(?:es)?\ .+\ works?|how\ does\ an?\ .+|(?:what(?:'s|\ is|\ are)|tell\ me|"
    r"give\ me)\s+(?:the\s+)?(?:main\s+)?differences?\ between\ .+)[\s?.!]*$",
    re.IGNORECASE,
)
# In a language or tool that everybody has; the name must be one of the world's.
HOW_TO: Final = re.compile(r"\bhow\ (?:do|can|would|to)\b.*\b(?:in|using|with)\ [\w+#]+[\s?.!]*$", re.IGNORECASE)
DEFINITE: Final = re.compile(
    r"\b(?:the|this|these|those|his|her|their|its|your)\s+"
    r"(?!(?:difference|differences|concept|idea|meaning|following|word|phrase|sentence|term|world|main|basics|theory|"
    r"principle|internet|sea|sky|sun|moon|rain|wind)\b)[a-z]",
    re.IGNORECASE,
)
PRESENT: Final = re.compile(
    rf"^{_POLITE}(?:(?:what(?:'s|\ is)\ the\ (?:current\ )?(?:time|date|day)|what\ (?:time|day|date|year|month)\ is\ (?:it|"
    rf"today)|what(?:'s|\ is)\ today(?:'s\ date)?)"
    r"(?:\ (?:now|right\ now|today|in\ [\w ]{1,30}))*|(?:what|how)(?:'s|\ is)\ (?:the|today's)\ weather\b.*|"
    r"(?:will\ it\ (?:rain|snow)|is\ it\ (?:raining|snowing|sunny|cold\ outside|hot\ outside|going\ to\ (?:rain|"
    r"snow)))\b.*)[\s?.!]*$",
    re.IGNORECASE,
)
QUESTION: Final = re.compile(
    r"(?:^|[.!?,;:]\s*|\b(?:and|so|but|then|ok|okay|well|hey|again)[\s,]+)(?:what|which|who|whom|whose|where|when|why|how|"
    r"whatever|did|does|do|is|are|was|were|has|have|had|"
    r"will|would|can|could|should|shall|may|any|isn't|wasn't|didn't|doesn't|hasn't|haven't)\b|\?",
    re.IGNORECASE,
)
ORDER: Final = re.compile(
    rf"^{_POLITE}(?:tell|show|give|remind|remember|recall|find|list|explain|describe|continue|resume|look|search|check|"
    rf"summari[sz]e|write|draft|make|get|bring|pick|help|use|open|go|plan|compare|update)\b",
    re.IGNORECASE,
)
TASKS: Final = (
    ("continuation", CONTINUING),
    ("reason", re.compile(r"\bwhy\b|\bhow come\b|\breasons?\b|\bbecause of what\b|\brationale\b", re.IGNORECASE)),
    (
        "procedure",
        re.compile(
            r"\bhow (?:do|can|should|would|could|to|must)\b|\bsteps?\b|\binstructions?\b|\bprocedure\b|\bguide\b", re.IGNORECASE
        ),
    ),
    (
        "overview",
        re.compile(
            r"\b(?:summari[sz]e|sum up|overview|status|list|show me|what do (?:we|i|you) know|progress|recap|"
            r"everything about|all (?:the|my|our|open))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "composition",
        re.compile(
            rf"^{_POLITE}(?:write|draft|compose|create|prepare|plan|design|generate|build|implement|reply|answer|respond)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "lookup",
        re.compile(
            r"\b(?:what|which|who|whom|whose|where|when|how (?:many|much|long|often|far|old|big|did|is|are|was)|whatever|"
            r"name of|find|look up|tell me|remind me|remember|recall)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "check",
        re.compile(
            r"(?:^|[.!?,;]\s*|\b(?:and|so|but)\s+)(?:did|does|do|is|are|was|were|has|have|had|will|would|can|could|should|"
            r"may|any|isn't|wasn't|didn't)\b",
            re.IGNORECASE,
        ),
    ),
)
EXPLETIVE: Final = re.compile(
    r"\b(?:is|was|isn't|would) it (?:true|possible|ok|okay|fine|safe|better|worth|necessary|legal|normal|allowed|"
    r"a good idea|going to|time|raining|likely)\b|"
    r"\bit(?:'s| is| was| seems| takes?| would be) (?:true|possible|ok|okay|safe|better|worth|necessary|time|raining|likely|"
    r"important)?\s*(?:that|to|for)\b|"
    r"\b(?:what|which) (?:time|day|date) is it\b|\bhow(?:'s| is) it going\b|\b(?:that's|that is) (?:all|it)\b|\b(?:this|"
    r"that) is\b(?= (?:a|an|the)\b)",
    re.IGNORECASE,
)
MISSING_ANSWER: Final = re.compile(
    r"\b(?:don't|do not|didn't|did not|cannot|can't|couldn't|no longer)\s+(?:\w+\s+)?(?:know|remember|recall|find|sure|see|"
    r"have)\b|\b(?:not sure|no idea|forgot|forget|unsure|unknown|unclear|"
    r"let me (?:check|look|see)|would have to (?:check|look)|have to (?:check|look)|need to (?:check|look|decide)|"
    r"not (?:yet )?(?:decided|settled|known)|wonder|undecided|tbd|which one\b)",
    re.IGNORECASE,
)
BECAUSE: Final = re.compile(r"\b(?:because|since|so that|due to|as\b.*\bmust|in order to|to be able|reason)\b", re.IGNORECASE)
TO_ATTACHMENT: Final = re.compile(
    r"\b(?:attach(?:ed|ment|ments)|enclosed|(?:this|the|these|that) (?:file|image|photo|picture|pic|screenshot|document|pdf|"
    r"message|email|mail|letter|note|text|chat|page|recording|voice)s?|"
    r"look at (?:this|that|it)|see (?:this|below)|(?:of|about|to|with|from|on) (?:this|it|that)|what(?:'s| is) (?:this|"
    r"in (?:this|it))|read (?:this|it)|forwarded|"
    r"(?:translate|summari[sz]e|answer|reply|respond|check|review|continue|fix|explain|proofread)\b(?:.{0,20}\b(?:this|it|"
    r"that|these))?)",
    re.IGNORECASE,
)

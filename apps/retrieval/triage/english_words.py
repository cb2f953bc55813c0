"""English words for triage: the common ones that name nothing by themselves, kinds of things, and names that everybody knows."""

from __future__ import annotations

from typing import Final

from apps.retrieval.stemming import FUNCTION_WORDS, stem, words
from apps.retrieval.triage.vocabulary import AnchorKind

# Verbs and nouns so common that a question made of them alone does not say what it is about. Compared by their stems.
_COMMON_VERBS = words(
    """
    accept act add admit agree allow answer apologise apologize appear approve argue arrange arrive ask assume attend avoid
    base become begin believe blame bother break bring build buy call cancel care carry cause change check choose claim clear
    close come commit compare complain complete confirm consider continue contact cost create cut deal decide decline deliver
    deny depend die differ disagree discuss drop end enjoy ensure establish exist expect experience explain express fail fall
    feel figure find finish fit fix follow force forget gain get give go grow guess handle hang happen hate hear help hide
    hit hold hope improve include indicate insist intend introduce involve join judge jump keep kill know land last lead
    learn leave lend let lie like listen live look lose love make manage matter mean meet mention mind miss move must need
    note notice object obtain occur offer open order owe own pass pay persuade pick place plan point prefer prepare present
    prevent proceed process produce promise propose protect prove provide pull push put quit raise reach read realise realize
    receive reckon recommend reduce refer refuse regret reject rely remain remember remind remove repair repeat replace reply
    report request require resolve respond rest result resume return rule run save say see seem select sell send serve set
    settle shall share show shut sign sit solve sort sound speak spend split stand start state stay step stick stop succeed
    suffer suggest suppose survive switch take talk teach tell tend test thank think throw touch treat trust try turn
    understand update use vanish visit vote wait walk want warn watch win wind wish wonder work worry write yell divide
    multiply compute calculate merge ship apply assign
    """
)
_COMMON_NOUNS = words(
    """
    mind start change look try talk call help need hope wish use move fall return stop stay claim reply request report test
    fix repair update vote cause say guess show share produce process force touch sound cut deal break turn run walk go hold
    catch bug ticket feature pr mr user assistant agreement alternative amount answer approach area aspect aftermath basis
    bit case cause chance chat circumstance conclusion condition consequence context conversation couple course date day deal
    decision detail development difference direction discussion document effect effort end ending episode event everybody
    everyone everything example experience explanation fact feedback feeling file finding folk form fuss guy half head hint
    hour idea impact impression incident info information instance issue item job kind lady length level list lot luck man
    matter meeting memory mess message method minute moment month motive name news nobody note nothing notion number object
    objective occasion one opinion opportunity option order other outcome part party people person piece place plan point
    possibility problem product progress project proposal purpose question reaction reason rest result role round side sign
    situation sort status step story stuff subject suggestion summary talk task team thing thought time title topic trouble
    truth turn type update verdict version view way week woman word work year somebody someone something anybody anyone
    anything somewhere anywhere anyhow
    """
)
_COMMON_QUALITIES = words(
    """
    two three four five six seven eight nine ten eleven twelve dozen hundred thousand million tall wide deep heavy cold hot
    warm red blue green yellow black white brown grey gray purple pink closest nearest farthest furthest tallest highest
    longest largest smallest biggest deepest fastest oldest youngest shortest lowest strongest hottest coldest heaviest
    brightest richest latest newest bye simpler shorter longer easier clearer harder nicer cheaper faster slower bigger
    smaller older newer earlier wider able actual ago alone already alright alternatively always angry anyway anymore away
    awful back bad badly best better big bright certain clear close cool correct currently different disappointed done due
    early easy else entire enough even eventually ever exact far fast few final fine first former full fun funny further
    future general glad good great half happy hard high home important impossible instead interesting last late later latter
    least less likely little long low main many maybe mostly much nearly necessary never new next nice nope normal odd often
    old only open original past pleased possible previous quick quickly ready real recent right sad same second serious
    several short slow small sometimes soon sorry still strange such sure surprised terrible third tired together tough true
    ugly upset useful usual usually various weird well simpler shorter longer easier clearer harder nicer cheaper faster
    slower bigger smaller older newer earlier wider whole worse worst worth wrong yeah yep yes yet young apart aside along
    around across ahead aboard abroad altogether
    """
)
# Verbs that are things behind an article: "the watch", "our visit".
THINGS_BY_PLACE: Final = _COMMON_VERBS - _COMMON_NOUNS - _COMMON_QUALITIES
ARTICLES: Final = words("the a an my our his her their each every")
COMMON: Final = (
    FUNCTION_WORDS | _COMMON_VERBS | _COMMON_NOUNS | _COMMON_QUALITIES | words("ain don doesn didn isn wasn won wont im ive")
)
COMMON_STEMS: Final = frozenset(stem(word) for word in COMMON)

# Kinds of things that a question can mean without naming one: "that project", "the issue".
NAMED_KINDS: Final = words(
    """
    agreement answer case conversation decision discussion document event file idea incident issue job matter meeting message
    method note option person plan problem product project proposal question result situation story suggestion task thing
    topic update version work guy man woman lady bug ticket feature test bit part approach change order
    """
)

_KINDS: dict[AnchorKind, frozenset[str]] = {
    AnchorKind.PERSON: words(
        """
        accountant advisor agent architect aunt author boss boy brother buddy captain chef chief child client coach colleague
        commander contractor cousin coworker customer dad daughter dentist designer developer director doctor driver editor
        engineer father friend girl grandma grandpa grandmother grandfather host husband kid landlord lawyer lead leader
        manager mayor mentor mom mother mum neighbour neighbor nephew niece nurse operator owner parent partner patient
        physician pilot president professor reviewer roommate sister son supervisor supplier teacher teammate tenant
        therapist trainer tutor uncle vendor vet wife
        """
    ),
    AnchorKind.PROJECT: words(
        "app application campaign package platform product programme program project repo repository service site startup website"
    ),
    AnchorKind.EVENT: words(
        """
        accident appointment anniversary audit birthday ceremony conference crash deadline demo deployment exam experiment
        fair festival flight holiday incident interview launch lecture lesson meeting migration move outage party release
        review session sprint test training trip vacation visit wedding workshop
        """
    ),
    AnchorKind.DECISION: words(
        "agreement choice constraint convention decision finding goal plan policy preference proposal rule settlement verdict"
    ),
    AnchorKind.ARTEFACT: words(
        """
        account address battery boat book branch budget camera car chapter code commit computer config configuration contract
        dashboard database device diary door draft engine file firmware form format framework function house key lamp
        language laptop library list log machine manual map model module note notebook number password phone pipeline pump
        query recipe record report room schema script sensor server spreadsheet table tablet template theme ticket tool
        version
        """
    ),
}
KIND_OF: Final = {stem(word): kind for kind, listed in _KINDS.items() for word in listed}

PRONOUNS: Final = words(
    """
    he him his himself she her hers herself they them their theirs themselves it its itself this that these those i you we
    one who nobody everyone anyone someone somebody everybody anybody
    """
)
ADVERBS: Final = words(
    "ever also finally actually even already still just really not never then all both always eventually only later probably"
)

# Names that everybody knows: they do not point to anybody's own affairs.
WORLD_NAMES: Final = words(
    """
    english french german spanish italian portuguese chinese mandarin japanese korean russian arabic hindi latin greek dutch
    polish swedish turkish europe european asia asian africa african america american australia australian france germany
    spain italy china japan korea india russia canada brazil mexico england britain uk usa us eu un nasa nato london paris
    tokyo beijing berlin rome madrid moscow sydney celsius fahrenheit kelvin python java javascript typescript kotlin rust go
    golang ruby php swift scala sql html css json yaml xml csv http https tcp udp ip dns api rest graphql linux unix windows
    macos bash regex git docker kubernetes excel markdown latex unicode utf ascii dna rna gdp ai hamlet shakespeare einstein
    newton darwin mozart beethoven bach mona lisa earth mars venus jupiter saturn moon sun roman
    """
)

"""The published number: how many recorded queries the parser could only pass on."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.evidence.content import erase_texts
from apps.retrieval.context import Turn
from apps.retrieval.models import RetrievalTrace
from apps.retrieval.triage.vocabulary import Asked

pytestmark = pytest.mark.django_db


def report(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("triage_report", *arguments, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def counts(*arguments: str) -> dict:
    return json.loads(report("--json", "--ceiling", "1", *arguments)[1])


@pytest.mark.requirement("EL-06", "EL-07")
def test_the_rate_is_measured_against_a_ceiling_that_bites(asking):
    assert report()[0] == 0  # no query, no fallback
    for question in ("Where does the lamp stand?", "zzgrk blorp qwx", "Which tool did we choose?", "Who is Petra?"):
        asking.packet(question)
    assert (counts()["queries"], counts()["fallbacks"], counts()["rate"]) == (4, 1, 0.25)
    code, text = report("--ceiling", "0.25")
    assert code == 0 and "0.250" in text and "kept" in text
    code, text = report("--ceiling", "0.2")
    assert code == 1 and "0.250" in text and "exceeded" in text


@pytest.mark.requirement("EL-08", "TR-22")
def test_fallbacks_that_may_only_lack_their_window_are_counted_apart(asking):
    asking.packet("What happened to it?")
    asking.packet("What happened to it?", window=(Turn(role="user", content="hello"),))
    asking.packet("What happened to it?", window=(Turn(role="user", content="The foghorn battery is flat."),))
    found = counts()
    assert (found["queries"], found["fallbacks"], found["without_window"]) == (3, 2, 1)
    assert found["unresolved"] == {"target": 2}


@pytest.mark.requirement("TR-19")
def test_divergences_and_suggestions_are_told(asking):
    asking.packet("So how did it turn out?")
    asking.packet("So how did it turn out?", decision=Asked.AUTO)
    asking.packet("What is 17 times 23?", decision=Asked.AUTO)
    found = counts()
    assert found["divergences"] == {"ask_suppressed": 1} and found["suggested"] == {"ASK": 2, "SKIP": 1}


def test_a_query_whose_words_are_gone_is_not_guessed(world, asking):
    asking.packet("zzgrk blorp qwx")
    asking.packet("", fact_keys=("lamp.place",))
    with world.inside():
        row = RetrievalTrace.objects.exclude(request=None).first()
        gone, row.request_id = row.request_id, None
        row.save()
        erase_texts(world.tenant_id, [gone])
    assert (counts()["queries"], counts()["unreadable"]) == (0, 1)


def test_one_tenant_and_wrong_usage(world, elsewhere, asking):
    asking.packet("zzgrk blorp qwx")
    assert counts("--tenant", "orchard")["queries"] == 1
    assert counts("--tenant", "basin")["queries"] == 0
    assert counts("--days", "1")["queries"] == 1
    for arguments in (["--tenant", "nobody"], ["--ceiling", "2"], ["--ceiling", "x"]):
        with pytest.raises(CommandError):
            call_command("triage_report", *arguments)

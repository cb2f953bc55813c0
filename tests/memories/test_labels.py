"""The vocabulary: strict for records, lenient for questions (LB-*)."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from apps.memories.labels import canonical_labels, parse_labels, resolve_hints, vocabulary
from apps.memories.models import Label, MemoryVersion
from apps.tenants.provisioning import provision
from apps.tenants.provisioning_file import Place, ProvisioningError
from tests.memories.sayings import LABELS
from tests.tenants.world import document


@pytest.mark.requirement("LB-02", "LB-03", "LB-09")
def test_only_canonical_keys_are_labels_of_records(world):
    with world.inside():
        known = canonical_labels(world.tenant_id, "topic", frozenset({"field_test", "field test", "现场测试", "feild_test"}))
        assert canonical_labels(world.tenant_id, "entity", frozenset({"field_test"})) == {}
    assert known == {"field_test": "field_test"}


@pytest.mark.requirement("LB-11", "LB-13", "LB-14")
def test_a_question_may_use_aliases_and_is_told_what_nobody_knows(world):
    with world.inside():
        found = resolve_hints(
            vocabulary(world.tenant_id)["topic"], ["Field Test", "现场测试", "FIELD_TEST", "feild_test", "deploys"]
        )
    assert found.known == ("field_test", "deploys")
    assert found.unknown == ("feild_test",)


@pytest.mark.requirement("LB-15")
def test_a_key_needs_no_alias_and_is_its_own_spelling(world):
    with world.inside():
        spellings = vocabulary(world.tenant_id)
    assert spellings["topic"]["deploys"] == "deploys"
    assert spellings["entity"] == {"observatory_captain": "observatory_captain", "天文台队长": "observatory_captain"}


def test_provisioning_twice_changes_nothing_and_another_alias_is_a_change(world):
    same = document(world.key) | {"labels": LABELS}
    assert provision(json.dumps({"tenants": [same]}))[world.key].created["labels"] == 0
    more = {**LABELS, "topics": {**LABELS["topics"], "deploys": {"aliases": ["Release Day"]}, "travel": None}}
    assert provision(json.dumps({"tenants": [document(world.key) | {"labels": more}]}))[world.key].created["labels"] == 2
    with world.inside():
        assert Label.objects.get(key="deploys").aliases == ["release day"]


@pytest.mark.requirement("LB-14")
@pytest.mark.parametrize(
    "wrong",
    [
        [],
        {"topic": {}},
        {"topics": ["field_test"]},
        {"topics": {"field_test": {"alias": []}}},
        {"topics": {"field_test": {"aliases": "x"}}},
        {"topics": {"field\u200btest": {}}},
        {"topics": {"Field_Test": {}, "field_test": {}}},
        {"topics": {"a": {"aliases": ["same"]}, "b": {"aliases": ["Same"]}}},
        {"topics": {"a": {"aliases": ["b"]}, "b": {}}},
    ],
    ids=str,
)
def test_a_vocabulary_with_two_meanings_or_a_slip_is_refused(wrong):
    with pytest.raises(ProvisioningError):
        parse_labels(wrong, Place("labels"))


@pytest.mark.requirement("LB-05", "LB-07")
@pytest.mark.django_db(transaction=True)
def test_the_checker_names_record_field_and_label(transactional_db, capsys):
    from tests.memories.sayings import Memories
    from tests.tenants.world import World

    world = World("orchard", labels=LABELS)
    made = Memories(world).say(topics=("field_test",))
    call_command("check_labels")
    assert "0 findings" in capsys.readouterr().out
    with world.inside():
        Label.objects.filter(key="field_test").delete()
    with pytest.raises(SystemExit) as ended:
        call_command("check_labels", "--json")
    assert ended.value.code == 1
    found = json.loads(capsys.readouterr().out)["orchard"]
    assert {"record": f"{made.memory_id} v1", "pointer": "/topics/0", "label": "field_test"} in found
    with world.inside():
        assert MemoryVersion.objects.get().topics == ["field_test"]

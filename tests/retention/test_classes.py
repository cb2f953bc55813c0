"""Retention classes in the provisioning file and on records (RT-01..05)."""

from __future__ import annotations

import json

import pytest

from apps.core.errors import ValidationFailed
from apps.retention.classes import find_class
from apps.retention.models import RetentionClass
from apps.tenants.provisioning import provision
from apps.tenants.provisioning_file import ProvisioningError
from tests.tenants.world import World


def classes(world):
    with world.inside():
        return {row.key: row for row in RetentionClass.objects.all()}


@pytest.mark.requirement("RT-03")
def test_every_tenant_has_classes_and_none_is_for_ever(world):
    found = classes(world)
    assert set(found) == {"conversation", "engineering_knowledge"}
    assert all(row.content_days and row.index_days and row.audit_days and row.review_after_months for row in found.values())


@pytest.mark.requirement("RT-01", "RT-06")
def test_the_file_adds_classes_and_changes_periods_and_a_second_run_does_nothing(world):
    changed = world.document | {
        "retention_classes": [
            {"key": "conversation", "content_days": 30},
            {
                "key": "minutes",
                "content_days": 90,
                "index_days": 30,
                "review_after_months": 3,
                "at_end": "erase",
                "purpose": "Minutes.",
            },
        ]
    }
    for _ in range(2):
        provision(json.dumps({"tenants": [changed]}))
        found = classes(world)
        assert found["conversation"].content_days == 30 and found["conversation"].review_after_months == 12
        assert (found["minutes"].index_days, found["minutes"].at_end, found["minutes"].purpose) == (30, "erase", "Minutes.")
    provision(json.dumps({"tenants": [world.document]}))
    assert classes(world)["conversation"].content_days == 30  # what a file does not mention stays


@pytest.mark.parametrize(
    "section",
    [
        [{"content_days": 1}],
        [{"key": "x", "content_days": 0}],
        [{"key": "x", "content_days": "7"}],
        [{"key": "x", "content_days": 40_000}],
        [{"key": "x", "at_end": "burn"}],
        [{"key": "x", "for_ever": True}],
        {"key": "x"},
    ],
    ids=str,
)
def test_a_wrong_section_is_refused_with_its_place(db, section):
    with pytest.raises(ProvisioningError, match="retention_classes"):
        World("basin", retention_classes=section)


@pytest.mark.requirement("RT-05")
def test_a_record_gets_the_class_it_names_or_the_tenants_own(world):
    alice = world.access("alice")
    with world.inside():
        assert find_class(alice, None).key == "conversation"
        assert find_class(alice, None, default="engineering_knowledge").key == "engineering_knowledge"
        assert find_class(alice, "engineering_knowledge").key == "engineering_knowledge"
        alice.settings["default_retention_class"] = "engineering_knowledge"
        assert find_class(alice, None).key == "engineering_knowledge"
        with pytest.raises(ValidationFailed):
            find_class(alice, "for_ever")

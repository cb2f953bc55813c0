"""Many ids are one parameter, and find the same rows."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from apps.core.lookups import FEW
from apps.tenants.models import Membership, Namespace
from tests.tenants.world import World

pytestmark = pytest.mark.django_db


def strangers(count: int) -> list[uuid.UUID]:
    return [uuid.uuid4() for _ in range(count)]


@pytest.mark.parametrize("more", [0, 1, FEW, 500])
def test_the_same_rows_however_many_ids_are_asked_for(more):
    world = World("orchard")
    with world.inside():
        own = set(Namespace.objects.values_list("id", flat=True))
        some = set(list(own)[:2])
        wanted = [*some, *strangers(more), None]
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert set(Namespace.objects.filter(id__in=wanted).values_list("id", flat=True)) == some
            assert set(Namespace.objects.exclude(pk__in=wanted).values_list("id", flat=True)) == own - some
            people = set(Membership.objects.values_list("user", flat=True))
            assert Membership.objects.filter(Q(user__in=[*people, *people]) | Q(user_id__in=strangers(more))).exists()
    assert all(("= ANY(" in one["sql"]) == (len(wanted) - 1 > FEW) for one in seen.captured_queries[:2])


def test_no_ids_find_nothing_and_a_query_stays_one():
    world = World("orchard")
    with world.inside():
        assert not Namespace.objects.filter(id__in=[]).exists()
        spaces = Namespace.objects.filter(scope="user")
        assert Namespace.objects.filter(pk__in=spaces).count() == spaces.count() == 2

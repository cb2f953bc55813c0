from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from apps.core.cursors import page
from apps.core.errors import ValidationFailed
from apps.core.models import RateWindow
from tests.core.api_views import Filters

START = datetime(2026, 1, 1, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def add(number: int, requests: int = 0) -> None:
    RateWindow.objects.create(
        credential_id=UUID(int=number), window_started_at=START + timedelta(seconds=number // 3), requests=requests
    )


@pytest.fixture
def rows():
    for number in range(1, 11):
        add(number)
    return RateWindow.objects.all()


def asked(rows, *, order=("-credential_id",), caller="alice", route="rows", cursor=None, limit=4, **filters):
    return page(rows, order=order, query=Filters.of({"limit": limit, "cursor": cursor, **filters}), caller=caller, route=route)


def every(rows, **options) -> list[int]:
    found, cursor = [], None
    while True:
        one = asked(rows, cursor=cursor, **options)
        found += [row.credential_id.int for row in one.items]
        cursor = one.next_cursor
        if cursor is None:
            return found


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        (("credential_id",), [*range(1, 11)]),
        (("-credential_id",), [*range(10, 0, -1)]),
        (("window_started_at", "credential_id"), [*range(1, 11)]),
        (("-window_started_at", "credential_id"), [9, 10, 6, 7, 8, 3, 4, 5, 1, 2]),
        (("requests", "window_started_at", "-credential_id"), [2, 1, 5, 4, 3, 8, 7, 6, 10, 9]),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9, 10, 11])
def test_pages_hold_every_row_once_and_in_order(rows, order, wanted, limit):
    assert every(rows, order=order, limit=limit) == wanted


def test_the_last_page_has_no_cursor(rows):
    assert asked(rows, limit=10).next_cursor is None
    assert asked(rows, limit=9).next_cursor is not None
    assert asked(RateWindow.objects.none()).next_cursor is None


def test_what_comes_and_goes_between_pages_neither_repeats_nor_hides_a_row(rows):
    first = asked(rows)
    add(99)
    RateWindow.objects.filter(credential_id=first.items[-1].credential_id).delete()
    RateWindow.objects.filter(credential_id=UUID(int=5)).update(requests=7)
    second = asked(RateWindow.objects.all(), cursor=first.next_cursor)
    assert [row.credential_id.int for row in second.items] == [6, 5, 4, 3]


def test_rows_can_be_shown_in_another_way(rows):
    found = asked(rows, limit=2).map(lambda row: row.credential_id.int)
    assert found.items == [10, 9]
    assert found.next_cursor


def test_a_cursor_is_bound_to_caller_route_filters_and_order(rows):
    cursor = asked(rows, kind="a", since="2024-01-01").next_cursor
    assert asked(rows, kind="a", since="2024-01-01", cursor=cursor, limit=9).items
    for changed in (
        {"caller": "bob"},
        {"route": "other"},
        {"kind": "b"},
        {"since": "2024-01-02"},
        {"rank": 1},
        {"order": ("credential_id",)},
        {"order": ("-credential_id", "requests")},
    ):
        refused(rows, **{"kind": "a", "since": "2024-01-01", "cursor": cursor, **changed})


def test_an_altered_cursor_is_none(rows):
    cursor = asked(rows).next_cursor
    for altered in (
        "nonsense",
        cursor[:-2] + "AA",
        cursor[:-2] + "BB",
        "A" + cursor,
        cursor + "A",
        cursor.upper(),
        cursor[1:],
        ".",
        "é",
        "x" * 5000,
    ):
        refused(rows, cursor=altered)


def refused(rows, **options):
    with pytest.raises(ValidationFailed) as caught:
        asked(rows, **options)
    assert caught.value.code == "invalid_cursor"
    assert caught.value.errors[0].pointer == "/cursor"

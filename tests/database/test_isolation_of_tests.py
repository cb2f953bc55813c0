"""Each test starts from what the migrations left, also after one that commits."""

from __future__ import annotations

import pytest
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db import connection

from apps.core.clock import now


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.django_db(transaction=True)
def test_rows_are_gone_afterwards(turn):
    assert not Session.objects.exists()
    Session.objects.create(session_key=f"turn{turn}", session_data="x", expire_date=now())


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.django_db(transaction=True)
def test_seeded_rows_are_back_afterwards(turn):
    assert ContentType.objects.filter(app_label="tenants", model="tenant").exists()
    ContentType.objects.filter(app_label="tenants", model="tenant").update(model=f"turn{turn}")


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.django_db(transaction=True)
def test_tables_are_gone_afterwards(turn):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE left_behind (turn int)")

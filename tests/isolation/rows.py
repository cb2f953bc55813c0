"""One row in every table, made from the models alone.

The rows need no meaning: they exist to be seen or not. A table that gets a new column is filled from its type; one whose constraints ask
for more says so in RECIPES.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, Permission
from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.core import clock
from apps.tenants.models import User

_HASH_CHARS = 64


def one_row_each(world: Any, wanted: list[type[models.Model]]) -> None:
    """Fill every table of the open tenant context that is still empty, those it points to first."""
    for model in wanted:
        if not model._default_manager.exists():
            _make(world, model, ())


def _make(world: Any, model: type[models.Model], on_the_way: tuple[type[models.Model], ...]) -> models.Model:
    values: dict[str, Any] = {}
    related: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        if field.primary_key and (field.has_default() or isinstance(field, models.AutoField)):
            continue
        if isinstance(field, models.ForeignKey):
            related |= _related(world, model, field, on_the_way, set(related.values()))
        elif not field.null and not field.has_default():
            values[field.attname] = _plain(field)
    values |= related
    values |= RECIPES.get(model._meta.label, lambda _world: {})(world)
    row = model(**values)
    row.save(force_insert=True)
    return row


def _related(
    world: Any, model: type[models.Model], field: models.ForeignKey, on_the_way: tuple[type[models.Model], ...], used: set[Any]
) -> dict[str, Any]:
    target = field.related_model
    if target._meta.label == "tenants.Tenant":
        return {field.attname: world.tenant_id}
    if field.null:
        return {}
    if target is User:
        return {field.attname: User.objects.filter(username__startswith=f"{world.key}/").first().pk}
    if target is Group:
        return {field.attname: Group.objects.get(name=f"{world.key}:auditor").pk}
    if target is Permission:
        on = model._meta.get_field("content_object").related_model._meta
        permission = Permission.objects.filter(content_type__app_label=on.app_label, content_type__model=on.model_name).first()
        return {field.attname: permission.pk}
    # two columns that point to one table get two rows: what relates to itself is refused in more than one place
    found = target._default_manager.exclude(pk__in=list(used)).first()
    if found is None:
        assert target not in on_the_way, f"{model._meta.label} needs itself"
        found = _make(world, target, (*on_the_way, model))
    return {field.attname: found.pk}


def _plain(field: models.Field[Any, Any]) -> Any:
    if field.choices:
        return next(value for value, _ in field.flatchoices)
    if isinstance(field, (models.CharField, models.TextField)):
        return secrets.token_hex(_HASH_CHARS // 2)[: field.max_length or _HASH_CHARS]
    for kind, value in _OF_KIND.items():
        if isinstance(field, kind):
            return value
    raise NotImplementedError(field)


_OF_KIND: dict[type[models.Field[Any, Any]], Any] = {
    models.DateTimeField: clock.now() + timedelta(days=1),
    models.BooleanField: False,
    models.IntegerField: 1,
    models.FloatField: 1.0,
    models.UUIDField: UUID(int=7),
    models.BinaryField: b"x",
    ArrayField: [],
    models.JSONField: {},
}


RECIPES: dict[str, Any] = {"retrieval.Vector": lambda _world: {"dimension": 1, "embedding": [1.0]}}

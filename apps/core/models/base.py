"""The base of every table that belongs to a tenant."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from apps.core.governance import Governance
from apps.core.ids import new_id


class TenantOwned(models.Model):
    """UUIDv7 key and the tenant that owns the row.

    The tenant column has no foreign-key trigger: row-level security only lets a row in whose tenant is the current one, and a
    share lock on the tenant row for each insert would collide with the revision counter that lives there.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+", editable=False
    )

    governance: ClassVar[Governance]

    class Meta:
        abstract = True

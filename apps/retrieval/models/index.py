"""The lexical index: postings, term statistics and the state of each namespace's projection.

Terms are keyed 64-bit hashes, so no table here spells a word. The index is a projection: it can be dropped and rebuilt, and what
it says is checked against the memory itself before anything leaves recall.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.governance import Audited, Governance, Keeps
from apps.core.models import TenantOwned


class Layer(models.IntegerChoices):
    """CURRENT holds versions that are or will become current; HISTORY holds the others, for questions about the past.

    Words and names of a version lie apart, since a name is looked up whole and has no frequency that matters. The last bit is the
    era: a version that moves keeps the other one.
    """

    CURRENT = 0, _("current")
    HISTORY = 1, _("history")
    NAMES = 2, _("names")
    PAST_NAMES = 3, _("names of history")


class Posting(models.Model):
    """One term or name of one version. The primary key is the covering index that recall reads; nothing else is stored."""

    pk = models.CompositePrimaryKey("tenant_id", "generation", "namespace_id", "layer", "term", "memory_id", "version")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+")
    generation = models.PositiveSmallIntegerField(_("generation"))
    namespace_id = models.UUIDField(_("namespace"))
    layer = models.PositiveSmallIntegerField(_("layer"), choices=Layer)
    term = models.BigIntegerField(_("term"))
    memory_id = models.UUIDField(_("memory"))
    version = models.PositiveIntegerField(_("version"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.INDEX, audited=Audited.PROJECTION, layer="lexical_index")

    class Meta:
        verbose_name = _("posting")
        verbose_name_plural = _("postings")
        indexes = (models.Index(fields=("tenant", "memory_id"), name="posting_by_memory"),)

    def __str__(self) -> str:
        return f"{self.term} {self.memory_id}"


class TermStat(models.Model):
    """In how many versions of a namespace a term occurs; names are not counted."""

    pk = models.CompositePrimaryKey("tenant_id", "generation", "namespace_id", "layer", "term")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_constraint=False, db_index=False, related_name="+")
    generation = models.PositiveSmallIntegerField(_("generation"))
    namespace_id = models.UUIDField(_("namespace"))
    layer = models.PositiveSmallIntegerField(_("layer"), choices=Layer)
    term = models.BigIntegerField(_("term"))
    documents = models.BigIntegerField(_("documents"))

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.INDEX, audited=Audited.PROJECTION, layer="lexical_index")

    class Meta:
        verbose_name = _("term statistic")
        verbose_name_plural = _("term statistics")

    def __str__(self) -> str:
        return f"{self.term} {self.documents}"


class IndexState(TenantOwned):
    """Which generation answers for a namespace, how many documents it holds and up to which revision."""

    namespace_id = models.UUIDField(_("namespace"))
    generation = models.PositiveSmallIntegerField(_("generation"), default=1)
    analysis_version = models.CharField(_("analysis version"), max_length=16)
    documents = models.BigIntegerField(_("current documents"), default=0)
    history_documents = models.BigIntegerField(_("historical documents"), default=0)
    name_lengths = models.IntegerField(_("lengths of names, as bits"), default=0, db_default=0)  # of all that are or were here
    revision = models.BigIntegerField(_("projection revision"), default=0)
    rebuilt_at = models.DateTimeField(_("rebuilt"), default=clock.now)
    # Whose vectors answer for the namespace, and up to which revision it was embedded; empty while the lane is off here.
    embedder = models.CharField(_("embedder"), max_length=64, blank=True, default="", db_default="")
    embedded_revision = models.BigIntegerField(_("embedded up to revision"), default=0, db_default=0)

    governance: ClassVar = Governance(tenant="tenant", keeps=Keeps.INDEX, audited=Audited.PROJECTION, layer="lexical_index")

    class Meta:
        verbose_name = _("index state")
        verbose_name_plural = _("index states")
        constraints = (models.UniqueConstraint(fields=("tenant", "namespace_id"), name="index_state_once"),)

    def __str__(self) -> str:
        return f"{self.namespace_id} g{self.generation}"

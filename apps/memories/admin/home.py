"""What the home page says about memories: what waits for a person, how the memory is made up, and what was decided lately."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from apps.memories.admin.memories import SHOWN_STATES
from apps.memories.admin.words import DECISIONS
from apps.memories.models import Candidate, ConflictSet, Memory, MemoryType
from apps.tenants.console.cards import Card, any_at_all, register_card
from apps.tenants.console.charts import Bars, Days, register_bars, register_days
from apps.tenants.console.navigation import Area

register_card(
    Card(
        "conflicts",
        Area.REVIEW,
        _("Open conflicts"),
        "memories.ConflictSet",
        {"status__exact": ConflictSet.Status.OPEN.value},
        instant="created_at",
        attention=any_at_all,
        quiet=_("Nothing contradicts itself."),
    )
)
register_card(
    Card(
        "candidates",
        Area.REVIEW,
        _("Candidates to review"),
        "memories.Candidate",
        {"status__exact": Candidate.Status.PENDING_REVIEW.value},
        instant="created_at",
        attention=any_at_all,
        quiet=_("No proposal waits."),
    )
)
register_card(
    Card(
        "needs_review",
        Area.REVIEW,
        _("Memories to look at again"),
        "memories.Memory",
        {"state__exact": Memory.State.NEEDS_REVIEW.value},
        attention=any_at_all,
        quiet=_("None is due."),
    )
)

register_bars(
    Bars(
        "memories_by_state",
        _("Memories by state"),
        "memories.Memory",
        "state",
        SHOWN_STATES,
    )
)
register_bars(
    Bars(
        "memories_by_type",
        _("Active memories by type"),
        "memories.Memory",
        "memory_type",
        MemoryType.choices,
        {"state__exact": Memory.State.ACTIVE.value},
    )
)

register_days(
    Days(
        "decisions_by_day",
        _("Decisions about candidates, by day"),
        "memories.Candidate",
        "decision",
        DECISIONS,
        at="decided_at",
    )
)

"""Endpoints of promotions: asking for one, and reading how it stands. People decide in the console."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from apps.core.api.fields import choice, identifier, integer, text
from apps.core.api.openapi import IDEMPOTENCY_KEY, contract
from apps.core.api.responses import respond
from apps.core.api.schema import Body, Query
from apps.core.errors import FieldError
from apps.core.limits import LIMITS
from apps.memories.api.views import existence_first
from apps.memories.reviews.promotions import PromotionRequested, PromotionView, Target, read_promotion, request_promotion
from apps.tenants.api.views import AgentRequest, GovernedView

if TYPE_CHECKING:
    from django.http import HttpResponse


class PromotionIn(Body):
    """For whom a memory is to hold from now on, and why."""

    target: Target = choice(Target, help="git is not available in this installation.")
    target_id: str | None = identifier(default=None, help="The key of the project.")
    rationale: str = text(max_chars=2000, blank=False)
    expected_version: int = integer(minimum=1)
    reproduction: str | None = text(max_bytes=LIMITS.content_bytes, default=None, help="Belongs to target git.")

    def cross_check(self) -> Iterator[FieldError]:
        """See Body."""
        if self.reproduction is not None and self.target != Target.GIT:
            yield FieldError("/reproduction", "not_applicable", "A reproduction belongs to a promotion to Git.")


class MemoryPromotions(GovernedView):
    operation = {"POST": "promotions:request"}

    @contract(
        request=PromotionIn,
        answers={202: PromotionRequested},
        problems=(409, 410),
        headers=(IDEMPOTENCY_KEY,),
        summary="Ask that a memory hold for a project or for the organization",
    )
    def post(self, request: AgentRequest, memory_id: str) -> HttpResponse:
        with existence_first(request.access, memory_id):
            body = PromotionIn.parse(request)

        def effect() -> HttpResponse:
            done = request_promotion(
                request.access,
                memory_id,
                target=body.target,
                target_id=body.target_id,
                rationale=body.rationale,
                expected_version=body.expected_version,
            )
            return respond(done, status=202)

        return self.once(request, body, effect)


class PromotionById(GovernedView):
    operation = {"GET": "memory:read"}

    @contract(answers={200: PromotionView}, problems=(410,), summary="Read how a promotion stands")
    def get(self, request: AgentRequest, promotion_id: str) -> HttpResponse:
        Query.parse(request)
        return respond(read_promotion(request.access, promotion_id))

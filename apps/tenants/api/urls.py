"""Paths of this floor, mounted under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.tenants.api.identity import DelegationDetail, Delegations, WhoAmI

urlpatterns = [
    path("whoami", WhoAmI.as_view()),
    path("delegations", Delegations.as_view()),
    path("delegations/<str:delegation_id>", DelegationDetail.as_view()),
]

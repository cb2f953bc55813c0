"""Paths of the evidence floor."""

from __future__ import annotations

from django.urls import path

from apps.evidence.api.views import EventBatch, EventById, Events

urlpatterns = [
    path("memory-events", Events.as_view(), name="memory-events"),
    path("memory-events/batch", EventBatch.as_view(), name="memory-events-batch"),
    path("memory-events/<str:event_id>", EventById.as_view(), name="memory-event"),
]

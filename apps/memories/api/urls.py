"""Paths of the memories floor."""

from __future__ import annotations

from django.urls import path

from apps.memories.api import promotions, views

urlpatterns = [
    path("memory-candidates", views.Candidates.as_view(), name="memory-candidates"),
    path("memory-candidates/<str:candidate_id>", views.CandidateById.as_view(), name="memory-candidate"),
    path(
        "memory-candidates/<str:candidate_id>/withdraw", views.CandidateWithdrawal.as_view(), name="memory-candidate-withdrawal"
    ),
    path("memories", views.Memories.as_view(), name="memories"),
    path("memories/<str:memory_id>", views.MemoryById.as_view(), name="memory"),
    path("memories/<str:memory_id>/versions", views.MemoryVersions.as_view(), name="memory-versions"),
    path("memories/<str:memory_id>/confirm", views.MemoryConfirmation.as_view(), name="memory-confirmation"),
    path("memories/<str:memory_id>/withdraw", views.MemoryWithdrawal.as_view(), name="memory-withdrawal"),
    path("memories/<str:memory_id>/promotions", promotions.MemoryPromotions.as_view(), name="memory-promotions"),
    path("memory-promotions/<str:promotion_id>", promotions.PromotionById.as_view(), name="memory-promotion"),
    path("memory-conflicts", views.Conflicts.as_view(), name="memory-conflicts"),
    path("memory-conflicts/<str:conflict_id>", views.ConflictById.as_view(), name="memory-conflict"),
    path("memory-conflicts/<str:conflict_id>/resolutions", views.ConflictResolution.as_view(), name="memory-conflict-resolution"),
]

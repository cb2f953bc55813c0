"""Paths of the retention floor."""

from __future__ import annotations

from django.urls import path

from apps.retention.api.exports import SubjectExportArchive, SubjectExportDetail, SubjectExports
from apps.retention.api.views import Cancellations, Certificate, DeletionDetail, Deletions, Resumption

urlpatterns = [
    path("memory-deletions", Deletions.as_view(), name="memory-deletions"),
    path("memory-deletions/<str:job_id>", DeletionDetail.as_view(), name="memory-deletion"),
    path("memory-deletions/<str:job_id>/certificate", Certificate.as_view(), name="memory-deletion-certificate"),
    path("memory-deletions/<str:job_id>/resume", Resumption.as_view(), name="memory-deletion-resume"),
    path("memory-cancellations", Cancellations.as_view(), name="memory-cancellations"),
    path("subject-exports", SubjectExports.as_view(), name="subject-exports"),
    path("subject-exports/<str:export_id>", SubjectExportDetail.as_view(), name="subject-export"),
    path("subject-exports/<str:export_id>/archive", SubjectExportArchive.as_view(), name="subject-export-archive"),
]

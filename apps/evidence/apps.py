"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "apps.evidence"
    label = "evidence"

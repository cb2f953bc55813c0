"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "apps.memories"
    label = "memories"

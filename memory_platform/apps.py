"""Wires the floors together once all of them are loaded."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from django.apps import AppConfig, apps


class MemoryPlatformConfig(AppConfig):
    name = "memory_platform"

    def ready(self) -> None:
        """Load the console pages of our own apps; those of libraries are not part of the console."""
        for config in apps.get_app_configs():
            if config.name.startswith("apps.") and find_spec(f"{config.name}.admin") is not None:
                import_module(f"{config.name}.admin")

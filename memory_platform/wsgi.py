"""WSGI entry point."""

from __future__ import annotations

import os

from apps.core.api.wsgi import get_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_platform.settings")

application = get_application()

"""Nouns of floor 0."""

from apps.core.models.base import TenantOwned
from apps.core.models.rate_window import RateWindow

__all__ = ["RateWindow", "TenantOwned"]

"""Nouns of floor 0."""

from apps.core.models.base import TenantOwned

__all__ = ["TenantOwned"]

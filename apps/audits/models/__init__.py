"""Nouns of floor 2."""

from apps.audits.models.entries import AuditEntry

__all__ = ["AuditEntry"]

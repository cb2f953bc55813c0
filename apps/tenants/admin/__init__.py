"""Console pages of floor 1."""

from apps.tenants.admin import access, credentials, people, places

__all__ = ["access", "credentials", "people", "places"]

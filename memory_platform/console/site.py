"""The console's own admin site."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.utils.translation import gettext_lazy as _


class GovernanceAdminSite(AdminSite):
    site_title = _("Memory Platform")
    site_header = _("Memory Platform")
    index_title = _("Today")


console = GovernanceAdminSite(name="admin")

"""Downstream systems in the console: registering one, what each has answered, and what to do about one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import TextChoices
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.errors import ValidationFailed
from apps.retention.downstream.delivery import LONGEST_URL
from apps.retention.downstream.notices import give_up, try_again
from apps.retention.downstream.systems import KEEPERS, NameTaken, end_system, register_system
from apps.retention.models import DownstreamNotice, DownstreamSystem
from apps.tenants.admin.places import TenantAdmin
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section, by
from apps.tenants.console.row_pages import RowPage
from apps.tenants.console.site import console
from apps.tenants.models import Role

if TYPE_CHECKING:
    from django.http import HttpResponse

    from apps.tenants.access import Access
    from apps.tenants.models import Tenant

SEEN_BY = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})


class GiveUpReason(TextChoices):
    """Codes of the audit log."""

    SWITCHED_OFF = "switched_off", _("the system exists no more")
    TOLD_OTHERWISE = "told_otherwise", _("it was told in another way")
    NEVER_HELD = "never_held", _("it never held any of it")


class RegistrationForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=64, help_text=_("Letters, digits, - and _."))
    url = forms.CharField(
        label=_("Address"),
        max_length=LONGEST_URL,
        help_text=_("https, on the public network or a host that the operator has listed."),
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
    )


class EndForm(forms.Form):
    confirmation = forms.CharField(
        label=_("Type the name of the system to confirm"),
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"].strip()
        if typed != self.initial["name"]:
            raise forms.ValidationError(gettext("This is not the name of the system: %(name)s.") % {"name": self.initial["name"]})
        return typed


class TryAgainForm(forms.Form):
    """``attempts`` says what was looked at, so that a request without its form does nothing."""

    attempts = forms.IntegerField(widget=forms.HiddenInput)


class GiveUpForm(forms.Form):
    reason = forms.ChoiceField(label=_("Why"), choices=GiveUpReason)


class RegistrationPage(RowPage):
    key = "downstream"
    title = _("Register a downstream system")
    about = _(
        "It is told of every deletion from now on, in signed messages of ids and kinds, and a deletion waits until it has "
        "acknowledged. The secret that checks the signatures is shown once."
    )
    roles = KEEPERS
    form = RegistrationForm
    submit = _("Register")
    template = "console/downstream.html"
    refusals = {NameTaken: _("A system of this name is registered already.")}

    def act(self, access: Access, row: Tenant, said: dict[str, Any]) -> HttpResponse:  # noqa: ARG002 - the open tenant
        try:
            made = register_system(access, name=said["name"], url=said["url"])
        except ValidationFailed as wrong:
            form = self.form(self.request.POST)
            for error in wrong.errors:
                form.add_error(error.pointer.removeprefix("/"), gettext("This cannot be used: see the hint."))
            return self.shown(self.request, form)
        return self.shown(self.request, self.form(), made=made)


class EndPage(RowPage):
    key = "end"
    title = _("End the registration")
    about = _("It is told of no deletion that begins from now on. What it has not acknowledged stays open.")
    roles = KEEPERS
    form = EndForm
    submit = _("End it")
    dangerous = True

    def initial(self, row: DownstreamSystem) -> dict[str, Any]:
        return {"name": row.name}

    def offered(self, access: Access, row: DownstreamSystem) -> bool:
        return self.open_to(access) and row.ended_at is None

    def act(self, access: Access, row: DownstreamSystem, said: dict[str, Any]) -> HttpResponse:  # noqa: ARG002
        end_system(access, row.pk)
        return self.done(gettext("The registration has ended."))


class NoticePage(RowPage):
    roles = KEEPERS

    def offered(self, access: Access, row: DownstreamNotice) -> bool:
        return self.open_to(access) and row.state == DownstreamNotice.State.WAITING


class TryAgainPage(NoticePage):
    key = "retry"
    title = _("Try again")
    about = _("The message is sent with the next attempt of the deletion; a deletion that stands still goes on.")
    form = TryAgainForm
    submit = _("Try again")

    def initial(self, row: DownstreamNotice) -> dict[str, Any]:
        return {"attempts": row.attempts}

    def act(self, access: Access, row: DownstreamNotice, said: dict[str, Any]) -> HttpResponse:  # noqa: ARG002
        try_again(access, row.pk)
        return self.done(gettext("It is tried again."))


class GiveUpPage(NoticePage):
    key = "give_up"
    title = _("Give up")
    about = _("The deletion waits for this system no longer. Its certificate will name the system as a copy that remains.")
    form = GiveUpForm
    submit = _("Give up")
    dangerous = True

    def act(self, access: Access, row: DownstreamNotice, said: dict[str, Any]) -> HttpResponse:
        give_up(access, row.pk, reason_code=said["reason"])
        return self.done(gettext("The deletion waits for it no longer."))


TenantAdmin.row_pages = (*TenantAdmin.row_pages, RegistrationPage)


@admin.register(DownstreamSystem, site=console)
class DownstreamSystemAdmin(GovernedAdmin):
    roles = SEEN_BY
    area = Area.FORGETTING
    about = _("Other systems that hold copies, and are told of every deletion. A deletion waits until each has acknowledged.")
    when_empty = _("Register one on the page of the tenant, or with manage.py downstream.")
    hidden_fields = ("sealed_secret",)
    references = {"registered_by": "tenants.User"}
    list_display = ("name", "url", "registered_at", "last_tried_at", "last_answer", "ended_at")
    list_filter = ("ended_at",)
    search_fields = ("name",)
    search_help_text = _("A whole name.")
    ordering = ("-registered_at", "-id")
    row_pages = (EndPage,)
    sections = (
        Section(_("What it is"), ("name", "url", "registered_by", "registered_at", "ended_at")),
        Section(_("What it last said"), ("last_tried_at", "last_answer")),
    )
    related = (
        Related(
            _("What it was told"),
            "retention.DownstreamNotice",
            by("system"),
            ("job", "state", "attempts", "last_answer", "last_tried_at", "settled_at"),
        ),
    )


@admin.register(DownstreamNotice, site=console)
class DownstreamNoticeAdmin(GovernedAdmin):
    roles = SEEN_BY
    area = Area.RECORDS
    about = _("Each deletion told to each downstream system: sent again until it is acknowledged or given up.")
    when_empty = _("No deletion has been told to another system.")
    list_display = ("id", "system", "job", "state", "attempts", "last_answer", "last_tried_at", "next_try_at", "settled_at")
    list_filter = ("state",)
    linked_by = {"system": _("downstream system"), "job": _("deletion")}
    ordering = ("-id",)
    row_pages = (TryAgainPage, GiveUpPage)

    def label(self, row: DownstreamNotice) -> str:
        return f"msg_{row.pk.hex}"

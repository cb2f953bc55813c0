"""Logging in to the console."""

from __future__ import annotations

from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError

from apps.tenants.models import User


class SignInForm(AuthenticationForm):
    """For active people. An agent gets the answer of a wrong password: agents have no password, whatever their row says."""

    def confirm_login_allowed(self, user: User) -> None:
        super().confirm_login_allowed(user)
        if user.kind != User.Kind.PERSON:
            raise ValidationError(
                self.error_messages["invalid_login"], code="invalid_login", params={"username": self.username_field.verbose_name}
            )

"""The kit's own small API instead of the platform's paths."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from apps.core.api.configuration import REST_FRAMEWORK, SPECTACULAR_SETTINGS

ORDINARY = (
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
)


class Api:
    """Speaks JSON to the small API and expects that nothing it answers is a page."""

    def __init__(self, token: str | None = "good"):
        self.client = Client(raise_request_exception=False)
        self.token = token

    def send(self, method, path, body=None, *, content_type="application/json", **headers):
        sent = {"HTTP_AUTHORIZATION": f"Bearer {self.token}"} if self.token else {}
        data = body if isinstance(body, (bytes, str)) else b"" if body is None else json.dumps(body)
        return self.client.generic(method, f"/api/v1{path}", data, content_type=content_type, **sent, **headers)

    def post(self, path, body=None, **options):
        return self.send("POST", path, body, **options)

    def get(self, path, **options):
        return self.send("GET", path, **options)


def codes_at(response) -> dict[str, str]:
    """Pointer → code of a 422."""
    assert response.status_code == 422, response.content
    return {error["pointer"]: error["code"] for error in response.json()["errors"]}


@pytest.fixture
def small_api(settings, db):
    settings.ROOT_URLCONF = "tests.core.api_views"
    settings.REST_FRAMEWORK = {**REST_FRAMEWORK}
    settings.SPECTACULAR_SETTINGS = SPECTACULAR_SETTINGS
    settings.MIDDLEWARE = ["apps.core.api.boundary.ApiBoundary", "apps.core.api.security_headers.SecurityHeaders", *ORDINARY]
    return Api()


@pytest.fixture
def stranger(small_api):
    return Api(None)

"""A browser against a running server: Debian's Chromium, the product's own pages, real commits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.console.conftest import Busy
from tests.tenants.world import World

# Pictures of pages for people to look at; never compared, never committed.
SHOTS = Path(__file__).resolve().parent.parent.parent / "var" / "test" / "screenshots"
PATIENCE_MS = 15_000  # machines that run tests are busy
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    expect.set_options(timeout=PATIENCE_MS)
    # The driver keeps an event loop in this thread, which Django takes for asynchronous code.
    before, os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE"), "1"
    try:
        with sync_playwright() as driver:
            running = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            yield running
            running.close()
    finally:
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
        else:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


class Visitor:
    """Somebody with a browser window; whatever the browser complains about is kept in ``complaints``."""

    def __init__(self, context: BrowserContext, base: str, name: str) -> None:
        self.base = base
        self.name = name
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda trouble: self.complaints.append(str(trouble)))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and "status of 404" not in message.text and "status of 403" not in message.text:
            self.complaints.append(f"{self.page.url}: {message.text}")

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.base}{path}")
        return self.page

    def sign_in(self, world: World, role: str) -> None:
        username = f"{role}_{world.key}"
        self.open("/admin/")
        self.page.locator("#id_username").fill(username)
        self.page.locator("#id_password").fill(world.passwords[username])
        self.page.locator("#id_password").press("Enter")
        self.page.wait_for_url(f"{self.base}/admin/")

    def picture(self, of: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{self.name}-{of}.png", full_page=True)


@pytest.fixture
def visitor(browser: Browser, live_server: Any) -> Callable[..., Any]:
    @contextmanager
    def come(name: str, **settings: Any) -> Iterator[Visitor]:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-US", **settings})
        context.set_default_timeout(PATIENCE_MS)
        try:
            yield Visitor(context, live_server.url, name)
        finally:
            context.close()

    return come


@pytest.fixture
def busy(transactional_db: None) -> Busy:
    return Busy()

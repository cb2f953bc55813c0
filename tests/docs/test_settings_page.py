"""docs/settings.md is made from the code, and the code decides what must stand in it."""

from __future__ import annotations

import pytest

from memory_platform import settings_page
from memory_platform.settings_page import PAGE, PageError, read_settings, render


def test_the_page_is_that_of_the_code():
    assert PAGE.read_text(encoding="utf-8") == render()


def test_reads_are_found_in_each_of_their_spellings():
    environment, tenant = read_settings()
    assert environment["MEMORY_PLATFORM_HOME"].place == "memory_platform/home.py"  # os.environ.get(CONSTANT)
    assert environment["WEB_THREADS"].default == "8"  # os.environ.get("NAME", default)
    assert environment["DATABASE_POOL_SIZE"].default == "12"  # env.int("NAME", default=...)
    assert set(environment) >= settings_page.INTERNAL  # CONSTANT in os.environ
    assert tenant["trace_days"].place == "apps/retrieval/traces.py"


@pytest.mark.parametrize("table", ["LINES", "TENANT_LINES"])
def test_a_setting_without_a_line_and_a_line_without_a_setting_are_named(monkeypatch, table):
    lines = dict(getattr(settings_page, table))
    forgotten, _ = lines.popitem()
    monkeypatch.setattr(settings_page, table, {**lines, "NOBODY_READS_THIS": settings_page.Line("Nothing.")})
    with pytest.raises(PageError) as trouble:
        render()
    assert forgotten in str(trouble.value)
    assert "NOBODY_READS_THIS" in str(trouble.value)

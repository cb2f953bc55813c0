"""The console speaks English and Chinese, completely, from catalogues that are those of the sources."""

from __future__ import annotations

import re

import pytest

from tests.console.conftest import list_url, pages, visit
from tests.console.reading import words
from tests.messages import CATALOGUE, Message, _of_python, _of_template, compiled
from tests.translations import main, problems, unknown

# Words that stay as they are in every language.
PROPER = re.compile(
    r"Orchard|orchard|kiosk|lighthouse|English|UTC|SHA-256|API|Git|Idempotency-Key|manage\.py|worker|harbour|assistant"
)


def test_the_catalogues_are_complete_and_compiled():
    assert main() == 0
    assert CATALOGUE.with_suffix(".mo").read_bytes() == compiled(CATALOGUE.read_text(encoding="utf-8"))


def test_texts_are_found_in_python_and_in_templates():
    python = (
        'from django.utils.translation import gettext as _\nx = _("one") + ngettext("%(n)s cat", "%(n)s cats", 2) + other("no")'
    )
    assert set(_of_python(python)) == {Message("one"), Message("%(n)s cat", "%(n)s cats")}
    template = (
        '{% load i18n %}<a title="{% translate "It\'s" %}">{% blocktranslate count n=x %}{{ n }} row{% plural %}{{ n }} rows'
        "{% endblocktranslate %}{% blocktranslate trimmed with who=me %}\n  Hello\n  {{ who }}\n{% endblocktranslate %}</a>"
    )
    assert set(_of_template(template)) == {Message("It's"), Message("%(n)s row", "%(n)s rows"), Message("Hello %(who)s")}


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ('msgid "one"\nmsgstr ""', "no translation"),
        ('#, fuzzy\nmsgid "one"\nmsgstr "一"', "no translation"),
        ('msgid "%(n)s cats"\nmsgstr "%(m)s 只猫"', "placeholders"),
    ],
)
def test_what_is_wrong_with_an_entry_is_named(tmp_path, entry, complaint):
    file = tmp_path / "django.po"
    text = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n{entry}\n'
    file.write_text(text, encoding="utf-8")
    file.with_suffix(".mo").write_bytes(compiled(text))
    assert any(complaint in one for one in problems(file))


def test_a_text_that_nobody_translated_is_named(monkeypatch):
    monkeypatch.setattr("tests.messages.messages", lambda: {Message("nobody has said this before"): "apps/x.py"})
    assert any("nobody has said this before" in one for one in unknown())


def test_no_english_is_left_on_the_pages_in_chinese(world):
    client = visit(world, "owner")
    for page in pages():  # what is kept from page to page must not keep the language of the first
        client.get(list_url(page.model))
    client.post("/admin/language/", {"language": "zh-hans", "next": "/admin/"})
    left: dict[str, set[str]] = {}
    for path in ["/admin/", "/admin/password_change/", "/admin/nothing/", *[list_url(page.model) for page in pages()]]:
        text = client.get(path).content.decode()
        for part in re.findall(r"<(?:h1|h2|summary|caption|dt|button|th)[^>]*>([^<]+)<|class=\"(?:about|help)\">([^<]+)<", text):
            said = PROPER.sub("", words("".join(part))).strip()
            if re.search(r"[A-Za-z]{2,}", said) and re.search(r"[\u4e00-\u9fff]", said) is None and "_" not in said:
                left.setdefault(path, set()).add(said)
    assert left == {}

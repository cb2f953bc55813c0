"""The page of an archive: the same rows as in its JSON, for a person with a browser and nothing else.

It loads nothing and runs nothing, and says so to the browser (Content-Security-Policy). Everything that was ever said by somebody
is escaped, hidden characters are spelled out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.utils.html import escape

from apps.core.text import escape_hidden
from apps.retention.exports import spool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_TITLES: Final = {
    "pending_work": ("Work that waits", "等待中的处理"),
    "candidates": ("Proposals", "候选"),
    "versions": ("Memories, version by version", "记忆的各个版本"),
    "relations": ("What memories rest on, and how they are related", "记忆的依据与关系"),
    "lexical_index": ("Index entries", "索引条目"),
    "traces": ("Questions, and what was looked at for them", "提问及其检索记录"),
    "sources": ("What was said or seen", "原始事件"),
    "raw_archive": ("Preserved files", "保存的文件"),
    "dependants": ("What was made from it", "派生内容"),
    "git": ("Records in Git", "Git 中的记录"),
}
_HEAD: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">
<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}}
article{{border-top:1px solid #8888;padding:.75rem 0}} dl{{display:grid;grid-template-columns:12rem 1fr;gap:.15rem 1rem;margin:0}}
dt{{opacity:.7}} dd{{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}}
@media(max-width:40rem){{dl{{grid-template-columns:1fr}}}}
</style></head><body>
"""


def page(document: Mapping[str, Any], files: Mapping[str, Path]) -> Iterator[str]:
    """The page in pieces; files are read as it goes."""
    title = f"{document['subject']}: {document['export_id']}"
    yield _HEAD.format(title=_safe(title))
    yield f"<h1>{_safe(document['subject'])}</h1>\n<dl>"
    for name in ("export_id", "export_request_id", "reason", "as_of"):
        yield f"<dt>{_safe(name)}</dt><dd>{_safe(document[name])}</dd>"
    yield "</dl>\n<nav><ul>"
    for layer, count in document["rows"].items():
        yield f'<li><a href="#{_safe(layer)}">{_title(layer)}</a>: {int(count)}</li>'
    yield "</ul></nav>\n"
    for layer, file in files.items():
        yield f'<section id="{_safe(layer)}"><h2>{_title(layer)}</h2>\n'
        for row in spool.rows_of(file):
            yield f"<article><dl>{''.join(_shown(row))}</dl></article>\n"
        yield "</section>\n"
    yield "</body></html>\n"


def _shown(row: Mapping[str, Any]) -> Iterator[str]:
    for name, value in row.items():
        if value not in (None, "", [], {}):
            yield f'<dt>{_safe(name)}</dt><dd dir="auto">{_safe(value)}</dd>'


def _title(layer: str) -> str:
    english, chinese = _TITLES.get(layer, (layer, layer))
    return f'{_safe(english)} · <span lang="zh-Hans">{_safe(chinese)}</span>'


def _safe(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return escape(escape_hidden(text))

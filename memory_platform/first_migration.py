"""The migrations of an empty database, without drawing every model again for each of them.

Django keeps the models as classes while it migrates, and makes those around a model anew after every step that touches it:
three thousand classes for our migrations, most of the time of a first start. Two kinds of step need none of that, and they are
nearly all there are in an empty database. The statements are the same; a test holds the outcome equal to Django's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.core.management import call_command
from django.core.management.commands import migrate
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState

if TYPE_CHECKING:
    from django.db.migrations.state import ModelState


def migrate_empty_database() -> None:
    """``migrate``, for a database in which no migration was applied yet."""
    migrate.MigrationExecutor = _Executor  # type: ignore[attr-defined]
    try:
        call_command("migrate", interactive=False, verbosity=0)
    finally:
        migrate.MigrationExecutor = MigrationExecutor  # type: ignore[attr-defined]


class _State(ProjectState):
    def clone(self) -> _State:
        copy = super().clone()
        copy.__class__ = type(self)
        return cast("_State", copy)

    def add_model(self, model_state: ModelState) -> None:
        """A new model is made alone: those that it points to learn of it, and nothing points to it yet."""
        key = model_state.app_label, model_state.name_lower
        self.models[key] = model_state
        if self._relations is not None:  # type: ignore[attr-defined]
            self.resolve_model_relations(key)
        if "apps" in self.__dict__:
            self.apps.render_multiple([model_state])

    def _append_option(self, app_label: str, model_name: str, option_name: str, obj: Any) -> None:  # noqa: ANN401 - as in Django
        """A new index or constraint is made from a table and its fields, which it does not change."""
        state = self.models[app_label, model_name]
        state.options[option_name] = [*state.options[option_name], obj]


class _Executor(MigrationExecutor):
    def _create_project_state(self, with_applied_migrations: bool = False) -> ProjectState:  # noqa: ARG002, FBT001, FBT002
        return _State(real_apps=self.loader.unmigrated_apps)

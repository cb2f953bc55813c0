"""gunicorn's own lines in the form of all others: a failed request or a worker that does not start is told without its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gunicorn.glogging import Logger

from memory_platform.operations.logs import JsonLines

if TYPE_CHECKING:
    from gunicorn.config import Config


class JsonLogger(Logger):  # type: ignore[misc]
    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonLines())

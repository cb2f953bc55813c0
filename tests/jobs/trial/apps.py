from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

from django.apps import AppConfig


class TrialConfig(AppConfig):
    name = "tests.jobs.trial"
    label = "trial"

    def ready(self) -> None:
        from apps.jobs.registry import JobRun, job_handler
        from apps.tenants.transactions import tenant_transaction

        folder = Path(os.environ["TRIAL_FOLDER"])

        @job_handler("trial", lease=timedelta(seconds=2), max_attempts=3)
        def trial(run: JobRun) -> None:
            """Waits while a file ``hold`` is there, in the middle of its transaction; its effect is one step of the revision."""
            with tenant_transaction(run.access) as tx:
                run.complete()
                tx.next_revision()
                (folder / f"{run.key}.{run.attempt}").write_text(str(os.getpid()))
                while (folder / "hold").exists():
                    time.sleep(0.02)

        @job_handler("moody", max_attempts=5)
        def moody(run: JobRun) -> None:
            """Fails while a file ``sulk`` is there."""
            if (folder / "sulk").exists():
                raise ValueError((folder / "sulk").read_text())
            trial(run)

"""Which backups there are: registered before they are begun, named in the ledger, deleted when they expire (design/05)."""

from __future__ import annotations

import errno
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
from django.conf import settings
from django.db import transaction

from apps.core import clock
from apps.core.ids import new_id
from apps.retention.ledger.records import note
from apps.retention.models import Backup, LedgerRecord

if TYPE_CHECKING:
    from uuid import UUID

log = structlog.get_logger(__name__)

LONGEST_DAYS: Final = 3653
_MARK: Final = 12  # digits of its key in the name of a backup's folder
_UNFINISHED_FOR: Final = timedelta(days=1)  # by then whoever made it is dead
_CLOCK_MAY_DIFFER: Final = timedelta(minutes=5)


def keep_days() -> int:
    """Days until a backup expires, within one day and ten years whatever the setting says: none is for ever."""
    return max(1, min(int(settings.BACKUP_KEEP_DAYS), LONGEST_DAYS))


def register_backup(directory: Path, *, days: int) -> Backup:
    """Note a backup that is about to be made below a folder, so that nothing of it can be left behind unknown."""
    now, key = clock.now(), new_id()
    location = directory / f"memory-platform-{now:%Y%m%dT%H%M%SZ}-{key.hex[-_MARK:]}"
    with transaction.atomic():
        backup = Backup.objects.create(id=key, made_at=now, expires_at=now + timedelta(days=days), location=str(location))
        note(LedgerRecord.Kind.BACKUP_BEGUN, backup.id)
    return backup


def finish_backup(backup: Backup, *, size: int, sha256: str) -> None:
    """Note that a backup is whole. ``sha256`` is that of its manifest."""
    backup.finished_at, backup.size, backup.sha256 = clock.now(), size, sha256
    with transaction.atomic():
        backup.save(update_fields=["finished_at", "size", "sha256"])
        note(LedgerRecord.Kind.BACKUP_MADE, backup.id)


def unregister_backup(backup_id: UUID) -> None:
    """Forget a backup whose files are gone."""
    with transaction.atomic():
        if Backup.objects.filter(pk=backup_id).delete()[0]:
            note(LedgerRecord.Kind.BACKUP_REMOVED, backup_id)


def expired_backups() -> list[Backup]:
    """Those past their end, and those that were never finished."""
    now = clock.now()
    over = Backup.objects.filter(expires_at__lte=now)
    never = Backup.objects.filter(finished_at=None, made_at__lt=now - _UNFINISHED_FOR)
    return list((over | never).order_by("made_at"))


def remove_expired() -> int:
    """Delete expired backups with their files; one whose files cannot be deleted stays on the list. Returns how many went."""
    removed = 0
    for backup in expired_backups():
        try:
            _remove(Path(backup.location), backup)
        except OSError as trouble:
            log.warning("backup_not_removed", backup=str(backup.id), error=trouble.strerror or type(trouble).__name__)
            continue
        unregister_backup(backup.id)
        removed += 1
    return removed


def newest_age() -> timedelta | None:
    """The age of the newest finished backup; None where there is none. A backup of the future is as old as the clock is wrong."""
    newest = Backup.objects.exclude(finished_at=None).order_by("-made_at").values_list("made_at", flat=True).first()
    if newest is None:
        return None
    age = clock.now() - newest
    return age if age >= -_CLOCK_MAY_DIFFER else -age


def backup_standing() -> str:
    """``none``, ``ok``, or ``stale``: the newest is older than BACKUP_MAX_AGE_HOURS."""
    age = newest_age()
    if age is None:
        return "none"
    return "ok" if age <= timedelta(hours=settings.BACKUP_MAX_AGE_HOURS) else "stale"


def _remove(folder: Path, backup: Backup) -> None:
    """Only a folder that is named after this backup: the list of a restored database may name places of long ago.

    Raises OSError, also when the disk it was on is not there: then nobody knows that it is gone.
    """
    if not folder.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if folder.name.endswith(backup.id.hex[-_MARK:]) and folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)

"""A trace keeps what its query was asked with, so that it can be asked again. Older traces stay without: nothing is made up for them."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("retrieval", "0003_names")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="retrievaltrace",
            name="asked",
            field=models.JSONField(
                blank=True, db_default=models.Value({}, models.JSONField()), default=dict, verbose_name="asked with"
            ),
        ),
    ]

"""Names get postings of their own. Indexes made before are rebuilt (their analysis version differs), so none is filled here."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

LAYERS = [(0, "current"), (1, "history"), (2, "names"), (3, "names of history")]


class Migration(migrations.Migration):
    dependencies: ClassVar = [("retrieval", "0002_triage_and_adoptions")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="indexstate",
            name="name_lengths",
            field=models.IntegerField(db_default=0, default=0, verbose_name="lengths of names, as bits"),
        ),
        migrations.AlterField(
            model_name="posting",
            name="layer",
            field=models.PositiveSmallIntegerField(choices=LAYERS, verbose_name="layer"),
        ),
        migrations.AlterField(
            model_name="termstat",
            name="layer",
            field=models.PositiveSmallIntegerField(choices=LAYERS, verbose_name="layer"),
        ),
    ]

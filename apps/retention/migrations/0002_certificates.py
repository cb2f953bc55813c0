import django.db.models.deletion
from django.db import migrations, models

import apps.core.clock
import apps.core.ids
from apps.core.row_security import ProtectTable


class Migration(migrations.Migration):
    dependencies = [
        ("retention", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeletionCertificate",
            fields=[
                ("id", models.UUIDField(default=apps.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("document", models.JSONField(verbose_name="document")),
                ("signature", models.CharField(max_length=88, verbose_name="signature")),
                ("key_id", models.CharField(max_length=64, verbose_name="signed with key")),
                ("issued_at", models.DateTimeField(default=apps.core.clock.now, verbose_name="issued")),
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="certificate",
                        to="retention.deletionjob",
                        verbose_name="deletion",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        editable=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "deletion certificate",
                "verbose_name_plural": "deletion certificates",
            },
        ),
        ProtectTable("retention_deletioncertificate"),
    ]

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.AlterField(
            model_name="credential",
            name="operations",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("delegate", "delegate"),
                        ("events:write", "send events"),
                        ("candidates:write", "propose memories"),
                        ("memory:read", "read memories"),
                        ("memory:write", "revise memories"),
                        ("memory:delete", "erase memories"),
                        ("promotions:request", "request promotions"),
                        ("traces:read", "read traces"),
                        ("raw:read", "read raw text"),
                        ("conflicts:resolve", "resolve conflicts"),
                        ("deletions:resume", "resume deletions"),
                        ("subjects:export", "export what is held about a subject"),
                    ],
                    max_length=32,
                ),
                size=None,
                verbose_name="operations",
            ),
        ),
        migrations.AlterField(
            model_name="delegation",
            name="operations",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("delegate", "delegate"),
                        ("events:write", "send events"),
                        ("candidates:write", "propose memories"),
                        ("memory:read", "read memories"),
                        ("memory:write", "revise memories"),
                        ("memory:delete", "erase memories"),
                        ("promotions:request", "request promotions"),
                        ("traces:read", "read traces"),
                        ("raw:read", "read raw text"),
                        ("conflicts:resolve", "resolve conflicts"),
                        ("deletions:resume", "resume deletions"),
                        ("subjects:export", "export what is held about a subject"),
                    ],
                    max_length=32,
                ),
                size=None,
                verbose_name="operations",
            ),
        ),
    ]

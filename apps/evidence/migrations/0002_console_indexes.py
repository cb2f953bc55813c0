from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0001_initial"),
        ("retention", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="sourceevent",
            index=models.Index(fields=["tenant", "source_type", "id"], name="event_by_type"),
        ),
    ]

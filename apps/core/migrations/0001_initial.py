from django.db import migrations

from apps.core.row_security import CreateAppRole


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        CreateAppRole(),
    ]

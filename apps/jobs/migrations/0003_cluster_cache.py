from django.db import migrations


class Migration(migrations.Migration):
    """The cache in which django-q2 keeps its statistics (CACHES["cluster"]), as ``createcachetable`` would make it.

    Not logged: it is written every second, read by workers only, and worth nothing after a crash.
    """

    dependencies = [
        ("jobs", "0002_initial"),
    ]

    operations = [
        migrations.RunSQL(
            sql=[
                """CREATE UNLOGGED TABLE memory_platform_cluster_cache (
                       cache_key varchar(255) NOT NULL PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL)""",
                "CREATE INDEX memory_platform_cluster_cache_expires ON memory_platform_cluster_cache (expires)",
            ],
            reverse_sql="DROP TABLE memory_platform_cluster_cache",
        ),
    ]

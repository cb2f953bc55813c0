"""Settings of the test suite: the product's own, in a home folder of its own.

``var/test`` is kept between runs, so the server and the migrated template are made once; every run gets databases of its own
(tests/databases.py), so several runs can share the folder at the same time.
"""

import os
from pathlib import Path

os.environ["MEMORY_PLATFORM_HOME"] = str(Path(__file__).resolve().parent.parent / "var" / "test")

from memory_platform.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # many made-up people, none worth a slow hash
LEDGER_FOLDER = HOME / "ledger" / str(os.getpid())  # noqa: F405 - each process has databases of its own, so a ledger as well

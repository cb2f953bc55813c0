"""Settings of a real worker process that works on a test's database with handlers of the tests."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES, INSTALLED_APPS

DATABASES["default"]["NAME"] = os.environ["TRIAL_DATABASE"]
INSTALLED_APPS = [*INSTALLED_APPS, "tests.jobs.trial"]

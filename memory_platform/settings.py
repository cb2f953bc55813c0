"""Settings, all from the environment, each with a safe default. ``docs/settings.md`` lists them."""

from __future__ import annotations

from pathlib import Path

import environ

from apps.core.api import configuration
from memory_platform.database_url import database_of
from memory_platform.embedded.places import database_settings
from memory_platform.home import home_folder, instance_secret
from memory_platform.operations.logs import logging_config

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

# -- where things live and who we are -------------------------------------------------------------------------------

HOME = home_folder()
SECRET_KEY = env.str("SECRET_KEY", default="") or instance_secret("secret_key")
# The secret half of the key pair that signs deletion certificates.
CERTIFICATE_KEY = env.str("CERTIFICATE_KEY", default="") or instance_secret("certificate_key")
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]", "testserver"])

# What was revoked and what is held, outside of the database; see docs/operations.md.
LEDGER_FOLDER = HOME / "ledger"
LEDGER_COPY = env.str("LEDGER_COPY", default="")
BACKUP_KEEP_DAYS = env.int("BACKUP_KEEP_DAYS", default=30)
BACKUP_MAX_AGE_HOURS = env.int("BACKUP_MAX_AGE_HOURS", default=26)

# -- applications ----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "memory_platform",
    "apps.core",
    "apps.tenants",
    "apps.audits",
    "apps.jobs",
    "apps.retention",
    "apps.evidence",
    "apps.memories",
    "apps.retrieval",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "guardian",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_q",
]

MIDDLEWARE = [
    "apps.core.api.boundary.ApiBoundary",
    "memory_platform.operations.middleware.RequestLog",
    "apps.core.api.security_headers.SecurityHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "apps.tenants.console.middleware.ConsoleTenant",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "memory_platform.urls"
WSGI_APPLICATION = "memory_platform.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# -- database --------------------------------------------------------------------------------------------------------

# Empty: the embedded PostgreSQL under HOME, which manage.py starts and stops (memory_platform/embedded).
DATABASE_URL = env.str("DATABASE_URL", default="")
DATABASES = {"default": database_of(DATABASE_URL) if DATABASE_URL else database_settings(HOME)}
DATABASES["default"].update(
    {
        "ENGINE": "django.db.backends.postgresql",
        "ATOMIC_REQUESTS": False,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            **DATABASES["default"].get("OPTIONS", {}),
            "pool": {"min_size": 1, "max_size": env.int("DATABASE_POOL_SIZE", default=12), "timeout": 10},
            "application_name": "memory-platform",
        },
    }
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- the API ---------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    **configuration.REST_FRAMEWORK,
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.tenants.api.authentication.CredentialAuthentication"],
}
SPECTACULAR_SETTINGS = {**configuration.SPECTACULAR_SETTINGS, "VERSION": "1.0.0"}

# -- people ----------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend", "guardian.backends.ObjectPermissionBackend"]
ANONYMOUS_USER_NAME = None
GUARDIAN_MONKEY_PATCH_USER = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Addresses under which people open the console behind a front server. When all are https, cookies travel over HTTPS alone.
CONSOLE_ORIGINS = env.list("CONSOLE_ORIGINS", default=[])
_HTTPS_ONLY = bool(CONSOLE_ORIGINS) and all(origin.startswith("https://") for origin in CONSOLE_ORIGINS)
CSRF_TRUSTED_ORIGINS = CONSOLE_ORIGINS
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
SESSION_COOKIE_AGE = 8 * 60 * 60  # seconds: a working day
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _HTTPS_ONLY
CSRF_COOKIE_HTTPONLY = True  # forms carry the token; no script reads it
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = _HTTPS_ONLY
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = _HTTPS_ONLY
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# -- language and time -----------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
# The web process serves the packages' own files; only a front server that reads them itself needs them collected.
WHITENOISE_USE_FINDERS = True
STATIC_ROOT = env.str("STATIC_ROOT", default="") or None

# -- background work: django-q2 is a doorbell, the settings that make it safe are checked at start -----------------------

Q_CLUSTER = {
    "name": "memory-platform",
    "orm": "default",
    "workers": env.int("WORKER_PROCESSES", default=1),
    "queue_limit": 1,
    "bulk": 1,
    "max_attempts": 1,
    "ack_failures": True,
    "timeout": 300,
    "retry": 900,
    "poll": 0.2,
    "guard_cycle": 1,
    "recycle": 500,
    "save_limit": -1,  # 0 would keep every ring
    "scheduler": False,
    "cache": "cluster",
    "label": "Doorbell",
}
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Cluster statistics must be seen by every process, so they live in the database.
    "cluster": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "memory_platform_cluster_cache"},
}

# -- extractors: who reads events. One that asks a server outside reads only for tenants that allow it -------------------

EXTRACTORS = env.list("EXTRACTORS", default=["rules"])
OPENAI_COMPATIBLE = {
    "url": env.str("OPENAI_COMPATIBLE_URL", default=""),
    "model": env.str("OPENAI_COMPATIBLE_MODEL", default=""),
    "key": env.str("OPENAI_COMPATIBLE_KEY", default=""),
    "seconds": env.int("OPENAI_COMPATIBLE_SECONDS", default=30),
    "input_tokens": env.int("OPENAI_COMPATIBLE_INPUT_TOKENS", default=8000),
    "output_tokens": env.int("OPENAI_COMPATIBLE_OUTPUT_TOKENS", default=2000),
    "answer_bytes": env.int("OPENAI_COMPATIBLE_ANSWER_BYTES", default=262144),
    "options": env.json("OPENAI_COMPATIBLE_OPTIONS", default={"temperature": 0}),
    "allow_http": env.bool("OPENAI_COMPATIBLE_ALLOW_HTTP", default=False),
}

# -- the semantic lane: off unless an embedder is named, and then for tenants that allow it ------------------------------

SEMANTIC_EMBEDDER = env.str("SEMANTIC_EMBEDDER", default="")
SEMANTIC_MILLISECONDS = env.int("SEMANTIC_MILLISECONDS", default=400)
EMBEDDINGS = {
    "url": env.str("EMBEDDINGS_URL", default=""),
    "model": env.str("EMBEDDINGS_MODEL", default=""),
    "dimension": env.int("EMBEDDINGS_DIMENSION", default=1536),
    "near": env.int("EMBEDDINGS_NEAR", default=0),
    "key": env.str("EMBEDDINGS_KEY", default=""),
    "seconds": env.int("EMBEDDINGS_SECONDS", default=30),
    "allow_http": env.bool("EMBEDDINGS_ALLOW_HTTP", default=False),
}

# -- downstream systems: who is told of deletions -----------------------------------------------------------------------

# Host names that may lie on a private network, and may be spoken to without TLS.
DOWNSTREAM_INTERNAL_HOSTS = env.list("DOWNSTREAM_INTERNAL_HOSTS", default=[])

# -- watching --------------------------------------------------------------------------------------------------------

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
LOGGING = logging_config(LOG_LEVEL)
LOGGING_CONFIG = "memory_platform.operations.logs.configure"
# Lets a scraper on another machine read /api/v1/metrics (Authorization: Bearer ...). Empty: only this machine may.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")

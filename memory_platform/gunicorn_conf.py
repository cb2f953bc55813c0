"""The web server as code: one process, a few threads, small limits, no request text in its log.

``manage.py serve`` hands over an open socket with ``--bind fd://N``, so a web process that is started again loses no connection.
"""

from __future__ import annotations

import os

bind = "127.0.0.1:8000"
wsgi_app = "memory_platform.wsgi:application"
workers = 1
worker_class = "memory_platform.web_worker.WebWorker"  # threads
# One CPU-bound process: more threads would only wait for each other. The database pool is a little larger (settings.py).
threads = int(os.environ.get("WEB_THREADS", "8"))
worker_connections = 512
backlog = 512

timeout = 60  # seconds without a sign of life before the process is replaced
graceful_timeout = 5  # seconds that requests in hand have to be answered after the signal to stop
keepalive = 30

limit_request_line = 8190
limit_request_fields = 64
limit_request_field_size = 8190  # a delegation token fits many times over

# Requests are logged by the application, without query strings; see LOGGING in settings.py.
accesslog = None
errorlog = "-"
logger_class = "memory_platform.operations.gunicorn_log.JsonLogger"
loglevel = "warning"

# Neither a socket in the user's home folder nor a second process to control this one.
control_socket_disable = True
preload_app = False


def post_worker_init(_worker: object) -> None:
    """The tokenizer is loaded before the first question needs it."""
    from apps.retrieval.tokenizers import counter  # noqa: PLC0415 - the application is loaded by now, not before

    counter("o200k_base")

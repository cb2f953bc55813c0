"""The web server as code: one process, a few threads, small limits, no request text in its log.

``manage.py serve`` hands over an open socket with ``--bind fd://N``, so a web process that is started again loses no connection.
"""

from __future__ import annotations

import logging
import os
import signal

bind = "127.0.0.1:8000"
wsgi_app = "memory_platform.wsgi:application"
workers = 1
worker_class = "gthread"
# One CPU-bound process: more threads would only wait for each other. The database pool is a little larger (settings.py).
threads = int(os.environ.get("WEB_THREADS", "8"))
worker_connections = 512
backlog = 512

timeout = 60  # seconds without a sign of life before the process is replaced
graceful_timeout = 5
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


def when_ready(_server: object) -> None:
    """Ctrl-C reaches the whole foreground group; ``serve`` alone acts on it and asks us to stop in an orderly way."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _quote_no_requests()


def post_worker_init(_worker: object) -> None:
    """The same for the process that answers requests; the tokenizer is loaded before the first question needs it."""
    from apps.retrieval.tokenizers import counter  # noqa: PLC0415 - the application is loaded by now, not before

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _quote_no_requests()
    counter("o200k_base")


class _NoRequestText(logging.Filter):
    """gunicorn quotes a broken request line and the address of a failed request; both can hold private text."""

    def filter(self, record: logging.LogRecord) -> bool:
        if str(record.msg).startswith(("Invalid request", "Error handling request")):
            kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "malformed"
            record.msg, record.args, record.exc_info, record.exc_text = f"a request was refused ({kind})", (), None, None
        return True


def _quote_no_requests() -> None:
    logger = logging.getLogger("gunicorn.error")
    if not any(isinstance(existing, _NoRequestText) for existing in logger.filters):
        logger.addFilter(_NoRequestText())

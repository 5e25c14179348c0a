"""The log on standard error: text lines for people on a terminal, JSON objects for machines."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

_OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""Attributes that every record has; any other was passed as `extra`."""


_ABOUT: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("_ABOUT", default=())
"""Fields that say what the current work is about; each asyncio task has its own."""


class LogFormat(StrEnum):
    """Format of log lines."""

    TEXT = "text"
    JSON = "json"


def configure_logging(log_format: LogFormat, *, level: int = logging.INFO) -> None:
    """Send all log records of the process to standard error in one format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if log_format is LogFormat.JSON else _Text())
    logging.basicConfig(level=level, handlers=[handler], force=True)


def log_about(**fields: str) -> None:
    """Add fields to all lines that this asyncio task logs from now on.

    Fields with an empty value are left out.
    """
    given = {name: value for name, value in fields.items() if value}
    _ABOUT.set(tuple((dict(_ABOUT.get()) | given).items()))


@contextmanager
def logged_about(**fields: str) -> Iterator[None]:
    """Add fields to all lines that this asyncio task logs inside a `with` block."""
    before = _ABOUT.get()
    log_about(**fields)
    try:
        yield
    finally:
        _ABOUT.set(before)


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    own = {name: value for name, value in vars(record).items() if name not in _OWN}
    return dict(_ABOUT.get()) | own


class _Text(logging.Formatter):
    """Text lines such as `05:12:30.123 INFO hub.cache: message run=x cluster=y`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        plain = (f"{name}={value}" for name, value in _extras(record).items() if _simple(value))
        return " ".join([super().formatMessage(record), *plain])


class _JsonLines(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in _extras(record).items() if _simple(value)},
        }
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _simple(value: object) -> bool:
    # Temporal adds a dictionary of its own to records from workflows and activities.
    return isinstance(value, str | int | float | bool)

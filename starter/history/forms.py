"""The formats in which a run's history is printed."""

from enum import StrEnum


class Form(StrEnum):
    """Output format of a history."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"

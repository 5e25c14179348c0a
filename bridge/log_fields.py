"""Log fields that name the run in every log line of the bridge about a run."""

from contextlib import AbstractContextManager

from hub import Key
from telemetry import logged_about


def logged_about_run(key: Key) -> AbstractContextManager[None]:
    """Add the run to all log lines inside the `with` block."""
    namespace, name = key
    return logged_about(namespace=namespace, run=name)

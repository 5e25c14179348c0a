"""Lets every line that the bridge logs about a run say which run it is."""

from contextlib import AbstractContextManager

from hub import Key
from telemetry import logged_about


def logged_about_run(key: Key) -> AbstractContextManager[None]:
    """Name the run in what is logged meanwhile."""
    namespace, name = key
    return logged_about(namespace=namespace, run=name)

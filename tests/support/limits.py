"""Generous time limits for the clients of tests, and for short limits of the product."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from types import ModuleType

import pytest

from hub import Limits

PATIENT = Limits(connect_timeout=timedelta(seconds=30), request_timeout=timedelta(seconds=60))
"""For tests that expect an answer: they wait for a server that hangs for some seconds."""


def lifted(module: ModuleType, name: str, limit: object) -> Callable[..., Iterator[None]]:
    """Return a fixture that makes all tests of a module wait longer for a busy server."""

    @pytest.fixture(scope="module", autouse=True)
    def patient() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as process:
            process.setattr(module, name, limit)
            yield

    return patient

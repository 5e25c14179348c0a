"""Limits of the clients by which tests look and write, and of the product where those are short."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from types import ModuleType

import pytest

from hub import Limits

PATIENT = Limits(connect_timeout=timedelta(seconds=30), request_timeout=timedelta(seconds=60))
"""For whoever expects an answer: a server that stands still for some seconds is waited for."""


def lifted(module: ModuleType, name: str, limit: object) -> Callable[..., Iterator[None]]:
    """Return a fixture that has all tests of a module wait longer for a busy server."""

    @pytest.fixture(scope="module", autouse=True)
    def patient() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as process:
            process.setattr(module, name, limit)
            yield

    return patient

"""The engine on real servers, and a check of its log."""

import logging
from collections.abc import Iterator
from random import Random

import hypothesis
import pytest
from temporalio.exceptions import FailureError

from hub import HubError
from tests.inputs.workflow_tasks import SLOW
from tests.workflows.conftest import engine, placement, temporal

__all__ = ["engine", "placement", "temporal"]


FEW = 50
"""Maximum number of examples of the default profile."""


@pytest.fixture
def amount() -> int:
    """The number of examples to try, from the hypothesis profile."""
    assert hypothesis.settings.default is not None, "a profile is loaded"
    return hypothesis.settings.default.max_examples


@pytest.fixture
def random(amount: int) -> Random:
    """A random generator with a fixed seed or, in a campaign, a random seed, which is printed."""
    seed = 0 if amount <= FEW else Random().randrange(2**32)
    print(f"seed {seed}, {amount} examples")  # noqa: T201 - to repeat a failure with
    return Random(seed)


@pytest.fixture
def no_tracebacks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test in which a worker or the bridge logged an unexpected error."""
    with caplog.at_level(logging.WARNING):
        yield
    found = [each for each in caplog.get_records("call") if _is_defect(each)]
    assert not found, [each.getMessage()[:2000] for each in found]


def _is_defect(record: logging.LogRecord) -> bool:
    if "Failed deserializing" in record.getMessage():
        return False  # a message that is dropped, with a log line
    error = record.exc_info[1] if record.exc_info else None
    if error is None or isinstance(error, FailureError | HubError):
        return False
    return not str(error).startswith(SLOW)  # the task is retried

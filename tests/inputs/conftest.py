"""The engine on real servers, and what it writes into its log."""

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
"""Examples of the profile that is loaded without being asked for."""


@pytest.fixture
def amount() -> int:
    """How many examples to try: as many as the profile of hypothesis says."""
    assert hypothesis.settings.default is not None, "a profile is loaded"
    return hypothesis.settings.default.max_examples


@pytest.fixture
def random(amount: int) -> Random:
    """The same for each pull request; another one, which is printed, in a campaign."""
    seed = 0 if amount <= FEW else Random().randrange(2**32)
    print(f"seed {seed}, {amount} examples")  # noqa: T201 - to repeat a failure with
    return Random(seed)


@pytest.fixture
def no_tracebacks(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test in which a worker or the bridge met what it had not foreseen."""
    with caplog.at_level(logging.WARNING):
        yield
    found = [each for each in caplog.get_records("call") if _is_defect(each)]
    assert not found, [each.getMessage()[:2000] for each in found]


def _is_defect(record: logging.LogRecord) -> bool:
    if "Failed deserializing" in record.getMessage():
        return False  # a message that is dropped, and said to be
    error = record.exc_info[1] if record.exc_info else None
    if error is None or isinstance(error, FailureError | HubError):
        return False
    return not str(error).startswith(SLOW)  # the step is taken again

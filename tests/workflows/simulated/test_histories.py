"""History is counted here as Temporal writes it: compared with a recorded run on real servers."""

from collections import Counter
from typing import Final

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory

from tests.workflows.record import HISTORIES, NEW_AFTER
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import stage

RELEASE: Final = "0.1.0"
"""Of the recorded run; it is kept for ever."""


def recorded(name: str) -> tuple[Counter[str], int]:
    """Events of a recorded execution by type, and its size in bytes."""
    text = (HISTORIES / RELEASE / f"{name}.json").read_text()
    events = WorkflowHistory.from_json(name, text).events
    types = (EventType.Name(each.event_type).removeprefix("EVENT_TYPE_") for each in events)
    return Counter(types), sum(each.ByteSize() for each in events)


@pytest.mark.parametrize("execution", [0, 1], ids=["first", "second"])
def test_a_run_leaves_the_history_that_it_left_on_real_servers(
    begin: Begin, execution: int
) -> None:
    run = begin(
        *(stage(each, each) for each in ("six", "seven", "eight")),
        takes=0.1,
        searchable=True,
        limits=Limits(suggest_events=NEW_AFTER),
    )
    run.outcome()
    counted = run.temporal.executions[execution].history
    real, size = recorded(f"long-{execution + 1}")
    assert counted.by_type == real
    # The names of things are longer there, and bytes of events are means.
    assert counted.size == pytest.approx(size, rel=0.25)

"""The simulated history matches a run recorded on real servers."""

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
"""Release of the recorded run, which is kept forever."""
TASK: Final = ("WORKFLOW_TASK_SCHEDULED", "WORKFLOW_TASK_STARTED", "WORKFLOW_TASK_COMPLETED")


def recorded(name: str) -> tuple[Counter[str], int]:
    """Return the number of events by type, and the size in bytes, of a recorded execution."""
    text = (HISTORIES / RELEASE / f"{name}.json").read_text()
    events = WorkflowHistory.from_json(name, text).events
    types = (EventType.Name(each.event_type).removeprefix("EVENT_TYPE_") for each in events)
    return Counter(types), sum(each.ByteSize() for each in events)


@pytest.mark.parametrize("execution", [0, 1], ids=["first", "second"])
def test_a_simulated_run_has_the_same_history_as_on_real_servers(
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
    # On real servers, what arrives within a millisecond may share a workflow task.
    for kind in TASK:
        assert counted.by_type.pop(kind) == pytest.approx(real.pop(kind), abs=1)
    assert counted.by_type == real
    # The recorded names are longer, and the simulated bytes of events are averages.
    assert counted.size == pytest.approx(size, rel=0.25)

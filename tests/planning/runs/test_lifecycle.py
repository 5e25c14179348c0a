"""Requests that a run accepts, and its answers (contract: update-runs 2.1)."""

import pytest

from api.reasons import ConditionType, RunReason
from api.runs import ClusterStagedUpdateRun, RunState, UpdateRunSpec
from planning import conditions
from planning.runs import lifecycle
from tests.planning.run_samples import NOW

INITIALIZE, RUN, STOP = RunState.INITIALIZE, RunState.RUN, RunState.STOP


@pytest.mark.parametrize(
    ("current", "wanted"),
    [(INITIALIZE, RUN), (RUN, STOP), (STOP, RUN), (RUN, RUN), (STOP, STOP)],
)
def test_a_run_can_be_started_stopped_and_resumed(current: RunState, wanted: RunState) -> None:
    assert lifecycle.refusal(current, wanted, run="v2", ended=False) is None


def test_a_run_that_never_started_cannot_be_stopped() -> None:
    assert lifecycle.refusal(INITIALIZE, STOP, run="v2", ended=False) == (
        "run v2 was never started, so there is nothing to stop; start it, or delete it"
    )


@pytest.mark.parametrize("current", RunState)
@pytest.mark.parametrize("wanted", [RUN, STOP])
def test_an_ended_run_accepts_no_request(current: RunState, wanted: RunState) -> None:
    assert lifecycle.refusal(current, wanted, run="v2", ended=True) == (
        "run v2 has ended and cannot be changed; create a new run"
    )


@pytest.mark.parametrize(
    ("wanted", "in_flight", "told"),
    [
        (RUN, 0, "run v2 is running"),
        (RUN, 2, "run v2 is running"),
        (STOP, 0, "run v2 is stopped"),
        (STOP, 1, "run v2 is stopping: it waits for 1 cluster in flight and starts no other"),
        (STOP, 7, "run v2 is stopping: it waits for 7 clusters in flight and starts no other"),
    ],
)
def test_a_request_is_answered_with_its_effect(wanted: RunState, in_flight: int, told: str) -> None:
    assert lifecycle.answer(wanted, run="v2", in_flight=in_flight) == told


INITIALIZED, PROGRESSING = ConditionType.INITIALIZED, ConditionType.PROGRESSING
SUCCEEDED = ConditionType.SUCCEEDED


@pytest.mark.parametrize(
    ("state", "said", "active"),
    [
        (INITIALIZE, [], False),
        (INITIALIZE, [(INITIALIZED, "True", RunReason.INITIALIZED)], False),
        (RUN, [], True),
        (RUN, [(INITIALIZED, "False", RunReason.INITIALIZE_FAILED)], False),
        (RUN, [(PROGRESSING, "True", RunReason.PROGRESSING)], True),
        (RUN, [(PROGRESSING, "False", RunReason.STUCK)], True),
        (RUN, [(PROGRESSING, "False", RunReason.STOPPED)], True),
        (RUN, [(SUCCEEDED, "True", RunReason.SUCCEEDED)], False),
        (RUN, [(SUCCEEDED, "False", RunReason.FAILED)], False),
        (STOP, [], False),
        (STOP, [(PROGRESSING, "True", RunReason.PROGRESSING)], True),
        (STOP, [(PROGRESSING, "Unknown", RunReason.STOPPING)], True),
        (STOP, [(PROGRESSING, "False", RunReason.STUCK)], True),
        (STOP, [(PROGRESSING, "False", RunReason.STOPPED)], False),
    ],
)
def test_a_run_is_active_while_it_may_change_clusters_without_a_request(
    state: RunState, said: list[tuple[ConditionType, str, str]], active: bool
) -> None:
    spec = UpdateRunSpec(placement_name="p", staged_rollout_strategy_name="s", state=state)
    run = ClusterStagedUpdateRun(spec=spec)
    run.status.conditions = [
        conditions.make(kind, status, reason, "", generation=1, now=NOW)
        for kind, status, reason in said
    ]
    assert lifecycle.is_active(run) is active
    run.metadata.deletion_timestamp = NOW
    assert not lifecycle.is_active(run)

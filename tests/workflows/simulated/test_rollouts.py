"""Runs from plan to success."""

from planning.runs.phases import Phase
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import stage


def test_a_run_updates_stage_after_stage_and_succeeds(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), stage("two", "c"), takes=10)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.handed_out == run.updated == ["a", "b", "c"]
    assert run.hub.phases == [Phase.PLANNED, Phase.RUNNING, Phase.SUCCEEDED]

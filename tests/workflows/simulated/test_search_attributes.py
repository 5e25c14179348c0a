"""Finding runs in Temporal by state and stage."""

from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage
from tests.workflows.simulated.virtual_executions import UPSERTED

MOST_CHANGES = 8
"""For a run with one stage: planned, running, waiting, running, timed wait, running, ended."""


def where(run: SimulatedRun) -> tuple[str, str]:
    """Return state and stage as recorded in Temporal."""
    found = run.temporal.search_attributes
    return found["FleetgateState"], found["FleetgateStage"]


def test_a_run_is_found_by_its_state_and_stage(begin: Begin) -> None:
    run = begin(stage("prod", "a", before_stage_tasks=[APPROVAL]), takes=10, searchable=True)
    run.until_asked("v2-before-prod")
    assert where(run) == ("waiting", "prod")
    run.approve("v2-before-prod")
    run.until_handed_out("a")
    run.until_phase(Phase.RUNNING)
    assert where(run) == ("running", "prod")
    run.outcome()
    assert where(run) == ("succeeded", "")


def test_the_number_of_changes_does_not_depend_on_the_number_of_clusters(begin: Begin) -> None:
    changes = []
    for clusters in (2, 60):
        run = begin(stage("one", *many(clusters)), takes=10, searchable=True)
        run.outcome()
        changes.append(run.temporal.execution.history.by_type[UPSERTED])
    assert changes[0] == changes[1] < MOST_CHANGES


def test_a_run_works_without_search_attributes(begin: Begin) -> None:
    run = begin(stage("one", "a"), takes=10)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.temporal.search_attributes == {}

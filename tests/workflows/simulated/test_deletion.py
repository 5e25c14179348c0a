"""The deletion stage: clusters that are no longer picked are removed after all other stages."""

from planning.runs.phases import Phase
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_hub import binding
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage


def deletion(run: SimulatedRun) -> list[str]:
    """Return the reasons of the deletion stage's conditions."""
    found = run.status.deletion_stage_status
    assert found is not None
    return [each.reason for each in found.conditions]


def test_clusters_are_removed_after_all_stages_and_all_at_once(begin: Begin) -> None:
    leaving = tuple(many(40))
    run = begin(stage("one", "x"), stage("two", "y"), leaving=leaving)
    run.until_handed_out("x")
    run.report("x")
    run.until_handed_out("y")
    run.wait(60)
    assert run.activities.removed == []
    assert deletion(run) == []

    run.report("y")
    run.until(lambda: len(run.activities.removed) == 40, "all are being removed")
    assert run.activities.removed == list(leaving)
    assert run.activities.in_flight == set(leaving)
    run.report(*leaving[1:])
    run.wait(60)
    assert run.phase is Phase.RUNNING
    run.report(leaving[0])
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert deletion(run) == ["StageUpdatingSucceeded"] * 2


def test_a_cluster_that_is_already_gone_counts_as_removed(begin: Begin) -> None:
    run = begin(stage("one", "x"), leaving=("a", "b"))
    run.until_handed_out("x")
    del run.hub.bindings["a"]
    run.report("x")
    run.until(lambda: run.activities.removed == ["a", "b"], "both are to be removed")
    run.report("b")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_with_nothing_to_remove_the_stage_succeeds_at_once(begin: Begin) -> None:
    run = begin(stage("one", "x"), takes=10)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert deletion(run) == ["StageUpdatingSucceeded"] * 2
    assert run.activities.removed == []


def test_a_run_that_only_removes_clusters_succeeds(begin: Begin) -> None:
    run = begin(stage("one"), leaving=("a",), takes=10)
    run.until(lambda: run.activities.removed == ["a"], "it is to be removed")
    run.changed()
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_removal_that_takes_long_is_not_reported_as_stuck(begin: Begin) -> None:
    run = begin(stage("one", "x"), leaving=("a",), takes=lambda name: 10 if name == "x" else 4000)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert Phase.STUCK not in run.hub.phases


def test_a_binding_that_comes_back_after_its_removal_fails_the_stage(begin: Begin) -> None:
    run = begin(stage("one", "x"), leaving=("a", "b"))
    run.until_handed_out("x")
    run.report("x")
    run.until(lambda: run.activities.removed == ["a", "b"], "both are being removed")
    run.report("a")
    run.wait(5)
    run.hub.bindings["a"] = binding("a", state="Unscheduled")
    run.changed()
    assert run.outcome().reason == "UpdateRunFailed"
    assert "the deleted cluster `a` in the deleting stage still has a binding" in (
        run.succeeded.message
    )
    assert deletion(run)[-1] == "StageUpdatingFailed"

"""Checking the run again when something that it depends on has changed."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from api.applying import ApplyType
from planning.runs.facts import PlacementFact
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_hub import binding
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows.guard import MOST_PATIENCE, SECOND_LOOK

Deed = Callable[[SimulatedRun], None]


def without_placement(run: SimulatedRun) -> None:
    run.hub.placement = None


def with_another_apply_strategy(run: SimulatedRun) -> None:
    assert run.hub.placement is not None
    other = run.hub.placement.apply_strategy.model_copy(
        update={"type": ApplyType.SERVER_SIDE_APPLY}
    )
    run.hub.placement = run.hub.placement.model_copy(update={"apply_strategy": other})


def rolling_by_itself(run: SimulatedRun) -> None:
    assert run.hub.placement is not None
    run.hub.placement = PlacementFact(
        strategy_type="RollingUpdate", apply_strategy=run.hub.placement.apply_strategy
    )


def with_a_newer_policy(run: SimulatedRun) -> None:
    run.hub.policy = run.hub.policy.model_copy(update={"name": "web-1", "index": "1"})
    run.hub.bindings = {name: binding(name, policy="web-1") for name in run.hub.bindings}


def with_a_further_cluster(run: SimulatedRun) -> None:
    run.hub.clusters["z"] = run.hub.clusters["a"].model_copy(update={"name": "z"})
    run.hub.bindings["z"] = binding("z")


def without_a_cluster(run: SimulatedRun) -> None:
    del run.hub.bindings["b"]


def with_a_cluster_in_another_stage(run: SimulatedRun) -> None:
    moved = run.hub.clusters["b"].model_copy(update={"labels": {"stage": "two"}})
    run.hub.clusters["b"] = moved


VIOLATIONS = [
    (without_placement, "parent placement not found"),
    (with_another_apply_strategy, "the applyStrategy in the updateRun is outdated"),
    (rolling_by_itself, "does not have an external rollout strategy"),
    (with_a_newer_policy, "the policy snapshot index used in the updateRun is outdated"),
    (with_a_further_cluster, "the number of clusters in index `0` stage has changed"),
    (without_a_cluster, "the number of clusters in index `0` stage has changed"),
    (with_a_cluster_in_another_stage, "clusters are not placed in any stage"),
]


@pytest.fixture
def under_way(begin: Begin) -> SimulatedRun:
    """A run with one of two clusters in flight."""
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.wait(5)
    return run


@pytest.mark.parametrize(("change", "text"), VIOLATIONS)
def test_a_change_that_invalidates_the_plan_ends_the_run(
    under_way: SimulatedRun, change: Deed, text: str
) -> None:
    change(under_way)
    under_way.changed()
    assert under_way.outcome().reason == "UpdateRunFailed"
    assert text in under_way.succeeded.message
    assert under_way.activities.handed_out == ["a"]
    # The stage itself has not failed.
    assert [each.type for each in under_way.stage().conditions] == ["Progressing"]


def test_a_change_that_does_not_affect_the_plan_makes_no_difference(
    under_way: SimulatedRun,
) -> None:
    surveys = under_way.activities.attempts["survey"]
    under_way.changed()
    under_way.report("a")
    under_way.until_handed_out("b")
    assert under_way.activities.attempts["survey"] == surveys + 1
    under_way.report("b")
    assert under_way.outcome().reason == "UpdateRunSucceeded"


def test_only_a_fault_found_by_two_checks_ends_the_run(under_way: SimulatedRun) -> None:
    surveys = under_way.activities.attempts["survey"]
    without_placement(under_way)
    under_way.changed()
    begun_at = under_way.timeline.now
    under_way.until_phase(Phase.FAILED)
    assert under_way.activities.attempts["survey"] == surveys + 2
    between = under_way.timeline.now - begun_at
    assert SECOND_LOOK < between < SECOND_LOOK + timedelta(milliseconds=500)


def test_a_fault_that_is_gone_at_the_second_check_does_not_count(under_way: SimulatedRun) -> None:
    before = under_way.hub.placement
    without_placement(under_way)
    under_way.changed()
    under_way.wait(0.5)
    under_way.hub.placement = before
    under_way.wait(60)
    under_way.report("a")
    under_way.until_handed_out("b")


def test_nothing_new_starts_while_a_change_is_being_checked(under_way: SimulatedRun) -> None:
    under_way.activities.takes["survey"] = 20
    under_way.changed()
    under_way.wait(1)
    under_way.report("a")
    under_way.wait(15)
    assert under_way.updated == ["a"]
    assert under_way.activities.handed_out == ["a"]
    under_way.until_handed_out("b")


def test_a_change_during_a_check_is_checked_too(under_way: SimulatedRun) -> None:
    under_way.activities.takes["survey"] = 5
    under_way.changed()
    under_way.wait(5.02)
    without_placement(under_way)
    under_way.changed()
    assert under_way.outcome().reason == "UpdateRunFailed"


def test_a_change_ends_a_run_that_waits_at_a_gate(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.until_asked("v2-before-one")
    without_placement(run)
    run.changed()
    assert run.outcome().reason == "UpdateRunFailed"
    assert run.stage().conditions[0].reason == "StageUpdatingWaiting"


# -- changes that others have not finished -------------------------------------------------


def half_way(run: SimulatedRun) -> None:
    run.hub.bindings["b"] = binding("b", policy="web-old")


def test_nothing_new_starts_while_others_are_half_way_through_a_change(
    under_way: SimulatedRun,
) -> None:
    half_way(under_way)
    under_way.changed()
    under_way.report("a")
    under_way.wait(3600)
    assert under_way.updated == ["a"]
    assert under_way.activities.handed_out == ["a"]
    assert under_way.phase is Phase.RUNNING

    under_way.hub.bindings["b"] = binding("b")
    under_way.changed()
    under_way.wait(1)
    assert under_way.activities.handed_out == ["a", "b"]


def test_checks_of_an_unfinished_change_become_less_frequent(under_way: SimulatedRun) -> None:
    surveys = under_way.activities.attempts["survey"]
    half_way(under_way)
    under_way.changed()
    under_way.wait(24 * 3600)
    looks = under_way.activities.attempts["survey"] - surveys
    by_most_patience = timedelta(days=1) / MOST_PATIENCE
    assert by_most_patience - 1 < looks < by_most_patience + 10


def test_the_end_of_an_unfinished_change_is_noticed_without_a_message(
    under_way: SimulatedRun,
) -> None:
    half_way(under_way)
    under_way.changed()
    under_way.report("a")
    under_way.wait(60)
    under_way.hub.bindings["b"] = binding("b")
    under_way.wait(MOST_PATIENCE.total_seconds())
    assert under_way.activities.handed_out == ["a", "b"]


def test_a_run_is_planned_only_after_others_have_finished_their_change(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    half_way(run)
    run.wait(60)
    assert run.phase is None

    run.hub.bindings["b"] = binding("b")
    run.until_handed_out("a")
    # Temporal retries the survey without a trace in history.
    assert run.temporal.execution.history.activities["survey"] == 1


# -- while the run is stopped --------------------------------------------------------------


def test_a_stopped_run_is_not_checked_until_it_is_resumed(under_way: SimulatedRun) -> None:
    under_way.stop()
    under_way.report("a")
    under_way.until_phase(Phase.STOPPED)
    surveys = under_way.activities.attempts["survey"]
    without_placement(under_way)
    under_way.changed()
    under_way.wait(3600)
    assert under_way.activities.attempts["survey"] == surveys
    assert under_way.phase is Phase.STOPPED

    under_way.resume()
    assert under_way.outcome().reason == "UpdateRunFailed"
    assert under_way.activities.handed_out == ["a"]


def test_a_fault_that_is_fixed_while_stopped_does_not_count(under_way: SimulatedRun) -> None:
    under_way.stop()
    under_way.report("a")
    under_way.until_phase(Phase.STOPPED)
    before = under_way.hub.placement
    without_placement(under_way)
    under_way.changed()
    under_way.wait(60)
    under_way.hub.placement = before
    under_way.resume()
    under_way.until_handed_out("b")


def test_a_resumed_run_is_checked_even_without_a_message(under_way: SimulatedRun) -> None:
    under_way.stop()
    under_way.report("a")
    under_way.until_phase(Phase.STOPPED)
    without_placement(under_way)
    under_way.resume()
    assert under_way.outcome().reason == "UpdateRunFailed"
    assert under_way.activities.handed_out == ["a"]


def test_a_stop_that_completes_between_two_checks_leaves_the_decision_to_the_resume(
    under_way: SimulatedRun,
) -> None:
    without_placement(under_way)
    under_way.changed()
    under_way.wait(0.5)
    under_way.stop()
    under_way.report("a")
    under_way.wait(60)
    assert under_way.phase is Phase.STOPPED

    under_way.resume()
    assert under_way.outcome().reason == "UpdateRunFailed"


def test_a_stop_that_waits_for_a_cluster_does_not_postpone_the_decision(
    under_way: SimulatedRun,
) -> None:
    under_way.stop()
    under_way.until_phase(Phase.STOPPING)
    without_placement(under_way)
    under_way.changed()
    assert under_way.outcome().reason == "UpdateRunFailed"
    assert under_way.activities.handed_out == ["a"]

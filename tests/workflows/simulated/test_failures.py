"""Runs that cannot be initialized, and runs that fail because of a cluster."""

import asyncio

import pytest

from planning.identity import RunRef
from planning.runs import run_events
from planning.runs.facts import ClusterFact
from planning.runs.phases import Phase
from tests.planning.run_samples import both_scopes
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.sdk_instance import TaskFailedError
from tests.workflows.simulated.simulated_hub import binding
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows import calls

INVALID = "cannot continue the updateRun: failed to validate the updateRun: "
USER = "failed to process the request due to a client error: "


# -- runs that cannot be initialized -------------------------------------------------------


def refused(run: SimulatedRun) -> str:
    """Return the message with which a run could not be initialized."""
    assert run.outcome().reason == "UpdateRunInitializedFailed"
    (initialized,) = run.status.conditions
    assert (initialized.type, initialized.status) == ("Initialized", "False")
    assert run.activities.handed_out == []
    return initialized.message


def test_a_run_without_its_placement_is_refused(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.hub.placement = None
    assert refused(run) == INVALID + USER + "parent placement not found"


@both_scopes
def test_a_run_without_its_strategy_is_refused(begin: Begin, run: RunRef, ns: str) -> None:
    refused_run = begin(stage("one", "a"), ref=run)
    refused_run.hub.strategy = None
    text = f"referenced updateStrategy not found: `{ns}/slow`"
    assert refused(refused_run) == INVALID + USER + text


def test_a_run_of_a_missing_snapshot_is_refused_and_shows_its_plan(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.hub.snapshots = []
    text = "no resourceSnapshots with index `1` found for placement `/web`"
    assert refused(run) == INVALID + USER + text
    assert [each.cluster_name for each in run.stage().clusters] == ["a"]
    assert run.status.resource_snapshot_index_used == ""


def test_a_cluster_without_a_stage_is_named(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.hub.clusters["b"] = ClusterFact(name="b")
    run.hub.bindings["b"] = binding("b")
    text = "some clusters are not placed in any stage, total 1, showing up to 10: b"
    assert refused(run) == INVALID + USER + text


# -- clusters taken by others --------------------------------------------------------------


@both_scopes
def test_a_cluster_that_another_run_takes_fails_the_run_and_its_stage(
    begin: Begin, run: RunRef, ns: str
) -> None:
    failed = begin(stage("one", "a", "b"), stage("two", "c"), ref=run)
    failed.until_handed_out("a")
    failed.take("a")
    assert failed.outcome().reason == "UpdateRunFailed"

    reference = f"{ns}/web-a" if ns else "web-a"
    text = (
        f"{USER}the binding of the updating cluster `a` in the stage `one` is not up-to-date "
        f"with the desired status, please check the status of binding `{reference}` and see if "
        "there is a concurrent updateRun referencing the same placement and updating the same "
        "cluster"
    )
    assert failed.succeeded.message == f"cannot continue the updateRun: {text}"
    cluster = failed.stage().clusters[0].conditions[-1]
    assert (cluster.status, cluster.reason, cluster.message) == (
        "False",
        "ClusterUpdatingFailed",
        text,
    )
    of_stage = failed.stage().conditions[-1]
    assert (of_stage.reason, of_stage.message) == (
        "StageUpdatingFailed",
        failed.succeeded.message,
    )
    assert failed.activities.handed_out == ["a"]
    assert failed.stage(1).conditions == []


def test_after_a_cluster_has_failed_no_other_is_started(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c", "d", max_concurrency=2))
    run.until_handed_out("a", "b")
    run.take("a")
    run.report("b")
    assert run.outcome().reason == "UpdateRunFailed"
    run.wait(3600)
    assert run.activities.handed_out == ["a", "b"]
    assert [each.conditions for each in run.stage().clusters[2:]] == [[], []]


def test_clusters_that_are_taken_together_are_reported_together(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c", max_concurrency=2))
    run.until_handed_out("a", "b")
    run.take("a", "b")
    run.outcome()
    assert "cluster `a`" in run.succeeded.message
    assert "cluster `b`" in run.succeeded.message
    assert run.activities.handed_out == ["a", "b"]


def test_a_cluster_taken_while_stopping_fails_the_run(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.take("a")
    assert run.outcome().reason == "UpdateRunFailed"
    assert run.stage().clusters[0].conditions[-1].reason == "ClusterUpdatingFailed"


def test_a_change_that_ends_a_run_ends_it_even_while_it_is_stopping(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.hub.placement = None
    run.changed()
    assert run.outcome().reason == "UpdateRunFailed"
    assert run.succeeded.message.endswith("parent placement not found")


def test_a_change_while_a_run_is_stopped_ends_it_when_it_is_resumed(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.stop()
    run.report("a")
    run.until_phase(Phase.STOPPED)
    run.hub.placement = None
    run.changed()
    run.wait(60)
    assert run.phase is Phase.STOPPED

    run.resume()
    assert run.outcome().reason == "UpdateRunFailed"


def test_a_binding_that_was_replaced_before_its_turn_is_written_under_its_new_name(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    renamed = run.hub.bindings["b"].model_copy(update={"name": "web-b-again"})
    run.hub.bindings["b"] = renamed
    run.changed()
    run.wait(5)
    run.report("a")
    run.until_handed_out("b")
    run.wait(1)
    assert run.activities.written["b"].binding == "web-b-again"


# -- defects ---------------------------------------------------------------------------------


def test_a_background_task_that_fails_fails_the_workflow_task(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(stage("one", "a"), replays=False)
    run.until_handed_out("a")

    def fail(*_: object, **__: object) -> None:
        raise LookupError("a defect of a keeper")

    monkeypatch.setattr(run_events, "since", fail)
    run.report("a")
    with pytest.raises(TaskFailedError, match="a defect of a keeper"):
        run.temporal.to_end()


async def test_a_workflow_that_is_evicted_from_memory_waits_for_nothing() -> None:
    over = asyncio.Event()

    async def waits() -> None:
        await over.wait()

    whole = calls.supervised(waits(), [asyncio.create_task(waits())])
    whole.send(None)
    # The garbage collector does the same to a workflow whose worker is gone.
    whole.close()
    over.set()

"""A run fixes each cluster's overrides when it is planned."""

import pytest

from api.runs import RunState
from planning.overrides.matching import ClusterOverrides
from planning.runs.phases import Phase
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage


def overrides(cluster: str, *names: str) -> ClusterOverrides:
    return ClusterOverrides(cluster=cluster, cluster_resource=list(names))


@pytest.fixture
def planned(begin: Begin) -> SimulatedRun:
    """A run that was planned with overrides which have changed since."""
    run = begin(
        stage("one", "a", "b"),
        stage("two", "c"),
        leaving=("x",),
        state=RunState.INITIALIZE,
        takes=10,
        limits=Limits(suggest_events=20),
    )
    run.hub.overrides = [overrides("a", "ro-0", "cro-0"), overrides("c", "ro-0")]
    run.until_phase(Phase.PLANNED)
    run.hub.overrides = [overrides("a", "ro-1"), overrides("b", "ro-1"), overrides("x", "ro-1")]
    return run


def test_the_planned_overrides_are_in_the_status(planned: SimulatedRun) -> None:
    noted = {
        each.cluster_name: each.cluster_resource_override_snapshots
        for stage in planned.status.stages_status
        for each in stage.clusters
    }
    assert noted == {"a": ["ro-0", "cro-0"], "b": [], "c": ["ro-0"]}
    deletion = planned.status.deletion_stage_status
    assert deletion is not None
    assert deletion.clusters[0].cluster_resource_override_snapshots == []


def test_clusters_get_the_planned_overrides_even_after_stops_and_in_new_executions(
    planned: SimulatedRun,
) -> None:
    planned.resume()
    planned.until_handed_out("a")
    planned.stop()
    planned.until_phase(Phase.STOPPED)
    planned.resume()
    assert planned.outcome().reason == "UpdateRunSucceeded"
    assert len(planned.temporal.executions) > 1
    written = {
        cluster: request.desired.cluster_resource_overrides
        for cluster, request in planned.activities.written.items()
    }
    assert written == {"a": ["ro-0", "cro-0"], "b": [], "c": ["ro-0"]}

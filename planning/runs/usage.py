"""Snapshots that are still in use and must not be pruned.

contract: placement 4, 5 and 9 (how many are kept)
"""

from collections.abc import Iterable, Iterator
from typing import Any

from api.runs import ClusterStatus, UpdateRun
from planning.placements.snapshotting import master_name
from planning.runs import phases

Json = dict[str, Any]
Named = tuple[str, str]
"""Namespace and name; without a namespace for cluster-scoped kinds."""


def policy_snapshots(runs: Iterable[UpdateRun], *, placement: str) -> frozenset[str]:
    """Return the names of policy snapshots that runs of a placement were planned from."""
    indexes = {
        each.status.policy_snapshot_index_used
        for each in runs
        if each.spec.placement_name == placement and not phases.has_ended(each.status)
    }
    return frozenset(f"{placement}-{index}" for index in indexes if index)


def resource_snapshots(
    bindings: Iterable[Json], runs: Iterable[UpdateRun], *, placement: str
) -> frozenset[str]:
    """Return the names of master snapshots that a placement's bindings or runs use."""
    bound = {each["spec"].get("resourceSnapshotName", "") for each in bindings}
    indexes = {
        each.status.resource_snapshot_index_used or each.spec.resource_snapshot_index
        for each in runs
        if each.spec.placement_name == placement and not phases.has_ended(each.status)
    }
    return frozenset(bound | {master_name(placement, index) for index in indexes if index})


def override_snapshots(bindings: Iterable[Json], runs: Iterable[UpdateRun]) -> frozenset[Named]:
    """Return the override snapshots of both kinds that bindings or runs use."""
    found: set[Named] = set()
    for binding in bindings:
        spec = binding["spec"]
        found |= {("", each) for each in spec.get("clusterResourceOverrideSnapshots", [])}
        resource = spec.get("resourceOverrideSnapshots", [])
        found |= {(each["namespace"], each["name"]) for each in resource}
    for cluster in _clusters(each for each in runs if not phases.has_ended(each.status)):
        found |= {("", each) for each in cluster.cluster_resource_override_snapshots}
        found |= {(each.namespace, each.name) for each in cluster.resource_override_snapshots}
    return frozenset(found)


def _clusters(runs: Iterable[UpdateRun]) -> Iterator[ClusterStatus]:
    for run in runs:
        for stage in run.status.stages_status:
            yield from stage.clusters

"""Snapshots that are still in use and must not be pruned.

contract: placement 4, 5 and 9 (how many are kept)
"""

from collections.abc import Iterable, Iterator
from typing import Any

from api.reasons import ConditionType
from api.runs import ClusterStatus, UpdateRun
from planning import conditions
from planning.placements.snapshotting import master_name

Json = dict[str, Any]
Named = tuple[str, str]
"""Namespace and name; without a namespace for cluster-scoped kinds."""


def is_under_way(run: UpdateRun) -> bool:
    """Return whether a run may still roll something out: a stopped run may be resumed.

    A run that could not be planned has ended.
    """
    if conditions.has(run.status.conditions, ConditionType.INITIALIZED, "False"):
        return False
    ended = conditions.find(run.status.conditions, ConditionType.SUCCEEDED)
    return ended is None or ended.status not in ("True", "False")


def policy_snapshots(runs: Iterable[UpdateRun], *, placement: str) -> frozenset[str]:
    """Return the names of policy snapshots that runs of a placement were planned from."""
    indexes = {
        each.status.policy_snapshot_index_used
        for each in runs
        if each.spec.placement_name == placement and is_under_way(each)
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
        if each.spec.placement_name == placement and is_under_way(each)
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
    for cluster in _clusters(each for each in runs if is_under_way(each)):
        found |= {("", each) for each in cluster.cluster_resource_override_snapshots}
        found |= {(each.namespace, each.name) for each in cluster.resource_override_snapshots}
    return frozenset(found)


def _clusters(runs: Iterable[UpdateRun]) -> Iterator[ClusterStatus]:
    for run in runs:
        for stage in run.status.stages_status:
            yield from stage.clusters

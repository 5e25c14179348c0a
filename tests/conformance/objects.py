"""What other software writes on a hub, as plain objects: placement, snapshots, bindings, members.

Labels and annotations are spelled out, apart from the product's own constants.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

PARENT = "kubernetes-fleet.io/parent-CRP"
LATEST = "kubernetes-fleet.io/is-latest-snapshot"
POLICY_INDEX = "kubernetes-fleet.io/policy-index"
RESOURCE_INDEX = "kubernetes-fleet.io/resource-index"
RESOURCE_HASH = "kubernetes-fleet.io/resource-hash"
NUMBER_OF_CLUSTERS = "kubernetes-fleet.io/number-of-clusters"
NUMBER_OF_SNAPSHOTS = "kubernetes-fleet.io/number-of-resource-snapshots"
SUBINDEX = "kubernetes-fleet.io/subindex-of-resource-snapshot"
TARGET_RUN = "kubernetes-fleet.io/targetUpdateRun"
DELETION_STAGE = "kubernetes-fleet.io/deleteStage"
RUN_FINALIZER = "kubernetes-fleet.io/stagedupdaterun-finalizer"

PICK_ALL: Json = {"placementType": "PickAll"}
APPLY_DEFAULTS: Json = {
    "comparisonOption": "PartialComparison",
    "type": "ClientSideApply",
    "whenToApply": "Always",
    "whenToTakeOver": "Always",
}
APPROVAL: Json = {"type": "Approval"}


def timed_wait(time: str) -> Json:
    """A task that waits after a stage."""
    return {"type": "TimedWait", "waitTime": time}


def stage(name: str = "one", /, **fields: Any) -> Json:
    """A stage of the clusters that are labelled with its name."""
    return {"name": name, "labelSelector": {"matchLabels": {"stage": name}}, **fields}


def policy_spec(policy: Json | None) -> Json:
    """The spec of a policy snapshot; without a policy all clusters are picked."""
    return ({"policy": policy} if policy else {}) | {"policyHash": "aGFzaA=="}


def binding_spec(*, cluster: str, policy: str, state: str) -> Json:
    """The spec of a binding as the scheduler leaves it."""
    return {
        "state": state,
        "resourceSnapshotName": "",
        "schedulingPolicySnapshotName": policy,
        "targetCluster": cluster,
        "clusterDecision": {"clusterName": cluster, "selected": True, "reason": "by hand"},
    }


def member(name: str, labels: Mapping[str, str]) -> Json:
    """A member cluster."""
    identity = {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
    return {"metadata": {"name": name, "labels": dict(labels)}, "spec": {"identity": identity}}


def stage_of(run: Json, index: int) -> Json:
    """A stage of a run's status; -1 is the deletion stage."""
    status = run["status"]
    found: Json = status["deletionStageStatus"] if index < 0 else status["stagesStatus"][index]
    return found


def cluster_names(run: Json, index: int = 0) -> list[str]:
    """Names of the clusters of a stage, in order."""
    return [each["clusterName"] for each in stage_of(run, index)["clusters"]]


def types_of(part: Json) -> list[str]:
    """Types of all conditions, in order."""
    return [each["type"] for each in part.get("status", part).get("conditions", [])]


def first(items: Sequence[Json], name: str) -> Json:
    """The cluster entry of a name."""
    return next(each for each in items if each["clusterName"] == name)

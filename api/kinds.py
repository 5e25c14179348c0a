"""The kinds of object that fleetgate reads and writes, and how the two scopes pair them.

contract: update-runs (pairing table), placement 1
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of Kubernetes object, as the API server serves it."""

    group: str
    """API group; empty for the core group."""
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """`group/version`, or just the version for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        """URL path under which the API server serves the group and version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def __str__(self) -> str:
        return self.kind


PLACEMENT_GROUP: Final = "placement.kubernetes-fleet.io"
CLUSTER_GROUP: Final = "cluster.kubernetes-fleet.io"
VERSION: Final = "v1beta1"
FLEETGATE_GROUP: Final = "fleetgate.dev"
"""Of what fleetgate adds to KubeFleet's objects."""
FLEETGATE_VERSION: Final = "v1alpha1"


def _cluster(kind: str, plural: str) -> Kind:
    return Kind(PLACEMENT_GROUP, VERSION, kind, plural, namespaced=False)


def _namespaced(kind: str, plural: str) -> Kind:
    return Kind(PLACEMENT_GROUP, VERSION, kind, plural, namespaced=True)


def _own(kind: str, plural: str, *, namespaced: bool) -> Kind:
    return Kind(FLEETGATE_GROUP, FLEETGATE_VERSION, kind, plural, namespaced=namespaced)


CLUSTER_STAGED_UPDATE_RUN: Final = _cluster("ClusterStagedUpdateRun", "clusterstagedupdateruns")
STAGED_UPDATE_RUN: Final = _namespaced("StagedUpdateRun", "stagedupdateruns")
CLUSTER_STAGED_UPDATE_STRATEGY: Final = _cluster(
    "ClusterStagedUpdateStrategy", "clusterstagedupdatestrategies"
)
STAGED_UPDATE_STRATEGY: Final = _namespaced("StagedUpdateStrategy", "stagedupdatestrategies")
CLUSTER_APPROVAL_REQUEST: Final = _cluster("ClusterApprovalRequest", "clusterapprovalrequests")
APPROVAL_REQUEST: Final = _namespaced("ApprovalRequest", "approvalrequests")
CLUSTER_RESOURCE_PLACEMENT: Final = _cluster(
    "ClusterResourcePlacement", "clusterresourceplacements"
)
RESOURCE_PLACEMENT: Final = _namespaced("ResourcePlacement", "resourceplacements")
CLUSTER_RESOURCE_PLACEMENT_STATUS: Final = _namespaced(
    "ClusterResourcePlacementStatus", "clusterresourceplacementstatuses"
)
CLUSTER_SCHEDULING_POLICY_SNAPSHOT: Final = _cluster(
    "ClusterSchedulingPolicySnapshot", "clusterschedulingpolicysnapshots"
)
SCHEDULING_POLICY_SNAPSHOT: Final = _namespaced(
    "SchedulingPolicySnapshot", "schedulingpolicysnapshots"
)
CLUSTER_RESOURCE_SNAPSHOT: Final = _cluster("ClusterResourceSnapshot", "clusterresourcesnapshots")
RESOURCE_SNAPSHOT: Final = _namespaced("ResourceSnapshot", "resourcesnapshots")
CLUSTER_RESOURCE_BINDING: Final = _cluster("ClusterResourceBinding", "clusterresourcebindings")
RESOURCE_BINDING: Final = _namespaced("ResourceBinding", "resourcebindings")
CLUSTER_RESOURCE_OVERRIDE: Final = _cluster("ClusterResourceOverride", "clusterresourceoverrides")
RESOURCE_OVERRIDE: Final = _namespaced("ResourceOverride", "resourceoverrides")
CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT: Final = _cluster(
    "ClusterResourceOverrideSnapshot", "clusterresourceoverridesnapshots"
)
RESOURCE_OVERRIDE_SNAPSHOT: Final = _namespaced(
    "ResourceOverrideSnapshot", "resourceoverridesnapshots"
)
CLUSTER_RESOURCE_ENVELOPE: Final = _cluster("ClusterResourceEnvelope", "clusterresourceenvelopes")
RESOURCE_ENVELOPE: Final = _namespaced("ResourceEnvelope", "resourceenvelopes")
WORK: Final = _namespaced("Work", "works")
APPLIED_WORK: Final = _cluster("AppliedWork", "appliedworks")
MEMBER_CLUSTER: Final = Kind(
    CLUSTER_GROUP, VERSION, "MemberCluster", "memberclusters", namespaced=False
)

CLUSTER_ROLLOUT_POLICY: Final = _own(
    "ClusterRolloutPolicy", "clusterrolloutpolicies", namespaced=False
)
ROLLOUT_POLICY: Final = _own("RolloutPolicy", "rolloutpolicies", namespaced=True)
CLUSTER_ROLLOUT_REPORT: Final = _own(
    "ClusterRolloutReport", "clusterrolloutreports", namespaced=False
)
ROLLOUT_REPORT: Final = _own("RolloutReport", "rolloutreports", namespaced=True)
CLUSTER_ROLLOUT_DECISION: Final = _own(
    "ClusterRolloutDecision", "clusterrolloutdecisions", namespaced=False
)
ROLLOUT_DECISION: Final = _own("RolloutDecision", "rolloutdecisions", namespaced=True)

NAMESPACE: Final = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
NODE: Final = Kind("", "v1", "Node", "nodes", namespaced=False)
POD: Final = Kind("", "v1", "Pod", "pods", namespaced=True)
CONFIG_MAP: Final = Kind("", "v1", "ConfigMap", "configmaps", namespaced=True)
SECRET: Final = Kind("", "v1", "Secret", "secrets", namespaced=True)
SERVICE_ACCOUNT: Final = Kind("", "v1", "ServiceAccount", "serviceaccounts", namespaced=True)
LEASE: Final = Kind("coordination.k8s.io", "v1", "Lease", "leases", namespaced=True)
EVENT: Final = Kind("", "v1", "Event", "events", namespaced=True)
CUSTOM_RESOURCE_DEFINITION: Final = Kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
)


class ScopeName(StrEnum):
    """Name of a scope: the short name of its run kind."""

    CLUSTER = "csur"
    NAMESPACED = "sur"


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of one scope: a run reads and writes only kinds of its own scope."""

    name: ScopeName
    run: Kind
    strategy: Kind
    approval: Kind
    placement: Kind
    policy_snapshot: Kind
    resource_snapshot: Kind
    binding: Kind
    policy: Kind
    """Rules for runs; `policy_snapshot` is about scheduling."""
    report: Kind
    decision: Kind


CLUSTER_SCOPE: Final = Scope(
    name=ScopeName.CLUSTER,
    run=CLUSTER_STAGED_UPDATE_RUN,
    strategy=CLUSTER_STAGED_UPDATE_STRATEGY,
    approval=CLUSTER_APPROVAL_REQUEST,
    placement=CLUSTER_RESOURCE_PLACEMENT,
    policy_snapshot=CLUSTER_SCHEDULING_POLICY_SNAPSHOT,
    resource_snapshot=CLUSTER_RESOURCE_SNAPSHOT,
    binding=CLUSTER_RESOURCE_BINDING,
    policy=CLUSTER_ROLLOUT_POLICY,
    report=CLUSTER_ROLLOUT_REPORT,
    decision=CLUSTER_ROLLOUT_DECISION,
)
NAMESPACED_SCOPE: Final = Scope(
    name=ScopeName.NAMESPACED,
    run=STAGED_UPDATE_RUN,
    strategy=STAGED_UPDATE_STRATEGY,
    approval=APPROVAL_REQUEST,
    placement=RESOURCE_PLACEMENT,
    policy_snapshot=SCHEDULING_POLICY_SNAPSHOT,
    resource_snapshot=RESOURCE_SNAPSHOT,
    binding=RESOURCE_BINDING,
    policy=ROLLOUT_POLICY,
    report=ROLLOUT_REPORT,
    decision=ROLLOUT_DECISION,
)
SCOPES: Final = {scope.name: scope for scope in (CLUSTER_SCOPE, NAMESPACED_SCOPE)}

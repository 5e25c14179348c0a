"""Labels, annotations, finalizers and fixed names, exactly as KubeFleet spells them.

contract: update-runs 4 and 5, placement 1, 4 to 6 and 8 to 10
"""

from typing import Final

PREFIX: Final = "kubernetes-fleet.io/"

# Labels.
PARENT_PLACEMENT: Final = PREFIX + "parent-CRP"
"""Name of the placement; the same key for both scopes."""
PARENT_PLACEMENT_NAMESPACE: Final = PREFIX + "parent-placement-namespace"
IS_LATEST_SNAPSHOT: Final = PREFIX + "is-latest-snapshot"
POLICY_INDEX: Final = PREFIX + "policy-index"
RESOURCE_INDEX: Final = PREFIX + "resource-index"
PARENT_RESOURCE_OVERRIDE: Final = PREFIX + "parent-resource-override"
"""Name of the override; the same key for both kinds."""
OVERRIDE_INDEX: Final = PREFIX + "override-index"
PARENT_BINDING: Final = PREFIX + "parent-resource-binding"
PARENT_RESOURCE_SNAPSHOT_INDEX: Final = PREFIX + "parent-resource-snapshot-index"
TARGET_UPDATE_RUN: Final = PREFIX + "targetUpdateRun"
TARGET_UPDATING_STAGE: Final = PREFIX + "targetUpdatingStage"
TASK_TYPE: Final = PREFIX + "taskType"
IS_LATEST_APPROVAL: Final = PREFIX + "isLatestUpdateRunApproval"
MEMBER_NAME: Final = PREFIX + "member-name"
ENVELOPE_WORK: Final = PREFIX + "envelope-work"
"""Kind of the envelope whose content a Work carries."""
ENVELOPE_NAME: Final = PREFIX + "envelope-name"
ENVELOPE_NAMESPACE: Final = PREFIX + "envelope-namespace"

# Annotations.
CRP_GENERATION: Final = PREFIX + "CRP-generation"
NUMBER_OF_CLUSTERS: Final = PREFIX + "number-of-clusters"
RESOURCE_HASH: Final = PREFIX + "resource-hash"
NUMBER_OF_RESOURCE_SNAPSHOTS: Final = PREFIX + "number-of-resource-snapshots"
NUMBER_OF_ENVELOPED_OBJECTS: Final = PREFIX + "number-of-enveloped-object"
SUBINDEX: Final = PREFIX + "subindex-of-resource-snapshot"
PREVIOUS_BINDING_STATE: Final = PREFIX + "previous-binding-state"
PARENT_RESOURCE_SNAPSHOT_NAME: Final = PREFIX + "parent-resource-snapshot-name"
RESOURCE_OVERRIDE_HASH: Final = PREFIX + "parent-resource-override-snapshot-hash"
CLUSTER_RESOURCE_OVERRIDE_HASH: Final = PREFIX + "parent-cluster-resource-override-snapshot-hash"
SPEC_HASH: Final = PREFIX + "spec-hash"
LAST_APPLIED: Final = PREFIX + "last-applied-configuration"

MEMBER_KUBECONFIG: Final = "fleetgate.dev/member"
"""Label of a Secret on the hub that holds a member's kubeconfig; its value is the member's name.
KubeFleet has no such label: its agents always run in their member clusters."""

GRANTED: Final = "fleetgate.dev/granted"
"""Annotation of a member's namespace: fingerprint of the rights granted to its agent."""

APPLY_AGAIN: Final = "fleetgate.dev/apply-again"
"""Annotation of a binding and its Works: when a run last had the content applied once more. Agents
apply a Work at once when it changes."""

RUN_UID: Final = "fleetgate.dev/run-uid"
"""Annotation of an approval request: UID of the run that it was created for; names are reused."""

BEFORE_RUN: Final = "fleetgate.dev/before-run"
"""Annotation of a binding: the last run that changed it under a rollout policy, by UID, and the
resource snapshot that the binding had before."""

ROLLBACK_OF: Final = "fleetgate.dev/rollback-of"
"""Annotation of a run that fleetgate created, and of its strategy: the run that it rolls back."""
ROLLBACK_OF_UID: Final = "fleetgate.dev/rollback-of-uid"
"""UID of that run; names are reused."""

COPY_OF: Final = "fleetgate.dev/copy-of"
"""Annotation of a strategy that `fleetgate rollback` created: the strategy that it is a copy of,
whose rollout policies apply."""
UNDOES: Final = "fleetgate.dev/undoes"
"""Annotation of a run that a person created to roll back: the run that it undoes. It is not rolled
back itself."""

CREATED_BY: Final = "fleetgate.dev/created-by"
"""Annotation of a run: the user who created it, as recorded by the admission policies."""
STATE_BY: Final = "fleetgate.dev/state-by"
"""Annotation of a run: the user who last set spec.state."""
STATE_COMMENT: Final = "fleetgate.dev/state-comment"
STATE_GENERATION: Final = "fleetgate.dev/state-generation"
"""Annotation of a run: the generation that `STATE_BY` and `STATE_COMMENT` apply to."""

# Finalizers.
RUN_FINALIZER: Final = PREFIX + "stagedupdaterun-finalizer"
PLACEMENT_FINALIZER: Final = PREFIX + "crp-cleanup"
SCHEDULER_FINALIZER: Final = PREFIX + "scheduler-cleanup"
BINDING_SCHEDULER_FINALIZER: Final = PREFIX + "scheduler-crb-cleanup"
BINDING_WORK_FINALIZER: Final = PREFIX + "work-cleanup"
WORK_FINALIZER: Final = PREFIX + "work-cleanup"
OVERRIDE_FINALIZER: Final = PREFIX + "override-cleanup"
PLACEMENT_STATUS_FINALIZER: Final = PREFIX + "cluster-resource-placement-status-cleanup"
"""On copies of a placement's status from earlier builds; KubeFleet's copies have none."""
MEMBER_FINALIZER: Final = PREFIX + "membercluster-finalizer"

DELETION_STAGE: Final = PREFIX + "deleteStage"
"""Name of the last stage, which removes clusters that are no longer picked."""

MEMBER_NAMESPACE_PREFIX: Final = "fleet-member-"


def member_namespace(cluster: str) -> str:
    """Return the namespace on the hub that holds the Works of one member."""
    return MEMBER_NAMESPACE_PREFIX + cluster

"""Rollout decisions: what people and pipelines decide about one run, each on the record.

A decision is made once and never changed. It is owned by its run and is deleted with it. What
becomes of a decision is in its status; the engine never ignores one silently.

policies: 2.3
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import Field

from api.base import ApiModel, FrozenModel, KubernetesObject, Time
from api.kinds import CLUSTER_ROLLOUT_DECISION, ROLLOUT_DECISION
from api.markers import (
    AGE,
    Atomic,
    CelRule,
    CelRules,
    Column,
    Resource,
    immutable,
    max_items,
    max_length,
    min_length,
)

MAX_REASON: Final = 4096
"""Characters of a reason."""


class Decision(StrEnum):
    """What is decided."""

    APPROVE = "Approve"
    REJECT = "Reject"
    CONTINUE = "Continue"
    SKIP_CLUSTER = "SkipCluster"
    RETRY_CLUSTER = "RetryCluster"


class GateName(StrEnum):
    """Which gates of a stage a decision is about."""

    BEFORE = "Before"
    AFTER = "After"


class DecisionState(StrEnum):
    """What became of a decision."""

    COUNTED = "Counted"
    REFUSED = "Refused"


class DecidedBy(FrozenModel):
    """Who decided, as the API server authenticated them."""

    username: Annotated[str, min_length(1), max_length(1024)]
    """Name of the user."""
    groups: Annotated[list[str], Atomic(), max_items(256)] = Field(default_factory=list)
    """Groups of the user."""


class RolloutDecisionSpec(FrozenModel):
    """One decision about one run."""

    run: Annotated[str, min_length(1), max_length(63)]
    """Name of the run, in the decision's own namespace."""
    run_uid: Annotated[str, max_length(64)] = Field(default="", alias="runUID")
    """UID of the run; with it the decision counts for no other run of the same name."""
    decision: Decision
    """What is decided."""
    stage: Annotated[str, max_length(63)] = ""
    """Name of the stage; for Approve and Reject, optional where only one gate is open."""
    gate: GateName | None = None
    """Side of the stage; for Approve and Reject."""
    cluster: Annotated[str, max_length(253)] = ""
    """Name of the cluster; for SkipCluster and RetryCluster."""
    reason: Annotated[str, max_length(MAX_REASON)] = ""
    """Why, for the record; required for everything but Approve."""
    by: DecidedBy | None = None
    """Who decided; the API server refuses a name that is not the caller's."""


_OF_CLUSTERS: Final = f"['{Decision.SKIP_CLUSTER}', '{Decision.RETRY_CLUSTER}']"
_OF_GATES: Final = f"['{Decision.APPROVE}', '{Decision.REJECT}']"
_RULES: Final = CelRules(
    (
        immutable("a decision cannot be changed: create another one"),
        CelRule(
            f"!(self.decision in {_OF_GATES})",
            "decision Approve and Reject are not supported yet: approve with `fleetgate approve`, "
            "or by setting the condition Approved of the approval request",
        ),
        CelRule(
            f"(self.decision in {_OF_CLUSTERS}) == (has(self.cluster) && self.cluster != '')",
            "cluster is required for SkipCluster and RetryCluster, and not allowed otherwise",
        ),
        CelRule(
            f"self.decision in {_OF_GATES} || !(has(self.gate) || has(self.stage))",
            "stage and gate are only allowed for Approve and Reject",
        ),
        CelRule(
            f"self.decision == '{Decision.APPROVE}' || (has(self.reason) && self.reason != '')",
            "reason is required: say why, for the record",
        ),
    )
)


class RolloutDecisionStatus(ApiModel):
    """What became of the decision."""

    state: DecisionState | None = None
    """Counted or Refused; empty until the engine has seen the decision."""
    message: str = ""
    """What it led to, or why it was refused."""
    at: Time | None = None
    """When it was counted or refused."""


COLUMNS: Final = (
    Column("Run", ".spec.run"),
    Column("Decision", ".spec.decision"),
    Column("Cluster", ".spec.cluster"),
    Column("By", ".spec.by.username"),
    Column("State", ".status.state"),
    AGE,
    Column("Reason", ".spec.reason", priority=1),
    Column("Message", ".status.message", priority=1),
)


class BaseRolloutDecision(KubernetesObject):
    """What the decisions of both scopes have in common."""

    spec: Annotated[RolloutDecisionSpec, _RULES]
    """The decision."""
    status: RolloutDecisionStatus = Field(default_factory=RolloutDecisionStatus)
    """What became of it; written by fleetgate only."""


class ClusterRolloutDecision(BaseRolloutDecision):
    """A decision about a ClusterStagedUpdateRun."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_ROLLOUT_DECISION, short_names=("crdec",), columns=COLUMNS, other_versions=()
    )

    api_version: str = CLUSTER_ROLLOUT_DECISION.api_version
    kind: str = CLUSTER_ROLLOUT_DECISION.kind


class RolloutDecision(BaseRolloutDecision):
    """A decision about a StagedUpdateRun of the same namespace."""

    resource: ClassVar[Resource] = Resource(
        ROLLOUT_DECISION, short_names=("rdec",), columns=COLUMNS, other_versions=()
    )

    api_version: str = ROLLOUT_DECISION.api_version
    kind: str = ROLLOUT_DECISION.kind

"""Rollout policies: what update runs do when clusters fail, move or collide with another run.

A policy points at strategies or placements; a run copies the policy that applies to it when it is
planned. Without a policy a run behaves as KubeFleet's does. Each field may stay unset: fields are
combined one by one from all policies that apply to a run, see `planning.policies.resolving`.

policies: 2.1
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Final

from api.base import FrozenModel, KubernetesObject
from api.kinds import (
    CLUSTER_RESOURCE_PLACEMENT,
    CLUSTER_ROLLOUT_POLICY,
    CLUSTER_STAGED_UPDATE_STRATEGY,
    RESOURCE_PLACEMENT,
    ROLLOUT_POLICY,
    STAGED_UPDATE_STRATEGY,
    Kind,
)
from api.markers import (
    AGE,
    Atomic,
    CelRule,
    CelRules,
    Column,
    Resource,
    Schema,
    max_items,
    max_length,
    maximum,
    min_items,
    min_length,
    minimum,
    pattern,
)
from api.selectors import LabelSelector

DURATION: Final = pattern(r"^(?:(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:s|m|h))+$")
MAX_RETRIES: Final = 10


def _positive(field: str) -> CelRule:
    return CelRule(
        "duration(self) > duration('0s')", f"{field} must be longer than 0s, such as 30s or 20m"
    )


class _Count:
    """A number of clusters, or a share of them."""

    def __init__(self, field: str) -> None:
        self._rule = CelRule(
            "type(self) == int ? self >= 0 : self.matches('^(100|[1-9]?[0-9])%$')",
            f"{field} must be a number of clusters such as 3, or a percentage from 0% to 100%",
        )

    def mark(self, schema: Schema) -> None:
        """Append the rule."""
        self._rule.mark(schema)


class ConcurrentRuns(StrEnum):
    """What happens to a run that is to start while another run of its placement is active."""

    ALLOW = "Allow"
    QUEUE = "Queue"
    SUPERSEDE = "Supersede"
    REFUSE = "Refuse"


class OnUnassigned(StrEnum):
    """What happens to a picked cluster that no stage selects."""

    FAIL = "Fail"
    IGNORE = "Ignore"


class OnRemoved(StrEnum):
    """What happens when a cluster of the plan is no longer picked or no longer selected."""

    FAIL = "Fail"
    SKIP = "Skip"


class OnAdded(StrEnum):
    """What happens when a cluster is picked after the run was planned."""

    FAIL = "Fail"
    APPEND = "Append"
    IGNORE = "Ignore"


class BudgetAction(StrEnum):
    """What a run does when more clusters failed than its budget allows."""

    PAUSE = "Pause"
    ABORT = "Abort"
    ROLL_BACK = "RollBack"


class RollbackOrder(StrEnum):
    """In which order a rollback goes through the stages."""

    REVERSE = "Reverse"
    SAME = "Same"


class RollbackGates(StrEnum):
    """Whether a rollback waits at the gates of the strategy."""

    SKIP = "Skip"
    KEEP = "Keep"


class PolicyTarget(FrozenModel):
    """A strategy or placement, or several of one kind."""

    kind: str
    """Kind of the target: a strategy or a placement of the policy's own scope."""
    name: Annotated[str, min_length(1), max_length(255)] | None = None
    """Name of the target; either this or selector."""
    selector: Annotated[LabelSelector, Atomic()] | None = None
    """Selects targets by their labels; either this or name."""
    stages: Annotated[list[str], min_items(1), max_items(31)] | None = None
    """Names of the stages that the policy applies to; without it all stages."""


class Membership(FrozenModel):
    """What happens when the clusters of a placement are not those of the plan."""

    unassigned: OnUnassigned | None = None
    """Clusters that no stage selects: Fail the run at planning (default), or Ignore them."""
    unassigned_most: Annotated[int | str, _Count("unassignedMost")] | None = None
    """With Ignore, how many clusters may be unassigned, as a number or percentage of the picked
    clusters; with more of them planning fails. Without it any number."""
    removed: OnRemoved | None = None
    """Clusters that leave during the run: Fail the run (default), or Skip the cluster."""
    added: OnAdded | None = None
    """Clusters that are picked during the run: Fail the run (default), Append them to their stage,
    or Ignore them."""


class ClusterLimits(FrozenModel):
    """How long one cluster may take, and how often it is tried."""

    timeout: Annotated[str, DURATION, _positive("timeout")] | None = None
    """How long a cluster may take until its content is available, such as 20m; without it as long
    as it takes."""
    retries: Annotated[int, minimum(0), maximum(MAX_RETRIES)] | None = None
    """How often a cluster that timed out is tried again; without it never."""
    retry_after: Annotated[str, DURATION] | None = None
    """How long to wait before trying again, such as 1m; without it not at all."""


class FailureBudget(FrozenModel):
    """How many clusters may fail, and what happens when more do."""

    most: Annotated[int | str, _Count("most")] | None = None
    """How many clusters of a stage may fail, as a number or percentage, rounded down; without it
    none."""
    most_in_run: Annotated[int | str, _Count("mostInRun")] | None = None
    """How many clusters of the whole run may fail, as a number or percentage, rounded down; without
    it only the budgets of the stages count."""
    action: BudgetAction | None = None
    """What the run does when more clusters failed: Pause (default), Abort or RollBack."""


class RollbackPlan(FrozenModel):
    """How a rollback goes through the clusters that a run has touched."""

    order: RollbackOrder | None = None
    """Whether the last stage comes first: Reverse (default) or Same."""
    max_concurrency: (
        Annotated[
            int | str,
            CelRule(
                "type(self) == int ? self >= 1 : self.matches('^(100|[1-9][0-9]?)%$')",
                "maxConcurrency must be a number of at least 1, or a percentage from 1% to 100%",
            ),
        ]
        | None
    ) = None
    """How many clusters are rolled back at once; without it as in the strategy."""
    gates: RollbackGates | None = None
    """Whether approvals and waits of the strategy apply: Skip (default) or Keep."""


_NAME_OR_SELECTOR: Final = CelRule(
    "self.targetRefs.all(ref, has(ref.name) != has(ref.selector))",
    "each of targetRefs needs either a name or a selector",
)
_NO_STAGES_OF_THE_RUN: Final = CelRule(
    "!self.targetRefs.exists(ref, has(ref.stages)) || !(has(self.concurrentRuns)"
    " || has(self.membership) || (has(self.failures) && has(self.failures.mostInRun)))",
    "targetRefs[].stages cannot be used with concurrentRuns, membership or failures.mostInRun,"
    " which apply to the whole run: put them in a policy of their own",
)
_SAYS_SOMETHING: Final = CelRule(
    "has(self.concurrentRuns) || has(self.membership) || has(self.clusters) || has(self.failures)"
    " || has(self.rollback)",
    "the policy has no rule: set concurrentRuns, membership, clusters, failures or rollback",
)


class RolloutPolicySpec(FrozenModel):
    """The rules, and the strategies or placements that they apply to."""

    target_refs: Annotated[list[PolicyTarget], Atomic(), min_items(1), max_items(16)]
    """What the policy applies to; a run needs to match one of them."""
    concurrent_runs: ConcurrentRuns | None = None
    """What happens to a run that is to start while another run of its placement is active: Allow
    both (default), Queue, Supersede the older one, or Refuse the newer one."""
    membership: Membership | None = None
    """What happens when clusters join, leave or match no stage."""
    clusters: ClusterLimits | None = None
    """How long a cluster may take, and how often it is tried."""
    failures: FailureBudget | None = None
    """How many clusters may fail, and what happens then."""
    rollback: RollbackPlan | None = None
    """How a rollback goes."""


class BaseRolloutPolicy(KubernetesObject):
    """What the policies of both scopes have in common."""

    spec: Annotated[
        RolloutPolicySpec,
        CelRules((_NAME_OR_SELECTOR, _NO_STAGES_OF_THE_RUN, _SAYS_SOMETHING)),
    ]
    """The rules, and what they apply to."""


def _targets(strategy: Kind, placement: Kind) -> CelRule:
    return CelRule(
        f"self.spec.targetRefs.all(ref, ref.kind in ['{strategy.kind}', '{placement.kind}'])",
        f"spec.targetRefs[].kind must be {strategy.kind} or {placement.kind}",
    )


COLUMNS: Final = (
    Column("Targets", ".spec.targetRefs[*].name"),
    Column("Concurrent-Runs", ".spec.concurrentRuns"),
    Column("Timeout", ".spec.clusters.timeout"),
    Column("Most-Failures", ".spec.failures.most"),
    Column("Action", ".spec.failures.action"),
    AGE,
)


class ClusterRolloutPolicy(BaseRolloutPolicy):
    """Rules for ClusterStagedUpdateRuns of a strategy or placement."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_ROLLOUT_POLICY,
        short_names=("crpol",),
        columns=COLUMNS,
        other_versions=(),
        has_status=False,
        rules=(_targets(CLUSTER_STAGED_UPDATE_STRATEGY, CLUSTER_RESOURCE_PLACEMENT),),
    )

    api_version: str = CLUSTER_ROLLOUT_POLICY.api_version
    kind: str = CLUSTER_ROLLOUT_POLICY.kind


class RolloutPolicy(BaseRolloutPolicy):
    """Rules for StagedUpdateRuns of a strategy or placement of the same namespace."""

    resource: ClassVar[Resource] = Resource(
        ROLLOUT_POLICY,
        short_names=("rpol",),
        columns=COLUMNS,
        other_versions=(),
        has_status=False,
        rules=(_targets(STAGED_UPDATE_STRATEGY, RESOURCE_PLACEMENT),),
    )

    api_version: str = ROLLOUT_POLICY.api_version
    kind: str = ROLLOUT_POLICY.kind

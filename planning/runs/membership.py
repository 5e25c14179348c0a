"""Clusters that leave or join while a run is in progress, where its rollout policy allows that.

The stages of a plan never change: a cluster that its stage no longer selects has left, even if
another stage selects it now, and the order of the others stays as it was planned.

policies: 2.1 (membership), 3
"""

from collections.abc import Collection, Sequence
from enum import StrEnum

from pydantic import Field

from api.bindings import BindingState
from api.rollout_policies import OnAdded, OnRemoved
from api.runs import StageStatus, UpdateRunStatus
from planning.runs.facts import Fact, HubFacts
from planning.runs.rules import RunRules


class Departure(StrEnum):
    """How a cluster leaves a run."""

    UNPICKED = "unpicked"
    """The placement no longer picks it."""
    UNBOUND = "unbound"
    """It has no binding, or only one that is being deleted."""
    FLEET = "fleet"
    """It is no longer a member of the fleet."""
    STAGE = "stage"
    """Its stage no longer selects it."""


class Leaver(Fact):
    """A cluster of the plan that is not a cluster of its stage any more."""

    cluster: str
    stage: str
    """The stage that has it in the plan."""
    how: Departure
    other: str = ""
    """The stage that selects it now; empty if none does."""

    @property
    def has_binding(self) -> bool:
        """Whether it may have its content still: another stage selects it, or none."""
        return self.how is Departure.STAGE


class Joiner(Fact):
    """A picked cluster that the plan does not have."""

    cluster: str
    stage: str = ""
    """The stage that selects it; empty if none does."""


class Changes(Fact):
    """How the clusters of a placement differ from those of a plan."""

    left: list[Leaver] = Field(default_factory=list)
    """In the order of the plan."""
    joined: list[Joiner] = Field(default_factory=list)
    """In the order in which they would be updated, those without a stage last."""

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self.left or self.joined)


def is_fixed(rules: RunRules) -> bool:
    """Return whether every cluster that leaves or joins ends the run, as without a policy."""
    return rules.removed is OnRemoved.FAIL and rules.added is OnAdded.FAIL


def allows(rules: RunRules, changes: Changes) -> bool:
    """Return whether a run may continue with these changes.

    Joiners without a stage are a different question: `planning.runs.stages.check_complete`.
    """
    if changes.left and rules.removed is OnRemoved.FAIL:
        return False
    return rules.added is not OnAdded.FAIL or not any(each.stage for each in changes.joined)


def changes(
    status: UpdateRunStatus,
    current: Sequence[StageStatus],
    *,
    facts: HubFacts,
    selected: Collection[str],
) -> Changes:
    """Compare a plan with the stages as they would be planned now.

    Args:
        status: the run's, with the plan.
        current: the stages that the selected clusters would have now.
        facts: what the hub says.
        selected: the clusters that are to be updated now.
    """
    now = {each.cluster_name: stage.stage_name for stage in current for each in stage.clusters}
    planned = {
        each.cluster_name: stage.stage_name
        for stage in status.stages_status
        for each in stage.clusters
    }
    unassigned = sorted(each for each in selected if each not in now)
    return Changes(
        left=[
            Leaver(
                cluster=cluster,
                stage=stage,
                how=_departure(cluster, facts, selected),
                other=now.get(cluster, ""),
            )
            for cluster, stage in planned.items()
            if now.get(cluster) != stage
        ],
        joined=[
            Joiner(cluster=each, stage=now.get(each, ""))
            for each in (*now, *unassigned)
            if each not in planned
        ],
    )


def rebound(facts: HubFacts, status: UpdateRunStatus, *, begun: Collection[str]) -> list[str]:
    """Return the clusters in flight whose bindings a newer policy snapshot may have changed.

    They still have the run's content, but it has to be announced again for the binding's new
    generation.
    """
    if all(each.index == status.policy_snapshot_index_used for each in facts.policies):
        return []
    return [each.cluster for each in facts.bindings if each.cluster in begun and not each.since]


def _departure(cluster: str, facts: HubFacts, selected: Collection[str]) -> Departure:
    if cluster in selected:
        known = any(each.name == cluster for each in facts.clusters)
        return Departure.STAGE if known else Departure.FLEET
    states = [
        each.state for each in facts.bindings if each.cluster == cluster and not each.deleting
    ]
    return Departure.UNPICKED if BindingState.UNSCHEDULED in states else Departure.UNBOUND

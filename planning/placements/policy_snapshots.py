"""Snapshots of a placement's policy: when to create one, its content, and which to delete.

contract: placement 4
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api import names
from api.base import OwnerReference
from api.placements import Placement
from api.policies import ClusterDecision, PolicySnapshot, SchedulingPolicySnapshotStatus
from api.reasons import ConditionType, SchedulingReason, found_all, found_some
from api.scheduling import PlacementPolicy, PlacementType
from planning import conditions, hashing, integers
from planning.placements.scheduling import Schedule

Json = dict[str, Any]

_SILENCE: Final = re.compile(r"[0-9]+\.[0-9]+ minutes ago")


@dataclass(frozen=True, slots=True)
class PolicyPlan:
    """Writes that make the latest snapshot have the placement's policy, in this order."""

    demote: tuple[str, ...]
    """Names of snapshots that lose the mark of the latest."""
    latest: str
    """Name of the snapshot that has the policy."""
    create: Json | None = None
    patch: Json | None = None
    """Merge patch of the latest snapshot, if it exists and is not up to date."""


def plan(
    known: Sequence[PolicySnapshot], placement: Placement, *, owner: OwnerReference
) -> PolicyPlan:
    """Keep the latest snapshot if it has the same policy, otherwise create the next one."""
    ordered = sorted(known, key=_index)
    latest = _latest(ordered)
    if latest and latest.spec.policy_hash == hashing.policy_hash(placement.spec.policy):
        others = [each.metadata.name for each in ordered if _marked(each) and each is not latest]
        patch = _update(latest, placement)
        return PolicyPlan(tuple(others), latest.metadata.name, patch=patch)
    body = _body(placement, owner, index=_index(ordered[-1]) + 1 if ordered else 0)
    return PolicyPlan(
        demote=tuple(each.metadata.name for each in ordered if _marked(each)),
        latest=body["metadata"]["name"],
        create=body,
    )


def superfluous(known: Sequence[PolicySnapshot], *, keep: int) -> list[str]:
    """Return the names of snapshots to delete so that at most `keep` are left, oldest first.

    Those that runs still use must be kept as well (`planning.runs.usage`).
    """
    ordered = sorted(known, key=_index)
    return [each.metadata.name for each in ordered[: max(0, len(ordered) - keep)]]


def decided(
    snapshot: PolicySnapshot, schedule: Schedule, *, placement_generation: int, now: datetime
) -> SchedulingPolicySnapshotStatus:
    """Return the snapshot's status after scheduling."""
    count = len(schedule.picked)
    status = SchedulingPolicySnapshotStatus(
        observed_crp_generation=placement_generation,
        conditions=list(snapshot.status.conditions),
        target_clusters=_steady(schedule.decisions, snapshot.status.target_clusters),
    )
    scheduled = conditions.make(
        ConditionType.SCHEDULED,
        "True" if schedule.fulfilled else "False",
        SchedulingReason.FULFILLED if schedule.fulfilled else SchedulingReason.UNFULFILLED,
        found_all(count) if schedule.fulfilled else found_some(count),
        generation=snapshot.metadata.generation,
        now=now,
    )
    conditions.put(status.conditions, scheduled)
    return status


@dataclass(frozen=True, slots=True)
class InForce:
    """The policy to schedule by, and where it comes from."""

    snapshot: PolicySnapshot
    policy: PlacementPolicy | None
    generation: int
    """Generation of the placement that last asked for this policy."""


def in_force(snapshot: PolicySnapshot) -> InForce:
    """Read back the policy that a snapshot was made from."""
    annotations, policy = snapshot.metadata.annotations, snapshot.spec.policy
    count = integers.known(annotations.get(names.NUMBER_OF_CLUSTERS, ""), otherwise=-1)
    if policy is not None and count >= 0:
        # Changing the number alone changes the annotation only.
        policy = policy.model_copy(update={"number_of_clusters": count})
    generation = integers.known(annotations.get(names.CRP_GENERATION, ""), otherwise=0)
    return InForce(snapshot, policy, generation)


def latest_of(known: Sequence[PolicySnapshot]) -> PolicySnapshot | None:
    """Return the latest snapshot, which is the one in force."""
    return _latest(sorted(known, key=_index))


def _steady(
    fresh: Sequence[ClusterDecision], before: Sequence[ClusterDecision]
) -> list[ClusterDecision]:
    """Return the fresh decisions, with the old wording if only the minutes have changed.

    Otherwise every scheduling would change the status while a member is silent.
    """
    known = {each.cluster_name: each for each in before}
    return [_steady_one(each, known.get(each.cluster_name)) for each in fresh]


def _steady_one(fresh: ClusterDecision, before: ClusterDecision | None) -> ClusterDecision:
    if before is None or _timeless(fresh.reason) != _timeless(before.reason):
        return fresh
    return fresh.model_copy(update={"reason": before.reason})


def _timeless(reason: str) -> str:
    return _SILENCE.sub("", reason)


def _latest(ordered: Sequence[PolicySnapshot]) -> PolicySnapshot | None:
    # Without a mark, a writer was killed halfway: it was about to mark the newest.
    candidates = [each for each in ordered if _marked(each)] or ordered
    return candidates[-1] if candidates else None


def _index(snapshot: PolicySnapshot) -> int:
    return integers.known(snapshot.metadata.labels.get(names.POLICY_INDEX, ""), otherwise=-1)


def _marked(snapshot: PolicySnapshot) -> bool:
    return snapshot.metadata.labels.get(names.IS_LATEST_SNAPSHOT) == "true"


def _annotations(placement: Placement) -> dict[str, str]:
    annotations = {names.CRP_GENERATION: str(placement.metadata.generation)}
    policy = placement.spec.policy
    if policy and policy.placement_type == PlacementType.PICK_N:
        annotations[names.NUMBER_OF_CLUSTERS] = str(policy.number_of_clusters)
    return annotations


def _update(latest: PolicySnapshot, placement: Placement) -> Json | None:
    wanted = _annotations(placement)
    if _marked(latest) and wanted.items() <= latest.metadata.annotations.items():
        return None
    labels = {names.IS_LATEST_SNAPSHOT: "true"}
    return {"metadata": {"labels": labels, "annotations": wanted}}


def _body(placement: Placement, owner: OwnerReference, *, index: int) -> Json:
    metadata: Json = {
        "name": f"{placement.metadata.name}-{index}",
        "labels": {
            names.PARENT_PLACEMENT: placement.metadata.name,
            names.IS_LATEST_SNAPSHOT: "true",
            names.POLICY_INDEX: str(index),
        },
        "annotations": _annotations(placement),
        "ownerReferences": [owner.to_wire()],
    }
    if placement.metadata.namespace:
        metadata["namespace"] = placement.metadata.namespace
    policy = placement.spec.policy
    spec: Json = {"policyHash": hashing.policy_hash(policy)}
    if policy is not None:
        spec["policy"] = policy.to_wire()
    return {"metadata": metadata, "spec": spec}

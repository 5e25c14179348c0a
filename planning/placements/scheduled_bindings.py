"""Bindings to create, re-point, restore or unschedule so that they match a schedule.

contract: placement 6 (names, state life)
"""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from api import names
from api.bindings import Binding, BindingState
from api.policies import ClusterDecision
from planning.placements.scheduling import Held, Holding

Json = dict[str, Any]

_PLACEMENT_CHARS: Final = 26
_CLUSTER_CHARS: Final = 27
"""With 26 of the placement, two dashes and 8 of the suffix the name has 63, a label's limit."""
_SUFFIX_CHARS: Final = 8

_ACTIVE: Final = (BindingState.SCHEDULED, BindingState.BOUND)


@dataclass(frozen=True, slots=True)
class Creation:
    """Binding to create for a picked cluster that has none."""

    name: str
    spec: Json


@dataclass(frozen=True, slots=True)
class BindingChange:
    """Change of a binding: a merge patch, valid only for the resource version that was read."""

    name: str
    patch: Json


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything to do to make the existing bindings match a schedule."""

    creations: tuple[Creation, ...]
    changes: tuple[BindingChange, ...]


def held(bindings: Iterable[Binding], *, policy: str) -> Held:
    """Return the clusters that already have a binding; `policy` names the latest snapshot."""
    active = [each for each in bindings if _is_active(each)]
    current = {
        each.spec.target_cluster: Holding(
            decision=each.spec.cluster_decision, bound=each.spec.state == BindingState.BOUND
        )
        for each in active
        if each.spec.scheduling_policy_snapshot_name == policy
    }
    earlier = frozenset(each.spec.target_cluster for each in active) - current.keys()
    return Held(current=current, earlier=earlier)


def follow(
    picked: Sequence[ClusterDecision],
    bindings: Sequence[Binding],
    *,
    policy: str,
    placement: str,
    placement_uid: str,
) -> Changes:
    """Return the changes after which exactly the picked clusters have an active binding."""
    usable = _by_cluster(bindings)
    taken = {each.metadata.name: each for each in bindings}
    creations = tuple(
        Creation(
            binding_name(placement, placement_uid, decision.cluster_name, taken=taken),
            _new_spec(decision, policy),
        )
        for decision in picked
        if decision.cluster_name not in usable
    )
    wanted = {decision.cluster_name: decision for decision in picked}
    changes = [
        _change(each, wanted.get(cluster), policy=policy) for cluster, each in usable.items()
    ]
    return Changes(creations, tuple(each for each in changes if each))


def keep(bindings: Iterable[Binding], *, fleet: Collection[str]) -> Changes:
    """Return the changes while a policy decides nothing: unschedule only leaving members.

    `fleet` are the names of the members that are not leaving.
    """
    lost = (each for each in bindings if each.spec.target_cluster not in fleet)
    return Changes((), tuple(_give_up(each) for each in lost if _is_active(each)))


def binding_name(
    placement: str, placement_uid: str, cluster: str, *, taken: Collection[str] = ()
) -> str:
    """Return the name of a new binding; it stays the same until one exists, to avoid duplicates."""
    stem = f"{placement[:_PLACEMENT_CHARS]}-{cluster[:_CLUSTER_CHARS]}"
    attempt = 0
    while True:
        seed = f"{placement_uid}/{cluster}/{attempt}"
        suffix = uuid.uuid5(uuid.NAMESPACE_OID, seed).hex[:_SUFFIX_CHARS]
        if f"{stem}-{suffix}" not in taken:
            return f"{stem}-{suffix}"
        attempt += 1


def _is_active(binding: Binding) -> bool:
    return binding.spec.state in _ACTIVE and binding.metadata.deletion_timestamp is None


def _by_cluster(bindings: Iterable[Binding]) -> dict[str, Binding]:
    """Return the binding that counts per cluster: active before unscheduled, none being deleted."""
    usable = [each for each in bindings if each.metadata.deletion_timestamp is None]
    ordered = sorted(usable, key=lambda each: (_is_active(each), each.metadata.name))
    return {each.spec.target_cluster: each for each in ordered}


def _new_spec(decision: ClusterDecision, policy: str) -> Json:
    return {
        "state": BindingState.SCHEDULED.value,
        "resourceSnapshotName": "",
        "schedulingPolicySnapshotName": policy,
        "targetCluster": decision.cluster_name,
        "clusterDecision": decision.to_wire(),
    }


def _change(
    binding: Binding, decision: ClusterDecision | None, *, policy: str
) -> BindingChange | None:
    """Return the change; None if none is needed: a write would make the conditions stale."""
    unscheduled = binding.spec.state == BindingState.UNSCHEDULED
    if decision is None:
        return None if unscheduled else _give_up(binding)
    if unscheduled:
        return _restore(binding, decision, policy)
    if binding.spec.scheduling_policy_snapshot_name != policy:
        return _patch(binding, _repointed(decision, policy))
    return None


def _give_up(binding: Binding) -> BindingChange:
    annotations: Mapping[str, str | None] = dict.fromkeys(binding.metadata.annotations)
    state = {names.PREVIOUS_BINDING_STATE: str(binding.spec.state)}
    return _patch(
        binding, {"state": BindingState.UNSCHEDULED.value}, annotations={**annotations, **state}
    )


def _restore(binding: Binding, decision: ClusterDecision, policy: str) -> BindingChange:
    remembered = binding.metadata.annotations.get(names.PREVIOUS_BINDING_STATE)
    likely = BindingState.BOUND if binding.spec.resource_snapshot_name else BindingState.SCHEDULED
    return _patch(
        binding,
        {"state": remembered or likely.value, **_repointed(decision, policy)},
        annotations={names.PREVIOUS_BINDING_STATE: None},
    )


def _repointed(decision: ClusterDecision, policy: str) -> Json:
    score = decision.to_wire().get("clusterScore")
    return {
        "schedulingPolicySnapshotName": policy,
        # A merge patch keeps what it does not name, so an old score is removed explicitly.
        "clusterDecision": decision.to_wire() | {"clusterScore": score},
    }


def _patch(
    binding: Binding, spec: Json, *, annotations: Mapping[str, str | None] | None = None
) -> BindingChange:
    metadata: Json = {"resourceVersion": binding.metadata.resource_version}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return BindingChange(binding.metadata.name, {"metadata": metadata, "spec": spec})

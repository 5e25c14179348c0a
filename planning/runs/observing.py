"""Turning objects of the hub into facts: names, indexes and the labels that decide.

contract: update-runs 7.1 to 7.5 d
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from api import names
from api.applying import ApplyStrategy
from api.bindings import Binding
from api.placements import Placement
from api.policies import PolicySnapshot
from api.runs import UpdateRunSpec
from api.strategies import StrategySpec
from planning import conditions
from planning.bindings import ROLLOUT_STARTED
from planning.runs.facts import BindingFact, ClusterFact, HubFacts, PlacementFact, PolicyFact


def hub_facts(
    spec: UpdateRunSpec,
    *,
    generation: int,
    placement: Placement | None,
    policies: Iterable[PolicySnapshot] = (),
    bindings: Iterable[Binding] = (),
    strategy: StrategySpec | None = None,
    labels_of: Callable[[str], Mapping[str, str] | None] = lambda _: None,
    keys: Iterable[str] = (),
    content: str = "",
) -> HubFacts:
    """Return the facts about a run with this spec.

    Args:
        spec: the run's.
        generation: of the run's object; 0 if it does not exist yet.
        placement: the run's; None if it does not exist.
        policies: the placement's latest policy snapshots; there should be one.
        bindings: all of the placement.
        strategy: the run's; None if it does not exist or does not matter.
        labels_of: returns the labels of a cluster by its name; None if it is not in the fleet.
        keys: labels that decide about stages; all others are left out, for a small history.
        content: name of the resource snapshot to compare bindings with; empty compares nothing.
    """
    # A placement's snapshots and bindings are deleted with it, so it counts as gone.
    if placement is None or placement.metadata.deletion_timestamp:
        return HubFacts(spec=spec, generation=generation)
    bound = sorted(
        (binding_fact(each, content=content) for each in bindings), key=lambda each: each.name
    )
    return HubFacts(
        spec=spec,
        generation=generation,
        placement=_placement_fact(placement),
        policies=list(map(policy_fact, policies)),
        bindings=bound,
        strategy=strategy,
        clusters=_cluster_facts(labels_of, {each.cluster for each in bound}, list(keys)),
    )


def _placement_fact(placement: Placement) -> PlacementFact:
    strategy = placement.spec.strategy
    return PlacementFact(
        strategy_type=strategy.type, apply_strategy=strategy.apply_strategy or ApplyStrategy()
    )


def policy_fact(snapshot: PolicySnapshot) -> PolicyFact:
    """Return how many clusters a policy snapshot asks for, and whether they are scheduled."""
    policy = snapshot.spec.policy
    generation = snapshot.metadata.generation
    said = conditions.find(snapshot.status.conditions, "Scheduled")
    return PolicyFact(
        name=snapshot.metadata.name,
        index=snapshot.metadata.labels.get(names.POLICY_INDEX, ""),
        placement_type=policy.placement_type if policy else "PickAll",
        cluster_names=len(policy.cluster_names) if policy else 0,
        cluster_count=snapshot.metadata.annotations.get(names.NUMBER_OF_CLUSTERS),
        scheduled=conditions.has(snapshot.status.conditions, "Scheduled", generation=generation),
        looked_at=said is not None
        and said.observed_generation == generation
        and said.status != "Unknown",
    )


def binding_fact(binding: Binding, *, content: str = "") -> BindingFact:
    """Return which cluster a binding is for, and whether that cluster is still picked.

    With the name of a resource snapshot as `content`, also since when the binding has another one.
    """
    return BindingFact(
        name=binding.metadata.name,
        cluster=binding.spec.target_cluster,
        policy_snapshot=binding.spec.scheduling_policy_snapshot_name,
        state=binding.spec.state,
        deleting=binding.metadata.deletion_timestamp is not None,
        since=_other_since(binding, content) if content else None,
    )


def _other_since(binding: Binding, content: str) -> datetime | None:
    if binding.spec.resource_snapshot_name == content:
        return None
    announced = conditions.find(binding.status.conditions, ROLLOUT_STARTED)
    if announced is None:
        return binding.metadata.creation_timestamp
    # Changed without an announcement, so the time is unknown.
    current = announced.observed_generation == binding.metadata.generation
    return announced.last_transition_time if current else None


def _cluster_facts(
    labels_of: Callable[[str], Mapping[str, str] | None], clusters: Iterable[str], keys: list[str]
) -> list[ClusterFact]:
    facts = []
    for name in sorted(clusters):
        found = labels_of(name)
        if found is not None:
            # Every member has this label, as in the selectors of overrides (placement 9).
            labels = {**found, names.MEMBER_NAME: name}
            kept = {key: labels[key] for key in keys if key in labels}
            facts.append(ClusterFact(name=name, labels=kept))
    return facts

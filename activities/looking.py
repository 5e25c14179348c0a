"""One look at the hub: all facts that decide about a run, whether it exists yet or not.

contract: update-runs 7 and 9
"""

import asyncio
from collections.abc import Sequence

from api import names
from api.bindings import Binding
from api.kinds import MEMBER_CLUSTER
from api.members import MemberCluster
from api.placements import Placement
from api.policies import PolicySnapshot
from api.runs import UpdateRunSpec
from api.strategies import StrategySpec, UpdateStrategy
from hub import Hub
from planning.identity import RunRef
from planning.runs import observing, stages
from planning.runs.facts import BindingFact, HubFacts, PlacementFact, PolicyFact


async def look(
    hub: Hub,
    run: RunRef,
    spec: UpdateRunSpec,
    *,
    generation: int = 0,
    label_keys: Sequence[str] | None = None,
) -> HubFacts:
    """Gather the facts about a run with this spec; `label_keys` None reads the strategy for them.

    Raises HubError when the hub is away.
    """
    placement = await _placement(hub, run, spec.placement_name)
    if placement is None:
        # Nothing else decides then; and a name too long for a label would be refused.
        return HubFacts(spec=spec, generation=generation)
    policies, bindings, strategy, clusters = await asyncio.gather(
        _policies(hub, run, spec.placement_name),
        _bindings(hub, run, spec.placement_name),
        _strategy(hub, run, spec.staged_rollout_strategy_name),
        hub.list(MEMBER_CLUSTER),
    )
    keys = stages.deciding_labels(strategy) if label_keys is None else label_keys
    members = map(MemberCluster.from_wire, clusters.items)
    return HubFacts(
        spec=spec,
        generation=generation,
        placement=placement,
        policies=policies,
        bindings=bindings,
        strategy=strategy,
        clusters=observing.cluster_facts(members, bindings, list(keys)),
    )


async def _placement(hub: Hub, run: RunRef, name: str) -> PlacementFact | None:
    found = await hub.find(run.scope.placement, name, namespace=run.namespace)
    if found is None:
        return None
    return observing.placement_fact(Placement.from_wire(found))


async def _policies(hub: Hub, run: RunRef, placement: str) -> list[PolicyFact]:
    found = await hub.list(
        run.scope.policy_snapshot,
        namespace=run.namespace,
        labels=f"{names.PARENT_PLACEMENT}={placement},{names.IS_LATEST_SNAPSHOT}=true",
    )
    return [observing.policy_fact(PolicySnapshot.from_wire(each)) for each in found.items]


async def _bindings(hub: Hub, run: RunRef, placement: str) -> list[BindingFact]:
    found = await hub.list(
        run.scope.binding,
        namespace=run.namespace,
        labels=f"{names.PARENT_PLACEMENT}={placement}",
    )
    bindings = map(Binding.from_wire, found.items)
    return sorted(map(observing.binding_fact, bindings), key=lambda each: each.name)


async def _strategy(hub: Hub, run: RunRef, name: str) -> StrategySpec | None:
    found = await hub.find(run.scope.strategy, name, namespace=run.namespace)
    return UpdateStrategy.from_wire(found).spec if found else None

"""Reading from the hub all facts that decide about a run, whether it exists yet or not.

contract: update-runs 7 and 9
"""

import asyncio
from collections.abc import Sequence

from api import names
from api.bindings import Binding
from api.kinds import MEMBER_CLUSTER
from api.placements import Placement
from api.policies import PolicySnapshot
from api.runs import UpdateRunSpec
from api.selectors import LabelSelector
from api.strategies import StrategySpec, UpdateStrategy
from hub import Hub, labels_of
from planning import failures, selectors
from planning.identity import RunRef
from planning.runs import observing, sizes, stages
from planning.runs.facts import HubFacts


async def look(
    hub: Hub,
    run: RunRef,
    spec: UpdateRunSpec,
    *,
    generation: int = 0,
    label_keys: Sequence[str] | None = None,
    content: str = "",
) -> HubFacts:
    """Gather the facts about a run with this spec.

    With `label_keys` None, the strategy determines the relevant labels. `content` names the
    resource snapshot to compare bindings with; empty compares nothing.

    Raises HubError if the hub is unreachable, InitializationError if the placement's name is too
    long to be a label value or the facts are too large for a workflow.
    """
    placement = await _placement(hub, run, spec.placement_name)
    if placement is None:
        # Nothing else matters then.
        return observing.hub_facts(spec, generation=generation, placement=None)
    policies, bindings, strategy, clusters = await asyncio.gather(
        _policies(hub, run, spec.placement_name),
        _bindings(hub, run, spec.placement_name),
        _strategy(hub, run, spec.staged_rollout_strategy_name),
        hub.list(MEMBER_CLUSTER, metadata_only=True),
    )
    labels = {each["metadata"]["name"]: labels_of(each) for each in clusters.items}
    facts = observing.hub_facts(
        spec,
        generation=generation,
        placement=placement,
        policies=policies,
        bindings=bindings,
        strategy=strategy,
        labels_of=labels.get,
        keys=stages.deciding_labels(strategy) if label_keys is None else label_keys,
        content=content,
    )
    sizes.check_payload(
        facts,
        what=f"the facts about its {len(bindings)} bindings and the clusters' labels",
        remedy="divide the placement, or use fewer and shorter labels in the strategy",
    )
    return facts


async def _placement(hub: Hub, run: RunRef, name: str) -> Placement | None:
    found = await hub.find(run.scope.placement, name, namespace=run.namespace)
    if found is None:
        return None
    if selectors.problem(LabelSelector(match_labels={names.PARENT_PLACEMENT: name})):
        raise failures.PLACEMENT_NAME_TOO_LONG.error(key=run.key(name), length=len(name))
    return Placement.from_wire(found)


async def _policies(hub: Hub, run: RunRef, placement: str) -> list[PolicySnapshot]:
    found = await hub.list(
        run.scope.policy_snapshot,
        namespace=run.namespace,
        labels=f"{names.PARENT_PLACEMENT}={placement},{names.IS_LATEST_SNAPSHOT}=true",
    )
    return list(map(PolicySnapshot.from_wire, found.items))


async def _bindings(hub: Hub, run: RunRef, placement: str) -> list[Binding]:
    found = await hub.list(
        run.scope.binding,
        namespace=run.namespace,
        labels=f"{names.PARENT_PLACEMENT}={placement}",
    )
    return list(map(Binding.from_wire, found.items))


async def _strategy(hub: Hub, run: RunRef, name: str) -> StrategySpec | None:
    found = await hub.find(run.scope.strategy, name, namespace=run.namespace)
    return UpdateStrategy.from_wire(found).spec if found else None

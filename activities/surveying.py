"""Looking at the hub: the facts that initialization and validation decide from.

contract: update-runs 7 and 9
"""

import asyncio

from temporalio import activity

from activities.errors import told_to_temporal
from activities.requests import Survey, Surveyed
from api import names
from api.bindings import Binding
from api.kinds import MEMBER_CLUSTER
from api.members import MemberCluster
from api.placements import Placement
from api.policies import PolicySnapshot
from api.runs import UpdateRun
from api.strategies import StrategySpec, UpdateStrategy
from hub import Hub
from planning.identity import RunRef
from planning.runs import initialization, observing, stages
from planning.runs.facts import BindingFact, HubFacts, PlacementFact, PolicyFact


class SurveyingActivities:
    """Reads the hub; changes nothing."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name="survey")
    async def survey(self, request: Survey) -> Surveyed:
        """Gather everything that decides about a run, in one look.

        Raises (retried): the hub is away, or others are half way through a change.
        """
        with told_to_temporal():
            return await self._survey(request)

    async def _survey(self, request: Survey) -> Surveyed:
        run = await self._run(request.run)
        if run is None:
            return Surveyed()
        placement = await self._placement(request.run, run.spec.placement_name)
        if placement is None:
            # Nothing else decides then; and a name too long for a label would be refused.
            return Surveyed(facts=HubFacts(spec=run.spec, generation=run.metadata.generation))
        policies, bindings, strategy, clusters = await asyncio.gather(
            self._policies(request.run, run.spec.placement_name),
            self._bindings(request.run, run.spec.placement_name),
            self._strategy(request.run, run.spec.staged_rollout_strategy_name),
            self._hub.list(MEMBER_CLUSTER),
        )
        keys = request.label_keys
        if keys is None:
            keys = stages.deciding_labels(strategy)
        facts = HubFacts(
            spec=run.spec,
            generation=run.metadata.generation,
            placement=placement,
            policies=policies,
            bindings=bindings,
            strategy=strategy,
            clusters=observing.cluster_facts(
                map(MemberCluster.from_wire, clusters.items), bindings, keys
            ),
        )
        if request.settled:
            # Here and not in the workflow: Temporal repeats an activity without a trace in history.
            initialization.check_settled(facts, run=request.run)
        return Surveyed(facts=facts)

    async def _run(self, ref: RunRef) -> UpdateRun | None:
        found = await self._hub.find(ref.scope.run, ref.name, namespace=ref.namespace)
        run = UpdateRun.from_wire(found) if found else None
        return run if run and run.metadata.uid == ref.uid else None

    async def _placement(self, ref: RunRef, name: str) -> PlacementFact | None:
        found = await self._hub.find(ref.scope.placement, name, namespace=ref.namespace)
        if found is None:
            return None
        return observing.placement_fact(Placement.from_wire(found))

    async def _policies(self, ref: RunRef, placement: str) -> list[PolicyFact]:
        found = await self._hub.list(
            ref.scope.policy_snapshot,
            namespace=ref.namespace,
            labels=f"{names.PARENT_PLACEMENT}={placement},{names.IS_LATEST_SNAPSHOT}=true",
        )
        return [observing.policy_fact(PolicySnapshot.from_wire(each)) for each in found.items]

    async def _bindings(self, ref: RunRef, placement: str) -> list[BindingFact]:
        found = await self._hub.list(
            ref.scope.binding,
            namespace=ref.namespace,
            labels=f"{names.PARENT_PLACEMENT}={placement}",
        )
        bindings = map(Binding.from_wire, found.items)
        return sorted(map(observing.binding_fact, bindings), key=lambda each: each.name)

    async def _strategy(self, ref: RunRef, name: str) -> StrategySpec | None:
        found = await self._hub.find(ref.scope.strategy, name, namespace=ref.namespace)
        return UpdateStrategy.from_wire(found).spec if found else None

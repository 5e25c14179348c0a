"""Creating the run that rolls back another one, exactly once.

Its name follows from the run's, and an annotation says which run it rolls back. So whoever tries
again after a crash finds what was created before, and someone else's object of that name is left
alone.

policies: 3
"""

from temporalio import activity

from activities import stubs
from activities.before import changed_by
from activities.errors import told_to_temporal
from activities.heartbeats import heartbeating
from activities.requests import RollBack, RolledBack
from api.kinds import Kind
from api.names import ROLLBACK_OF, ROLLBACK_OF_UID
from api.runs import RunState, UpdateRun, UpdateRunSpec
from hub import AlreadyExists, Hub, Json
from planning.identity import RunRef
from planning.policies import rolling_back
from planning.policies.rolling_back import RollbackPlan


class RollbackActivities:
    """Creates rollbacks; every call may be repeated."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name=stubs.ROLL_BACK.name)
    async def roll_back(self, request: RollBack) -> RolledBack:
        """Create the strategy and the run that take a run's clusters back, or say why not.

        Raises (retried): the hub is unreachable.
        """
        async with heartbeating():
            with told_to_temporal():
                return await self._roll_back(request)

    async def _roll_back(self, request: RollBack) -> RolledBack:
        plan = await self._plan(request)
        if plan is None:
            return RolledBack(why_not=rolling_back.NOTHING_EARLIER.fill())
        for name in rolling_back.names_for(request.run.name):
            if await self._create(request, name, plan):
                return RolledBack(
                    run=name, index=plan.index, clusters=len(plan.clusters), stay=plan.stay
                )
        taken = next(iter(rolling_back.names_for(request.run.name)))
        return RolledBack(why_not=rolling_back.NAMES_TAKEN.fill(name=taken))

    async def _plan(self, request: RollBack) -> RollbackPlan | None:
        run = request.run
        body = await self._hub.get(run.scope.run, run.name, namespace=run.namespace)
        before = await changed_by(self._hub, run, request.placement)
        status = UpdateRun.from_wire(body).status
        return rolling_back.plan(status, request.rules, stage=request.stage, before=before)

    async def _create(self, request: RollBack, name: str, plan: RollbackPlan) -> bool:
        """Create strategy and run with this name; return False if it is someone else's."""
        run, scope = request.run, request.run.scope
        strategy = {"spec": plan.strategy.to_wire()}
        if not await self._ensure(scope.strategy, name, strategy, rolls_back=run):
            return False
        spec = UpdateRunSpec(
            placement_name=request.placement,
            staged_rollout_strategy_name=name,
            resource_snapshot_index=plan.index,
            state=RunState.RUN,
        )
        made = await self._ensure(scope.run, name, {"spec": spec.to_wire()}, rolls_back=run)
        if made is None:
            return False
        made_ref = run.model_copy(update={"name": name, "uid": made["metadata"]["uid"]})
        owned = {"ownerReferences": [made_ref.as_owner]}
        await self._hub.patch(scope.strategy, name, {"metadata": owned}, namespace=run.namespace)
        return True

    async def _ensure(
        self, kind: Kind, name: str, body: Json, *, rolls_back: RunRef
    ) -> Json | None:
        """Create an object unless it exists, and return it; None if it is someone else's."""
        annotations = {ROLLBACK_OF: rolls_back.name, ROLLBACK_OF_UID: rolls_back.uid}
        metadata = rolls_back.named(name) | {"annotations": annotations}
        namespace = rolls_back.namespace
        try:
            return await self._hub.create(kind, {"metadata": metadata} | body, namespace=namespace)
        except AlreadyExists:
            found = await self._hub.find(kind, name, namespace=namespace)
            noted = found["metadata"].get("annotations", {}) if found else {}
            return found if noted.get(ROLLBACK_OF_UID) == rolls_back.uid else None

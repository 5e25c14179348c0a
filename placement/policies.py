"""Keeps the policy snapshots of one scope's placements.

contract: placement 4
"""

import contextlib
from typing import Final

from api import names
from api.placements import Placement
from api.policies import PolicySnapshot
from hub import AlreadyExists, Hub, Json, Key
from placement.metadata import owner_reference
from placement.object_events import write_event
from placement.stores import ScopeStores
from planning.placements import policy_snapshots
from planning.placements.policy_snapshots import InForce, PolicyPlan
from planning.placements.scheduling import validation

INVALID: Final = "InvalidPolicy"
"""Reason of the event that says what is wrong with a policy."""


class Policies:
    """Creates and marks policy snapshots."""

    def __init__(self, hub: Hub, stores: ScopeStores) -> None:
        self._hub = hub
        self._stores = stores

    async def in_force(self, key: Key, placement: Placement, body: Json) -> InForce | None:
        """Return the policy to schedule by: the current one, or the last valid one."""
        known = [PolicySnapshot.from_wire(each) for each in self._stores.policies_of.of(key)]
        latest = policy_snapshots.latest_of(known)
        last = policy_snapshots.in_force(latest) if latest else None
        problems = validation.problems(placement, in_force=last.policy if last else None)
        if problems:
            await self._refuse(body, problems, last)
            return last
        owner = owner_reference(self._stores.scope.placement, body)
        plan = policy_snapshots.plan(known, placement, owner=owner)
        return policy_snapshots.in_force(PolicySnapshot.from_wire(await self._carry_out(key, plan)))

    async def _refuse(self, body: Json, problems: list[str], last: InForce | None) -> None:
        """Report in an event what is wrong with a policy."""
        until = f"{last.snapshot.metadata.name} stays in force" if last else "nothing is placed"
        await write_event(
            self._hub,
            self._stores.scope.placement,
            body,
            reason=INVALID,
            message=f"ignored: {'; '.join(problems)}. Fix it; until then {until}",
            key=f"{INVALID} {body['metadata']['generation']}",
        )

    async def _carry_out(self, key: Key, plan: PolicyPlan) -> Json:
        """Carry out the plan; return the latest snapshot."""
        policies, namespace = self._stores.policies, key[0]
        for name in plan.demote:
            patch: Json = {"metadata": {"labels": {names.IS_LATEST_SNAPSHOT: "false"}}}
            await self._patch((namespace, name), patch)
        latest = (namespace, plan.latest)
        if plan.create is not None:
            with contextlib.suppress(AlreadyExists):
                policies.wrote(await self._hub.create(policies.kind, plan.create))
        elif plan.patch is not None:
            await self._patch(latest, plan.patch)
        known = policies.get(latest)
        return known or await self._hub.get(policies.kind, plan.latest, namespace=namespace)

    async def _patch(self, key: Key, patch: Json) -> None:
        body = await self._hub.patch(self._stores.policies.kind, key[1], patch, namespace=key[0])
        self._stores.policies.wrote(body)

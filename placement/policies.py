"""Keeps the policy snapshots of one scope's placements.

contract: placement 4
"""

import contextlib
from collections.abc import Collection
from typing import Final

from api import names
from api.placements import Placement
from api.policies import PolicySnapshot
from api.runs import UpdateRun
from hub import AlreadyExists, Hub, Json, Key, NotFound
from placement.metadata import owner_reference
from placement.stores import ScopeStores
from placement.telling import tell
from planning.placements import policy_snapshots, usage
from planning.placements.policy_snapshots import InForce, PolicyPlan
from planning.placements.scheduling import validation

INVALID: Final = "InvalidPolicy"
"""Reason of the event that says what is wrong with a policy."""


class Policies:
    """Makes, marks and prunes policy snapshots."""

    def __init__(self, hub: Hub, stores: ScopeStores) -> None:
        self._hub = hub
        self._stores = stores

    async def in_force(self, key: Key, placement: Placement, body: Json) -> InForce | None:
        """The policy to schedule by: the present one, or the last that may be followed."""
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
        """Say what is wrong with a policy."""
        until = f"{last.snapshot.metadata.name} stays in force" if last else "nothing is placed"
        await tell(
            self._hub,
            self._stores.scope.placement,
            body,
            reason=INVALID,
            message=f"not followed: {'; '.join(problems)}. Correct it, until then {until}",
            key=f"{INVALID} {body['metadata']['generation']}",
        )

    async def _carry_out(self, key: Key, plan: PolicyPlan) -> Json:
        """Write what the plan says; returns the latest snapshot."""
        policies, namespace = self._stores.policies, key[0]
        for name in plan.demote:
            patch: Json = {"metadata": {"labels": {names.IS_LATEST_SNAPSHOT: "false"}}}
            await self._patch((namespace, name), patch)
        await self._prune(key, plan)
        latest = (namespace, plan.latest)
        if plan.create is not None:
            with contextlib.suppress(AlreadyExists):
                policies.wrote(await self._hub.create(policies.kind, plan.create))
        elif plan.patch is not None:
            await self._patch(latest, plan.patch)
        known = policies.get(latest)
        return known or await self._hub.get(policies.kind, plan.latest, namespace=namespace)

    async def _prune(self, key: Key, plan: PolicyPlan) -> None:
        if not plan.delete:
            return
        named = await self._named(key)
        for name in plan.delete:
            if name not in named:
                with contextlib.suppress(NotFound):
                    await self._hub.delete(self._stores.policies.kind, name, namespace=key[0])

    async def _named(self, key: Key) -> Collection[str]:
        """Snapshots that runs under way count on."""
        listing = await self._hub.list(self._stores.scope.run, namespace=key[0])
        own = (each for each in listing.items if each["spec"]["placementName"] == key[1])
        runs = map(UpdateRun.from_wire, own)
        return usage.policy_snapshots(runs, placement=key[1])

    async def _patch(self, key: Key, patch: Json) -> None:
        body = await self._hub.patch(self._stores.policies.kind, key[1], patch, namespace=key[0])
        self._stores.policies.wrote(body)

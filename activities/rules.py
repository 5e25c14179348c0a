"""Reading from the hub what rollout policies say about a run, and what its report says.

policies: 1.4, 2.1
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from api.base import ObjectMeta
from api.kinds import Kind
from api.names import COPY_OF, ROLLBACK_OF, ROLLBACK_OF_UID, UNDOES
from api.rollout_policies import BaseRolloutPolicy
from api.rollout_reports import BaseRolloutReport, RolloutReportStatus
from hub import Hub, HubError, Json, NotFound
from planning.identity import RunRef
from planning.policies import reporting, resolving, rolling_back
from planning.policies.resolving import PolicySubject
from planning.runs import estimating
from planning.runs.facts import HubFacts
from planning.runs.rules import RunRules

NONE: Final[Mapping[str, str]] = MappingProxyType({})


async def rules_for(
    hub: Hub, run: RunRef, facts: HubFacts, *, annotations: Mapping[str, str] = NONE
) -> RunRules:
    """Return what the policies on the hub say about a run that is to be planned.

    `annotations` are the run's: one that rolls back another run follows that one's rules, and one
    that a person created to undo another is not rolled back itself.

    Raises HubError if the hub is unreachable, InitializationError if policies contradict each
    other or ask for what cannot be done.
    """
    if of := annotations.get(ROLLBACK_OF):
        origin = run.model_copy(update={"name": of, "uid": annotations.get(ROLLBACK_OF_UID, "")})
        said = await recorded_report(hub, origin)
        return rolling_back.rules_for(of, reporting.remembered(said).rules)
    policies = await _policies(hub, run)
    if not policies or facts.strategy is None or facts.placement is None:
        return RunRules()
    scope, namespace = run.scope, run.namespace
    strategy, placement = await asyncio.gather(
        _strategy(hub, run, facts.spec.staged_rollout_strategy_name),
        _metadata(hub, scope.placement, facts.spec.placement_name, namespace),
    )
    subject = PolicySubject(
        scope=scope,
        strategy=strategy,
        placement=placement,
        stages=[each.name for each in facts.strategy.stages],
    )
    rules = resolving.resolve(policies, subject)
    return rolling_back.not_again(rules) if UNDOES in annotations else rules


async def recorded_report(hub: Hub, run: RunRef) -> RolloutReportStatus:
    """Return the report that the engine wrote about a run; an empty one if there is none."""
    found = await hub.find(run.scope.report, run.name, namespace=run.namespace)
    if found is None or not _is_owned(found, run):
        return RolloutReportStatus()
    return BaseRolloutReport.from_wire(found).status


async def typical_time(hub: Hub, run: RunRef, facts: HubFacts) -> timedelta | None:
    """Return how long a cluster took in earlier runs of the placement; None if that is not known.

    It only serves an estimate, so a hub that does not answer is no error.
    """
    try:
        found = await hub.list(run.scope.run, namespace=run.namespace)
    except HubError:
        return None
    return estimating.typical(
        estimating.earlier_durations(
            found.items,
            placement=facts.spec.placement_name,
            strategy=facts.spec.staged_rollout_strategy_name,
        )
    )


async def _policies(hub: Hub, run: RunRef) -> list[BaseRolloutPolicy]:
    try:
        found = await hub.list(run.scope.policy, namespace=run.namespace)
    except NotFound:
        return []  # the hub does not serve the kind, so no one can have written one
    return [BaseRolloutPolicy.from_wire(each) for each in found.items]


async def _strategy(hub: Hub, run: RunRef, name: str) -> ObjectMeta:
    """Return whose policies apply: a strategy, or the one that it was copied from to roll back."""
    kind, namespace = run.scope.strategy, run.namespace
    found = await _metadata(hub, kind, name, namespace)
    if of := found.annotations.get(COPY_OF):
        with suppress(NotFound):
            return await _metadata(hub, kind, of, namespace)
    return found


async def _metadata(hub: Hub, kind: Kind, name: str, namespace: str) -> ObjectMeta:
    body = await hub.get(kind, name, namespace=namespace)
    return ObjectMeta.model_validate(body["metadata"])


def _is_owned(body: Json, run: RunRef) -> bool:
    owners = body["metadata"].get("ownerReferences", [])
    return any(each["uid"] == run.uid for each in owners)

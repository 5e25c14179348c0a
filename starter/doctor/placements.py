"""Check that snapshots and bindings of placements are being created."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from api.kinds import Scope
from api.placements import Placement
from api.reasons import ConditionType, placement_condition
from planning import conditions
from planning.writers import last_writer
from starter import words
from starter.doctor.findings import Command, Finding, Setup, ok, problem

PATIENCE: Final = timedelta(seconds=30)
"""Built-in placement reacts to a change within a second, and KubeFleet within a few."""


async def served(setup: Setup) -> Sequence[Finding]:
    """Check in each scope that changes of placements are processed."""
    now = await setup.hub.clock()
    return [await _in_scope(setup, scope, now) for scope in setup.scopes]


async def _in_scope(setup: Setup, scope: Scope, now: datetime) -> Finding:
    found = await setup.hub.list(scope.placement, namespace=setup.target.namespace)
    placements = [Placement.from_wire(each) for each in found.items]
    return judge(placements, scope=scope, now=now, command=setup.command)


def judge(
    placements: Sequence[Placement], *, scope: Scope, now: datetime, command: Command
) -> Finding:
    """Report the placements that have not been processed since they were changed."""
    about = scope.placement.plural
    late = [each for each in placements if _unseen(each, scope, now)]
    if not late:
        total = words.count(len(placements), "placement")
        return ok(about, f"{total}, all up to date" if placements else "none")
    names = words.named(["/".join(filter(None, _key(each))) for each in late])
    return problem(
        about,
        f"no clusters have been picked for {names} since the last change: no snapshots and "
        "bindings are created",
        advice="start a worker with the role placement; if another system does the placement, such "
        "as KubeFleet's hub agent, check that it is running",
        commands=[command("fleetgate worker --run placement")],
    )


def _key(placement: Placement) -> tuple[str, str]:
    return placement.metadata.namespace, placement.metadata.name


def _unseen(placement: Placement, scope: Scope, now: datetime) -> bool:
    metadata = placement.metadata
    if metadata.deletion_timestamp:
        return False
    kind = placement_condition(scope.placement, ConditionType.SCHEDULED)
    found = conditions.find(placement.status.conditions, kind)
    if found is not None and found.observed_generation >= metadata.generation:
        return False
    writer = last_writer(metadata, "f:spec")
    since = (writer.at if writer else None) or metadata.creation_timestamp
    return since is not None and now - since > PATIENCE

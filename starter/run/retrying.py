"""`fleetgate run retry` of a run that has ended: a new run of the same version and strategy.

Clusters that have the version are done at once in it, as in any run.

policies: 3 (RetryCluster)
"""

import re
from collections.abc import Sequence
from typing import Final

import click

from api.runs import RunState, UpdateRun, UpdateRunSpec
from hub import Hub
from planning.identity import name_after
from planning.runs import phases, steering, views
from planning.runs.phases import Progress
from planning.runs.views import RunView
from starter import output, people, words
from starter.failures import CommandFailure
from starter.run import creating
from starter.targets import Target

_RETRY: Final = re.compile(r"-retry(-\d+)?$")


async def retry_ended(
    hub: Hub, target: Target, run: UpdateRun, clusters: Sequence[str], *, reason: str
) -> None:
    """Create a run that does what an ended one did not, and print what to watch.

    Raises CommandFailure if that would change nothing, if a run does so already, or if the ended
    run never had a version.
    """
    view = views.of(run)
    _check(run, view, clusters)
    name = await _free_name(hub, target, view)
    spec = UpdateRunSpec(
        placement_name=view.placement,
        staged_rollout_strategy_name=view.strategy,
        resource_snapshot_index=run.status.resource_snapshot_index_used,
        state=RunState.RUN,
    )
    made = creating.body(target.scope, name, target.namespace, spec)
    made.metadata.annotations |= steering.at_creation(by=await people.user_of(hub), comment=reason)
    await hub.create(target.scope.run, made.to_wire(), namespace=target.namespace)
    click.echo(f"{output.resource_name(target.scope.run, name)} created")
    click.echo(
        f"run {view.name} has {view.phase}, so run {name} rolls out its version, snapshot "
        f"{view.snapshot}, again; clusters that have it are done at once"
    )
    click.echo(f"  fleetgate run watch {name}{words.namespace_flag(view)}")


def _check(run: UpdateRun, view: RunView, clusters: Sequence[str]) -> None:
    if not run.status.resource_snapshot_index_used:
        raise CommandFailure(
            f"run {view.name} could not be planned, so there is nothing to do again",
            advice="create a new one: fleetgate run create --help",
        )
    known = {each.name: each.progress for stage in view.stages for each in stage.clusters}
    for cluster in clusters:
        if cluster not in known:
            raise CommandFailure(f"cluster {cluster} is not in run {view.name}")
        if known[cluster] is Progress.DONE:
            raise CommandFailure(f"cluster {cluster} is updated already")
    if all(each is Progress.DONE for each in known.values()):
        raise CommandFailure(f"run {view.name} has updated all of its clusters")


async def _free_name(hub: Hub, target: Target, view: RunView) -> str:
    """Return the first free name for the new run.

    Raises CommandFailure if a run of such a name has not ended: it does the same.
    """
    base, number = _RETRY.sub("", view.name), 1
    while True:
        ending = "-retry" if number == 1 else f"-retry-{number}"
        name = name_after(base, ending)
        found = await hub.find(target.scope.run, name, namespace=target.namespace)
        if found is None:
            return name
        if not phases.body_has_ended(found):
            raise CommandFailure(
                f"run {name} does that already",
                advice=f"watch it: fleetgate run watch {name}{words.namespace_flag(view)}",
            )
        number += 1

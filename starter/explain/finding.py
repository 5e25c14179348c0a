"""Finding runs on the hub: one by its name, or all of both scopes."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from api.runs import UpdateRun
from hub import Forbidden, Hub, NotFound
from starter.failures import ExitCode, Failure
from starter.run.reading import read
from starter.targets import Target


@dataclass(frozen=True, slots=True)
class Found:
    """A run and the kinds that belong to it."""

    scope: Scope
    run: UpdateRun


async def one(hub: Hub, target: Target, name: str) -> Found:
    """The run of that name.

    Raises Failure, with where else there is a run of the name, or that it may have been deleted.
    """
    try:
        return Found(target.scope, await read(hub, target, name))
    except NotFound as error:
        if not error.details.name:
            raise
        advice = await _elsewhere(hub, target, name)
        raise Failure(str(error), advice=advice, exit_code=ExitCode.NOT_FOUND) from error


async def every(hub: Hub, target: Target) -> list[Found]:
    """The runs of the namespace that is named; without one, all of both scopes.

    Raises Forbidden when nothing of that may be read; what else may not is left out, and said.
    """
    scopes = [NAMESPACED_SCOPE] if target.namespace else [CLUSTER_SCOPE, NAMESPACED_SCOPE]
    found: list[Found] = []
    refused: list[Forbidden] = []
    for scope in scopes:
        try:
            found += await _of(hub, scope, target.namespace)
        except Forbidden as error:
            refused.append(error)
    if len(refused) == len(scopes):
        raise refused[0]
    for each in refused:
        click.echo(f"left out: {each}", err=True)
    return found


async def _of(hub: Hub, scope: Scope, namespace: str) -> Sequence[Found]:
    listing = await hub.list(scope.run, namespace=namespace)
    return [Found(scope, UpdateRun.from_wire(each)) for each in listing.items]


async def _elsewhere(hub: Hub, target: Target, name: str) -> str:
    namespaces = [] if target.namespace else await _namesakes(hub, name)
    if namespaces:
        there = f"fleetgate run explain {name} -n {namespaces[0]}"
        return f"there is a run of this name in namespace {', '.join(namespaces)}: {there}"
    flag = f" -n {target.namespace}" if target.namespace else ""
    return f"it may have been deleted, or be in another namespace: fleetgate run list{flag}"


async def _namesakes(hub: Hub, name: str) -> list[str]:
    """Namespaces that have a run of the name, as far as one may look."""
    try:
        found = await hub.list(NAMESPACED_SCOPE.run, fields=f"metadata.name={name}")
    except Forbidden:
        return []
    return [each["metadata"]["namespace"] for each in found.items]

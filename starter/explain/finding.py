"""Finding runs on the hub: one by its name, or all of both scopes."""

from collections.abc import Sequence
from contextlib import suppress
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
    flags = await _namesakes(hub, name)
    if flags:
        there = ", ".join(f"fleetgate run explain {name}{flag}" for flag in flags)
        return f"there is a run of this name elsewhere: {there}"
    flag = f" -n {target.namespace}" if target.namespace else ""
    return f"it may have been deleted: fleetgate run list{flag}"


async def _namesakes(hub: Hub, name: str) -> list[str]:
    """What says where there are runs of the name, as far as one may look."""
    found: list[str] = []
    with suppress(Forbidden):
        found += [""] if await hub.find(CLUSTER_SCOPE.run, name) else []
    with suppress(Forbidden):
        listing = await hub.list(NAMESPACED_SCOPE.run, fields=f"metadata.name={name}")
        found += [f" -n {each['metadata']['namespace']}" for each in listing.items]
    return found

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
    """Return the run with this name.

    Raises Failure if there is none; its advice says where else a run with this name exists, or
    that it may have been deleted.
    """
    try:
        return Found(target.scope, await read(hub, target, name))
    except NotFound as error:
        if not error.details.name:
            raise
        advice = await _elsewhere(hub, target, name)
        raise Failure(str(error), advice=advice, exit_code=ExitCode.NOT_FOUND) from error


async def every(hub: Hub, target: Target) -> list[Found]:
    """Return the runs of the target's namespace, or without one all runs of both scopes.

    Raises Forbidden if the user may read none of these scopes; if only one of them is forbidden,
    it is skipped with a note on stderr.
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
        click.echo(f"skipped: {each}", err=True)
    return found


async def _of(hub: Hub, scope: Scope, namespace: str) -> Sequence[Found]:
    listing = await hub.list(scope.run, namespace=namespace)
    return [Found(scope, UpdateRun.from_wire(each)) for each in listing.items]


async def _elsewhere(hub: Hub, target: Target, name: str) -> str:
    flags = await _namesakes(hub, name)
    if flags:
        there = ", ".join(f"fleetgate run explain {name}{flag}" for flag in flags)
        return f"a run with this name exists elsewhere: {there}"
    flag = f" -n {target.namespace}" if target.namespace else ""
    return f"it may have been deleted: fleetgate run list{flag}"


async def _namesakes(hub: Hub, name: str) -> list[str]:
    """Return the namespace flags of all runs with this name, as far as the user may read them."""
    found: list[str] = []
    with suppress(Forbidden):
        found += [""] if await hub.find(CLUSTER_SCOPE.run, name) else []
    with suppress(Forbidden):
        listing = await hub.list(NAMESPACED_SCOPE.run, fields=f"metadata.name={name}")
        found += [f" -n {each['metadata']['namespace']}" for each in listing.items]
    return found

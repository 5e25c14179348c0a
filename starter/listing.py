"""Lists of objects as kubectl's: which namespaces they cover, labels, and following changes.

One rule for all lists:

    -n NAMESPACE    the objects of that namespace
    nothing         the cluster-scoped objects, and those of the context's namespace if it sets one
    -A              the cluster-scoped objects, and those of all namespaces

A command about one object uses the namespace of -n, or the cluster-scoped kind without it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

import click

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Kind, Scope
from hub import Forbidden, Hub, Json, kubeconfig, uid_of, version_of
from starter.following import follow
from starter.targets import Target

all_namespaces_option = click.option(
    "-A",
    "--all-namespaces",
    is_flag=True,
    help="List the cluster-scoped objects, and those of all namespaces.",
)


@dataclass(frozen=True, slots=True)
class Source:
    """Objects of one kind that belong to a list."""

    kind: Kind
    namespace: str = ""
    """Empty for all namespaces, and for a cluster-scoped kind."""


def sources(
    target: Target, kind_of: Callable[[Scope], Kind], *, all_namespaces: bool
) -> list[Source]:
    """Return what a list covers. Raises UsageError for both -n and -A."""
    namespaced = kind_of(NAMESPACED_SCOPE)
    if all_namespaces and target.namespace:
        raise click.UsageError("use either -n or -A, not both")
    if target.namespace:
        return [Source(namespaced, target.namespace)]
    found = [Source(kind_of(CLUSTER_SCOPE))]
    chosen = kubeconfig.namespace(target.kubeconfig, context=target.context)
    if all_namespaces or chosen:
        found.append(Source(namespaced, "" if all_namespaces else chosen))
    return found


async def read(hub: Hub, wanted: Sequence[Source], *, labels: str) -> list[Json]:
    """List all objects; sources that the user may not read are skipped and named on stderr.

    Raises Forbidden if that would be all of them.
    """
    answers = await asyncio.gather(
        *(hub.list(each.kind, namespace=each.namespace, labels=labels) for each in wanted),
        return_exceptions=True,
    )
    failed = [each for each in answers if isinstance(each, BaseException)]
    for error in failed:
        if len(failed) == len(answers) or not isinstance(error, Forbidden):
            raise error
        click.echo(f"skipped: {error}", err=True)
    return [item for each in answers if not isinstance(each, BaseException) for item in each.items]


async def changes(
    hub: Hub, wanted: Sequence[Source], *, labels: str, listed: Sequence[Json]
) -> AsyncGenerator[Json, None]:
    """Yield each object that is created, changed or deleted after it was listed."""
    found: asyncio.Queue[Json] = asyncio.Queue()
    known = {(uid_of(each), version_of(each)) for each in listed}

    async def pass_on(source: Source) -> None:
        own = [each for each in listed if each["kind"] == source.kind.kind]
        following = follow(hub, source.kind, namespace=source.namespace, labels=labels, listed=own)
        async with following as seen:
            async for change in seen:
                body = change.new or change.old
                if body and (change.new is None or (uid_of(body), version_of(body)) not in known):
                    found.put_nowait(body)

    following = [asyncio.create_task(pass_on(each)) for each in wanted]
    try:
        while True:
            yield await found.get()
    finally:
        for each in following:
            each.cancel()
        await asyncio.gather(*following, return_exceptions=True)

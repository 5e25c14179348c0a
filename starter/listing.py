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
from rich.console import Console
from rich.text import Text

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Kind, Scope
from hub import Forbidden, Hub, Json, kubeconfig, uid_of, version_of
from starter import output
from starter.following import follow
from starter.options import Listing
from starter.targets import Output, Target

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


Layout = Callable[[Sequence[Json], Console, bool], Text]
"""Lays objects out as a table for a console, with headings if the last argument is true."""


async def show(
    target: Target, wanted: Sequence[Source], listed: Listing, *, layout: Layout, empty: str
) -> None:
    """Print a list in the format of `-o`, and with `--watch` what changes afterwards.

    `empty` is printed on stderr instead of a table without rows. Raises HubError.
    """

    def put(objects: Sequence[Json], *, headed: bool, single: bool = False) -> None:
        if not target.output.is_table:
            output.print_objects(objects, target, single=single, headed=headed)
            return
        console = output.console(wide=target.output is Output.WIDE)
        output.print_table(console, layout(objects, console, headed))

    async with await target.connect() as hub:
        found = await read(hub, wanted, labels=listed.labels)
        if found or not target.output.is_table:
            put(found, headed=listed.headers)
        else:
            click.echo(empty, err=True)
        if listed.watch:
            async for each in changes(hub, wanted, labels=listed.labels, listed=found):
                put([each], headed=False, single=True)


def kinds(wanted: Sequence[Source]) -> str:
    """Name the kinds of a list."""
    return " or ".join(str(each.kind) for each in wanted)


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

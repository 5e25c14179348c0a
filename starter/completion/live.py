"""Completers for names on the hub: fast, and silent even if the hub is unreachable.

Every command imports this module, so whatever is slow to import is imported only for a query.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from click import Argument, Context, Parameter
from click.shell_completion import CompletionItem

from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE, Kind, Scope

if TYPE_CHECKING:
    from hub import Hub, Json
    from planning.runs.views import RunView
    from starter.targets import Target

WITHIN: Final = timedelta(seconds=1)
"""A person is waiting with a finger on the tab key."""

Item = CompletionItem[str]
Completer = Callable[[Context, Parameter, str], list[Item]]


@dataclass(frozen=True, slots=True)
class Typed:
    """The command line typed so far, and the hub that it is for."""

    hub: "Hub"
    target: "Target"
    words: dict[str, Any]
    """Values of options and arguments by name."""

    async def list(self, kind: Kind, *, labels: str = "") -> "list[Json]":
        """List the objects of a kind in the namespace that was typed."""
        namespace = self.target.namespace if kind.namespaced else ""
        return (await self.hub.list(kind, namespace=namespace, labels=labels)).items


Look = Callable[[Typed], Awaitable[Iterable[Item]]]


def on_hub(look: Look) -> Completer:
    """Make a completer for click that queries the hub and skips values already typed."""

    def complete(context: Context, parameter: Parameter, incomplete: str) -> list[Item]:
        before = context.params.get(parameter.name or "")
        typed = before if isinstance(before, tuple) else ()
        found = _ask(look, _words(context))
        return [
            each for each in found if each.value.startswith(incomplete) and each.value not in typed
        ]

    return complete


def _words(context: Context) -> dict[str, Any]:
    """Return the values of all options and arguments typed so far, by name.

    While an option still lacks its value, click leaves the arguments unparsed in `context.args`.
    """
    words, aside = dict(context.params), list(context.args)
    for parameter in context.command.params:
        if isinstance(parameter, Argument) and parameter.name and aside:
            words[parameter.name] = words.get(parameter.name) or aside.pop(0)
    return words


def _ask(look: Look, words: dict[str, Any]) -> Iterable[Item]:
    from hub import HubError

    try:
        with _silence():
            return asyncio.run(_answer(look, words))
    except (HubError, OSError, ValueError):  # a TimeoutError is an OSError
        return []


async def _answer(look: Look, words: dict[str, Any]) -> Iterable[Item]:
    # Imported before the time limit starts, because the limit is meant for the hub alone.
    from hub import kubeconfig, transport  # noqa: F401
    from starter import targets

    target = targets.found(words["kubeconfig"], words["context"], words.get("namespace") or "")
    async with asyncio.timeout(WITHIN.total_seconds()), await target.connect() as hub:
        return await look(Typed(hub, target, words))


@contextmanager
def _silence() -> Iterator[None]:
    """Keep warnings off the line being typed."""
    root, nowhere = logging.getLogger(), logging.NullHandler()
    root.addHandler(nowhere)
    try:
        yield
    finally:
        root.removeHandler(nowhere)


# -- completers ----------------------------------------------------------------------------


def _named(kind: Callable[[Scope], Kind]) -> Completer:
    """Make a completer for the names of a kind's objects."""

    async def look(typed: Typed) -> Iterable[Item]:
        found = await typed.list(kind(typed.target.scope))
        return [CompletionItem(each["metadata"]["name"]) for each in found]

    return on_hub(look)


placements = _named(lambda scope: scope.placement)
strategies = _named(lambda scope: scope.strategy)
namespaces = _named(lambda _: NAMESPACE)
members = _named(lambda _: MEMBER_CLUSTER)


def _runs(fits: "Callable[[RunView], bool]") -> Completer:
    """Make a completer for the names of matching runs; each comes with what the run is doing."""

    async def look(typed: Typed) -> Iterable[Item]:
        from starter import words

        views, now = await _views(typed), datetime.now(UTC)
        return [
            CompletionItem(each.name, help=words.phrase(each, now)) for each in views if fits(each)
        ]

    return on_hub(look)


def _has_ended(view: "RunView") -> bool:
    from planning.runs.phases import ENDED

    return view.phase in ENDED


runs = _runs(lambda _: True)
unfinished_runs = _runs(lambda view: not _has_ended(view))
waiting_runs = _runs(lambda view: bool(view.gates.approvals))


@on_hub
async def pending_stages(typed: Typed) -> Iterable[Item]:
    """Complete the stages with a gate that the run waits at."""
    gates = [
        gate
        for view in await _views(typed)
        if view.name == typed.words["run"]
        for gate in view.gates.approvals
    ]
    return [CompletionItem(gate.stage, help=str(gate)) for gate in gates]


@on_hub
async def clusters_of_run(typed: Typed) -> Iterable[Item]:
    """Complete the clusters of the run that are not done."""
    from planning.runs.phases import Progress

    return [
        CompletionItem(cluster.name, help=f"{cluster.progress}, stage {stage.name}")
        for view in await _views(typed)
        if view.name == typed.words["name"]
        for stage in view.stages
        for cluster in stage.clusters
        if cluster.progress is not Progress.DONE
    ]


@on_hub
async def indexes(typed: Typed) -> Iterable[Item]:
    """Complete the indexes of the placement's snapshots."""
    from planning.placements.snapshotting import revisions

    placement = typed.words.get("placement")
    if not placement:
        return []
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    found = await typed.list(typed.target.scope.resource_snapshot, labels=labels)
    return [
        CompletionItem(str(each.index), help="latest" if each.latest else None)
        for each in revisions(found)
    ]


def versions(context: Context, parameter: Parameter, incomplete: str) -> list[Item]:
    """Complete indexes and the words `latest` and `now`."""
    words = [each for each in ("latest", "now") if each.startswith(incomplete)]
    return [*indexes(context, parameter, incomplete), *map(CompletionItem, words)]


def _contexts_of(*options: str) -> Completer:
    """Make a completer for the contexts of the kubeconfig that the first given option names."""

    def complete(context: Context, _: Parameter, incomplete: str) -> list[Item]:
        from hub import BadConfiguration
        from hub.kubeconfig import contexts as contexts_in
        from starter import targets

        given = next(filter(None, map(context.params.get, options)), None)
        try:
            found = contexts_in(targets.found(given, None, "").kubeconfig)
        except BadConfiguration:
            return []
        return [CompletionItem(each) for each in found if each.startswith(incomplete)]

    return complete


contexts = _contexts_of("kubeconfig")
member_contexts = _contexts_of("member_kubeconfig", "kubeconfig")


async def _views(typed: Typed) -> "list[RunView]":
    from api.runs import UpdateRun
    from planning.runs import views

    found = await typed.list(typed.target.scope.run)
    return [views.of(UpdateRun.from_wire(each)) for each in found]

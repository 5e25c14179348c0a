"""Completers for names on the hub, one for each kind of argument."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from click import Context, Parameter
from click.shell_completion import CompletionItem

from api import names
from api.kinds import NAMESPACE, Kind, Scope
from starter.completion.asking import Completer, Item, Typed, on_hub

if TYPE_CHECKING:
    from planning.runs.views import RunView


def _named(kind: Callable[[Scope], Kind]) -> Completer:
    """Make a completer for the names of a kind's objects."""

    async def look(typed: Typed) -> Iterable[Item]:
        found = await typed.list(kind(typed.target.scope))
        return [CompletionItem(each["metadata"]["name"]) for each in found]

    return on_hub(look)


placements = _named(lambda scope: scope.placement)
strategies = _named(lambda scope: scope.strategy)
namespaces = _named(lambda _: NAMESPACE)


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


def contexts(context: Context, _: Parameter, incomplete: str) -> list[Item]:
    """Complete the contexts of the kubeconfig."""
    from hub import BadConfiguration
    from hub.kubeconfig import contexts as contexts_of
    from starter import targets

    kubeconfig = targets.found(context.params["kubeconfig"], None, "").kubeconfig
    try:
        found = contexts_of(kubeconfig)
    except BadConfiguration:
        return []
    return [CompletionItem(each) for each in found if each.startswith(incomplete)]


async def _views(typed: Typed) -> "list[RunView]":
    from api.runs import UpdateRun
    from planning.runs import views

    found = await typed.list(typed.target.scope.run)
    return [views.of(UpdateRun.from_wire(each)) for each in found]

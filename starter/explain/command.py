"""`fleetgate run explain`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import click

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from api.runs import UpdateRun
from hub import Forbidden, Hub, NotFound
from starter import output, views, words
from starter.explain import explanations, showing
from starter.explain.collecting import Collector
from starter.explain.documents import document
from starter.explain.explanations import Explanation
from starter.explain.looks import Look
from starter.explain.troubles import OnMember
from starter.failures import ExitCode, Failure
from starter.helping import examples
from starter.run.reading import read
from starter.targets import Output, Target, output_option, target_options
from starter.views import Phase

AT_ONCE: Final = 8
"""Runs that are looked at side by side: each takes up to some ten requests."""


@dataclass(frozen=True, slots=True)
class Found:
    """A run and the kinds that belong to it."""

    scope: Scope
    run: UpdateRun


@click.command(
    epilog=examples(
        "fleetgate run explain example-run",
        "fleetgate run explain web-app-rollout -n my-app-namespace",
        "fleetgate run explain --all",
        "fleetgate run explain example-run -o json | jq -r .attention",
    )
)
@click.argument("name", required=False)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every run that has not ended, of all namespaces unless -n names one; those that need a "
    "person come first.",
)
@output_option
@target_options
def explain(target: Target, name: str | None, everything: bool) -> None:
    """Say why a run is where it is: what it waits for, what is wrong, who must act, what is next.

    Reads bindings, Works and members, so that nobody has to. With -o json the same as data:
    attention is person, worker or nobody.
    """
    if bool(name) == everything:
        raise click.UsageError("name a run, or ask for --all")
    asyncio.run(_all(target) if everything else _one(target, name or ""))


async def _one(target: Target, name: str) -> None:
    async with await target.connect() as hub:
        try:
            run = await read(hub, target, name)
        except NotFound as error:
            raise await _not_found(hub, target, name, error) from error
        found = await _explained(hub, Found(target.scope, run), _reach(target))
    _print([found], target.output, single=True)


async def _all(target: Target) -> None:
    async with await target.connect() as hub:
        runs = await _runs(hub, target)
        active = [each for each in runs if views.phase(each.run) not in views.ENDED]
        turns = asyncio.Semaphore(AT_ONCE)

        async def in_turn(each: Found) -> Explanation:
            async with turns:
                return await _explained(hub, each, _reach(target))

        found = await asyncio.gather(*map(in_turn, active))
    ordered = sorted(found, key=lambda each: (each.situation.attention, each.view.name))
    if not ordered and target.output in {Output.TABLE, Output.WIDE}:
        click.echo(_quiet(runs))
    else:
        _print(ordered, target.output, single=False)


async def _explained(hub: Hub, found: Found, on_member: OnMember) -> Explanation:
    view = views.of(found.run)
    named = explanations.looked_at(view)[: words.NAMED_AT_MOST]
    evidence = await Collector(hub, found.scope, view).collect([each.name for each in named])
    look = Look(found.run, view, found.scope, evidence, datetime.now(UTC))
    return explanations.of(look, on_member=on_member)


async def _runs(hub: Hub, target: Target) -> list[Found]:
    """The runs of the namespace that is named, or all of both scopes."""
    scopes = [NAMESPACED_SCOPE] if target.namespace else [CLUSTER_SCOPE, NAMESPACED_SCOPE]
    found = []
    for scope in scopes:
        try:
            listing = await hub.list(scope.run, namespace=target.namespace)
        except Forbidden as error:
            if len(scopes) == 1:
                raise
            click.echo(f"left out: {error}", err=True)
            continue
        found += [Found(scope, UpdateRun.from_wire(each)) for each in listing.items]
    return found


async def _not_found(hub: Hub, target: Target, name: str, error: NotFound) -> Exception:
    """The same, with where there is a run of the name; or that there is none any more."""
    if not error.details.name:
        return error
    elsewhere = [] if target.namespace else await _namesakes(hub, name)
    if elsewhere:
        advice = f"there is one in namespace {', '.join(elsewhere)}: add -n {elsewhere[0]}"
    else:
        flag = f" -n {target.namespace}" if target.namespace else ""
        advice = f"it may have been deleted, or be in another namespace: fleetgate run list{flag}"
    return Failure(str(error), advice=advice, exit_code=ExitCode.NOT_FOUND)


async def _namesakes(hub: Hub, name: str) -> list[str]:
    try:
        found = await hub.list(NAMESPACED_SCOPE.run, fields=f"metadata.name={name}")
    except Forbidden:
        return []
    return [each["metadata"]["namespace"] for each in found.items]


def _reach(target: Target) -> OnMember:
    """How to reach a member with kubectl: the local fleet's are known, of others only the name."""

    def on_member(cluster: str, arguments: str) -> str:
        path = target.fleet.kubeconfig(cluster) if target.fleet else None
        if path and path.exists():
            return f"kubectl --kubeconfig {path} {arguments}"
        return f"kubectl {arguments}  # on {cluster}"

    return on_member


def _quiet(runs: Sequence[Found]) -> str:
    """What is said when no run is active."""
    seen = [views.of(each.run) for each in runs]
    failed = [each for each in seen if each.phase is Phase.FAILED and each.deciding]
    if not failed:
        return "No run is active, and none has failed."
    last = max(failed, key=lambda each: each.deciding.last_transition_time if each.deciding else 0)
    return (
        f"No run is active. The last that failed: "
        f"fleetgate run explain {last.name}{words.namespace_flag(last)}"
    )


def _print(found: Sequence[Explanation], form: Output, *, single: bool) -> None:
    if form is Output.NAME:
        for each in found:
            click.echo(output.resource_name(each.kind, each.view.name))
    elif form in {Output.JSON, Output.YAML}:
        documents = [document(each) for each in found]
        output.print_document(documents[0] if single else {"runs": documents}, form)
    else:
        _show(found, wide=form is Output.WIDE)


def _show(found: Sequence[Explanation], *, wide: bool) -> None:
    console = output.console(wide=wide)
    for position, each in enumerate(found):
        if position:
            console.print()
        showing.show(console, each)

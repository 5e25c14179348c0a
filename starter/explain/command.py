"""`fleetgate run explain`."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import click

from hub import Hub
from planning.runs import phases, views
from planning.runs.phases import Phase
from planning.runs.views import RunView
from starter import output, words
from starter.completion import live
from starter.explain import collecting, explanations, showing
from starter.explain.collecting import Collector, FoundRun
from starter.explain.explanations import Explanation
from starter.explain.looks import Look
from starter.explain.reaching import MemberContexts, reach
from starter.explain.showing import document
from starter.explain.troubles import OnMember
from starter.helping import examples
from starter.options import output_option, target_options
from starter.targets import Output, Target

AT_ONCE: Final = 8
"""Runs that are read concurrently; each takes up to about ten requests."""


@click.command(
    epilog=examples(
        "fleetgate run explain example-run",
        "fleetgate run explain web-app-rollout -n my-app-namespace",
        "fleetgate run explain --all",
        "fleetgate run explain example-run -o json | jq -r .attention",
    )
)
@click.argument("name", required=False, shell_complete=live.runs)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Explain all runs that have not ended, in all namespaces unless -n is given; those that "
    "need a person come first.",
)
@click.option(
    "--member-contexts",
    "named",
    type=MemberContexts(),
    metavar="MEMBER=CONTEXT,…",
    envvar="FLEETGATE_MEMBER_CONTEXTS",
    default="",
    help="Kubeconfig contexts of the members, for the kubectl commands in the output; "
    "`*=prod-{member}` applies to all  [FLEETGATE_MEMBER_CONTEXTS; default: the context with the "
    "member's name].",
)
@output_option
@target_options
def explain(target: Target, name: str | None, everything: bool, named: Mapping[str, str]) -> None:
    """Explain where a run is and why: what it waits for, what is wrong, who must act, what is next.

    Reads the run's bindings, Works and members for you. With -o json it prints the same as data;
    attention is person, worker or nobody.
    """
    if bool(name) == everything:
        raise click.UsageError("specify either a run or --all")
    on_member = reach(target, named)
    asyncio.run(_all(target, on_member) if everything else _one(target, name or "", on_member))


async def _one(target: Target, name: str, on_member: OnMember) -> None:
    async with await target.connect() as hub:
        found = await _explained(hub, await collecting.one(hub, target, name), on_member)
    _print([found], target, single=True)


async def _all(target: Target, on_member: OnMember) -> None:
    async with await target.connect() as hub:
        runs = await collecting.every(hub, target)
        active = [each for each in runs if phases.phase(each.run.status) not in phases.ENDED]
        found = await _each(hub, active, on_member)
    if found or not target.output.is_table:
        _print(sorted(found, key=explanations.urgency), target, single=False)
    else:
        click.echo(_quiet([views.of(each.run) for each in runs]))


async def _each(hub: Hub, runs: Sequence[FoundRun], on_member: OnMember) -> list[Explanation]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def in_turn(each: FoundRun) -> Explanation:
        async with turns:
            return await _explained(hub, each, on_member)

    return await asyncio.gather(*map(in_turn, runs))


async def _explained(hub: Hub, found: FoundRun, on_member: OnMember) -> Explanation:
    view = views.of(found.run)
    clusters = [each.name for each in explanations.looked_at(view)]
    evidence = await Collector(hub, found.scope, view).collect(
        clusters[: words.NAMED_AT_MOST], others=clusters[words.NAMED_AT_MOST :]
    )
    look = Look(found.run, view, found.scope, evidence, datetime.now(UTC))
    return explanations.of(look, on_member=on_member)


def _quiet(runs: Sequence[RunView]) -> str:
    """Return the text for when no run is active."""
    ended = [(each.deciding.last_transition_time, each) for each in runs if each.deciding]
    failed = [(at, each) for at, each in ended if each.phase is Phase.FAILED]
    if not failed:
        return "No run is active, and none has failed."
    _, last = max(failed, key=lambda each: each[0])
    command = f"fleetgate run explain {last.name}{words.namespace_flag(last)}"
    return f"No run is active. The last one that failed: {command}"


def _print(found: Sequence[Explanation], target: Target, *, single: bool) -> None:
    if target.output.is_table:
        _show(found, wide=target.output is Output.WIDE)
    elif target.output is Output.NAME:
        for each in found:
            click.echo(output.resource_name(each.kind, each.view.name))
    else:
        documents = [document(each) for each in found]
        body = documents[0] if single else {"runs": documents}
        output.print_document(body, target, rows=documents)


def _show(found: Sequence[Explanation], *, wide: bool) -> None:
    console = output.console(wide=wide)
    for position, each in enumerate(found):
        if position:
            console.print()
        showing.show(console, each)

"""`fleetgate member list` and `fleetgate member show`."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.text import Text

from api.base import Condition
from api.kinds import MEMBER_CLUSTER
from api.members import MemberCluster, Taint
from api.names import MEMBER_NAME
from api.reasons import ConditionType
from deploy.joining import on_hub
from hub import Json
from planning import conditions
from planning.placements import eligibility
from starter import columns, listing, output, words
from starter.completion import live
from starter.helping import examples
from starter.listing import Source
from starter.member import joined
from starter.options import Listing, list_options, output_option, target_options
from starter.targets import Target

# -- fleetgate member list -----------------------------------------------------------------


@click.command(
    name="list",
    epilog=examples("fleetgate member list", "fleetgate member list -o wide"),
)
@list_options
@output_option
@target_options
def list_members(target: Target, listed: Listing) -> None:
    """List the members of the fleet, and when the agent of each last reported."""
    empty = "no member found; `fleetgate member join` adds one"
    wanted = [Source(MEMBER_CLUSTER)]
    asyncio.run(listing.show(target, wanted, listed, layout=_layout, empty=empty))


def _layout(found: Sequence[Json], console: Console, headed: bool) -> Text:
    now, room = datetime.now(UTC), output.room(console)
    headings = ["NAME", "JOINED", "HEARTBEAT", "VERSION", "TAINTS", "LABELS"]
    rows = [_row(MemberCluster.from_wire(each), now) for each in found]
    return columns.table(headings, rows, room=room, keep=0, headed=headed)


def _row(member: MemberCluster, now: datetime) -> Sequence[str]:
    return [
        member.metadata.name,
        _joined(member),
        words.age(eligibility.silence(member, now=now)),
        joined.version(member),
        _taints(member.spec.taints),
        _labels(member),
    ]


def _joined(member: MemberCluster) -> str:
    if member.metadata.deletion_timestamp:
        return "Leaving"
    condition = conditions.find(member.status.conditions, ConditionType.JOINED)
    return condition.status if condition else "Unknown"


def _taints(taints: Sequence[Taint]) -> str:
    # Written as `kubectl taint` reads them.
    return ",".join(
        f"{each.key}={each.value}:{each.effect}" if each.value else f"{each.key}:{each.effect}"
        for each in taints
    )


def _labels(member: MemberCluster) -> str:
    own = {key: value for key, value in member.metadata.labels.items() if key != MEMBER_NAME}
    return ",".join(f"{key}={value}" for key, value in sorted(own.items()))


# -- fleetgate member show -----------------------------------------------------------------


@click.command(epilog=examples("fleetgate member show member1"))
@click.argument("name", shell_complete=live.members)
@output_option
@target_options
def show(target: Target, name: str) -> None:
    """Show a member: its state, its agent's identity, and whether placements can pick it."""
    asyncio.run(_show(target, name))


async def _show(target: Target, name: str) -> None:
    async with await target.connect() as hub:
        body = await hub.get(MEMBER_CLUSTER, name)
    if not target.output.is_table:
        output.print_objects([body], target, single=True)
        return
    facts = list(_facts(MemberCluster.from_wire(body), datetime.now(UTC)))
    width = max(len(name) for name, _ in facts)
    for name, fact in facts:
        click.echo(f"{name:<{width}}  {fact}")


def _facts(member: MemberCluster, now: datetime) -> Iterator[tuple[str, str]]:
    silent = eligibility.silence(member, now=now)
    problem = eligibility.ineligible(member, now=now)
    healthy = conditions.find(member.status.conditions, ConditionType.HEALTHY)
    yield "name", member.metadata.name
    yield "joined", _joined(member)
    yield "heartbeat", "none yet" if silent is None else f"{words.age(silent)} ago"
    yield "healthy", _with_reason(healthy)
    yield "version", joined.version(member) or "unknown"
    yield "agent", on_hub.subject(member.spec.identity)
    yield "labels", _labels(member) or "none"
    yield "taints", _taints(member.spec.taints) or "none"
    yield "placements", f"cannot pick it: {problem}" if problem else "can pick it"


def _with_reason(condition: Condition | None) -> str:
    if condition is None:
        return "unknown"
    return f"{condition.status}: {condition.message}" if condition.message else condition.status

"""`fleetgate policy list` and `fleetgate policy show`: the rules that runs follow.

policies: 2.1, 4
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.text import Text

from api.base import ObjectMeta
from api.rollout_policies import BaseRolloutPolicy, PolicyTarget
from api.rollout_reports import PolicyField
from api.strategies import StrategySpec
from hub import Hub, Json, NotFound
from planning.errors import InitializationError
from planning.policies import resolving
from planning.policies.resolving import PolicySubject
from starter import columns, listing, output, words
from starter.completion import live
from starter.failures import CommandFailure, ExitCode
from starter.helping import examples
from starter.options import Listing, list_options, output_option, target_options
from starter.targets import Target

NO_RULES = "no rollout policy applies: a run waits for each cluster, however long it takes"


@click.command(
    name="list",
    epilog=examples("fleetgate policy list", "fleetgate policy list -n my-app-namespace"),
)
@listing.all_namespaces_option
@list_options
@output_option
@target_options
def list_policies(target: Target, listed: Listing, all_namespaces: bool) -> None:
    """List rollout policies, with what they apply to and the fields that they set."""
    wanted = listing.sources(target, lambda scope: scope.policy, all_namespaces=all_namespaces)
    empty = f"no {listing.kinds(wanted)} found: {NO_RULES}"
    asyncio.run(listing.show(target, wanted, listed, layout=_layout, empty=empty))


def _layout(found: Sequence[Json], console: Console, headed: bool) -> Text:
    policies = [BaseRolloutPolicy.from_wire(each) for each in found]
    namespaced = any(each.metadata.namespace for each in policies)
    rows = [[each.metadata.namespace] * namespaced + _row(each) for each in policies]
    headings = ["NAMESPACE"] * namespaced + ["NAME", "AGE", "APPLIES TO", "SETS"]
    return columns.table(headings, rows, room=output.room(console), headed=headed)


def _row(policy: BaseRolloutPolicy) -> list[str]:
    meta = policy.metadata
    age = datetime.now(UTC) - meta.creation_timestamp if meta.creation_timestamp else None
    targets = ", ".join(map(_target, policy.spec.target_refs))
    return [meta.name, words.age(age), targets, ", ".join(_fields(policy.spec.to_wire()))]


def _target(ref: PolicyTarget) -> str:
    which = ref.name or "by labels"
    stages = f" ({', '.join(ref.stages)})" if ref.stages else ""
    return f"{which}{stages}"


def _fields(section: Json, path: str = "") -> Iterator[str]:
    """Yield `name=value` for each field that a policy sets."""
    for name, value in section.items():
        if name == "targetRefs":
            continue
        if isinstance(value, dict):
            yield from _fields(value, f"{path}{name}.")
        else:
            yield f"{path}{name}={value}"


# -- fleetgate policy show -----------------------------------------------------------------


@click.command(
    epilog=examples(
        "fleetgate policy show example-strategy",
        "fleetgate policy show example-strategy --placement example-placement",
        "fleetgate policy show web-app -n my-app-namespace",
    )
)
@click.argument("name", shell_complete=live.strategies)
@click.option(
    "--placement",
    default="",
    shell_complete=live.placements,
    help="Placement that the strategy is used for: policies may apply to either.",
)
@target_options
def show(target: Target, name: str, placement: str) -> None:
    """Show the rules for runs of a strategy or placement, and which policy sets each.

    These are the rules of a run that is planned now. A run that is planned already keeps the rules
    that it was planned with, which are in its report.
    """
    asyncio.run(_show(target, name, placement))


async def _show(target: Target, name: str, placement: str) -> None:
    kind = target.scope.policy
    async with await target.connect() as hub:
        listed = (await hub.list(kind, namespace=target.namespace)).items
        subject = await _subject(hub, target, name, placement)
    policies = [BaseRolloutPolicy.from_wire(each) for each in listed]
    try:
        rules = resolving.resolve(policies, subject)
    except InitializationError as error:
        raise CommandFailure(
            f"a run could not be planned: {error}", exit_code=ExitCode.FAILED
        ) from error
    if not rules.fields:
        click.echo(NO_RULES, err=True)
        return
    console = output.console()
    headings = ["FIELD", "STAGE", "VALUE", "POLICY", "GENERATION"]
    room = output.room(console)
    output.print_table(console, columns.table(headings, _sources(rules.fields), room=room))


def _sources(fields: Sequence[PolicyField]) -> list[list[str]]:
    return [
        [each.name, each.stage or "all", str(each.value), each.policy, str(each.generation)]
        for each in fields
    ]


async def _subject(hub: Hub, target: Target, name: str, placement: str) -> PolicySubject:
    """Return what the policies are matched against.

    Raises CommandFailure if there is neither a strategy nor a placement of that name.
    """
    scope = target.scope
    strategy = await hub.find(scope.strategy, name, namespace=target.namespace)
    if strategy is None and placement:
        raise CommandFailure(f"there is no {scope.strategy} {name}", exit_code=ExitCode.NOT_FOUND)
    wanted = placement or ("" if strategy else name)
    placed = await _find(hub, target, wanted) if wanted else None
    stages = StrategySpec.model_validate(strategy["spec"]).stages if strategy else []
    return PolicySubject(
        scope=scope,
        strategy=_metadata(strategy),
        placement=_metadata(placed),
        stages=[each.name for each in stages],
    )


async def _find(hub: Hub, target: Target, name: str) -> Json:
    kind = target.scope.placement
    try:
        return await hub.get(kind, name, namespace=target.namespace)
    except NotFound as error:
        raise CommandFailure(
            f"there is no {target.scope.strategy} and no {kind} named {name}",
            exit_code=ExitCode.NOT_FOUND,
        ) from error


def _metadata(body: Json | None) -> ObjectMeta | None:
    return ObjectMeta.model_validate(body["metadata"]) if body else None

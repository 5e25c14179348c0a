"""The command `fleetgate rollback`."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import click

from api.names import COPY_OF, UNDOES
from api.rollout_policies import ConcurrentRuns
from api.runs import RunState, UpdateRun, UpdateRunSpec
from hub import AlreadyExists, Forbidden, Hub, HubError, Json
from planning.identity import RunRef, name_after
from planning.placements.selecting import SelectionRules
from planning.runs import views
from planning.runs.phases import Phase
from starter import output, records, words
from starter.completion import live
from starter.failures import CommandFailure
from starter.helping import examples
from starter.options import confirm, target_options, yes_option
from starter.patience import Patience, wait_options
from starter.plan.drafting import Draft, draft
from starter.plan.showing import print_draft
from starter.records import Record
from starter.rollback import choosing
from starter.rollback.choosing import RollbackError
from starter.run.creating import body
from starter.run.steering import ask_for
from starter.run.waiting import Waiting
from starter.targets import Target
from workflows.messages import ChangeState

_ONE_AT_A_TIME = (ConcurrentRuns.QUEUE, ConcurrentRuns.REFUSE)
"""Rules by which a new run does not begin before those that are ahead are over."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command; empty ones are derived from earlier runs."""

    placement: str
    to: str = ""
    strategy: str = ""
    name: str = ""


@click.command(
    epilog=examples(
        "fleetgate rollback example-placement",
        "fleetgate rollback example-placement --to 0 --strategy all-at-once --yes",
        "fleetgate rollback web-app -n my-app-namespace --stop-active",
    )
)
@click.argument("placement", shell_complete=live.placements)
@click.option(
    "--to",
    metavar="INDEX",
    default="",
    shell_complete=live.indexes,
    help="Index of the snapshot to roll back to  [default: the one before the last run's].",
)
@click.option(
    "--strategy",
    default="",
    shell_complete=live.strategies,
    help="Strategy to use  [default: the last run's].",
)
@click.option("--name", default="", help="Name of the run  [default: PLACEMENT-rollback-INDEX].")
@click.option("--stop-active", is_flag=True, help="Stop active runs of the placement first.")
@click.option("--diff", is_flag=True, help="Show line by line what changes.")
@yes_option
@wait_options
@target_options
def rollback(
    target: Target,
    patience: Patience,
    stop_active: bool,
    diff: bool,
    yes: bool,
    **asked: str,
) -> None:
    """Roll out an older snapshot: create a run for it, and start it.

    Shows what the run would do, and asks for confirmation first. Waits until clusters start or the
    run reaches a gate, and prints which.
    """
    wanted = Asked(**asked)
    asyncio.run(_rollback(target, patience, wanted, stop_active=stop_active, diff=diff, yes=yes))


async def _rollback(
    target: Target, patience: Patience, asked: Asked, *, stop_active: bool, diff: bool, yes: bool
) -> None:
    async with await target.connect() as hub:
        known = await records.read(hub, target, asked.placement)
        if known.active and not stop_active:
            raise others_active(known.active, datetime.now(UTC))
        run, strategy = await _shown(hub, target, asked, known, diff=diff)
        click.echo()
        confirm(_question(run, known.active), yes=yes)
        waiting = Waiting(hub, target, patience.timeout)
        for other in known.active:
            await _stop(waiting, other)
        await _start(waiting, run, patience, strategy=strategy)


async def _shown(
    hub: Hub, target: Target, asked: Asked, known: Record, *, diff: bool
) -> tuple[UpdateRun, Json | None]:
    """Show what the run would do and why it uses that snapshot.

    Return the run, and the strategy to create for it if policies say how rollbacks go. Raises
    CommandFailure.
    """
    spec, why = spec_of(asked, known)
    name = name_of(asked, spec.resource_snapshot_index, known.names)
    for line in why:
        click.echo(line)
    ref = RunRef(scope_name=target.scope.name, namespace=target.namespace, name=name, uid="")
    strategy = None
    try:
        made, strategy = await _draft(hub, target, ref, spec, as_is=bool(asked.strategy))
    except Forbidden as error:
        # A user with rights in one namespace may not be allowed to read the fleet.
        click.echo(f"cannot show what the run would do: {error}", err=True)
    else:
        print_draft(output.console(), made, target, whole=diff)
        if made.ahead and made.rules.concurrent_runs in _ONE_AT_A_TIME:
            raise waits_for(made.ahead, target)
    if strategy:
        spec = spec.model_copy(update={"staged_rollout_strategy_name": name})
    run = body(target.scope, name, target.namespace, spec)
    if undone := choosing.undone(known.runs):
        run.metadata.annotations[UNDOES] = undone.metadata.name
    return run, strategy


async def _draft(
    hub: Hub, target: Target, run: RunRef, spec: UpdateRunSpec, *, as_is: bool
) -> tuple[Draft, Json | None]:
    """Plan the run, and return its own strategy if it needs one and the user may create it.

    Raises Forbidden, CommandFailure.
    """
    # The run has an index, so the selection rules do not matter.
    rules = SelectionRules()
    made = await draft(hub, run, spec, rules=rules, undoes=True, as_is=as_is)
    if made.copied is None:
        return made, None
    kind, base = target.scope.strategy, spec.staged_rollout_strategy_name
    metadata = run.named(run.name) | {"annotations": {COPY_OF: base}}
    strategy = {"metadata": metadata, "spec": made.copied.to_wire()}
    policies = words.named(list(dict.fromkeys(each.policy for each in made.rules.fields)))
    try:
        await hub.create(kind, strategy, namespace=target.namespace, dry_run=True)
    except Forbidden:
        click.echo(
            f"rollout policy {policies} says how rollbacks go, which needs a strategy that you may "
            f"not create; the run uses strategy {base} as it is"
        )
        return await draft(hub, run, spec, rules=rules, undoes=True, as_is=True), None
    except AlreadyExists as error:
        raise CommandFailure(
            f"there is a {kind.kind} {run.name} already, and the run needs its own",
            advice=f"choose another name with --name, or use strategy {base} as it is: "
            f"--strategy {base}",
        ) from error
    click.echo(
        f"strategy {run.name} is a copy of {base} that goes as rollout policy {policies} says; "
        f"--strategy {base} uses the strategy as it is"
    )
    return made, strategy


def _question(run: UpdateRun, active: Sequence[UpdateRun]) -> str:
    make = f"create and start run {run.metadata.name}?"
    if not active:
        return make.capitalize()
    return f"Stop {words.named([each.metadata.name for each in active])}, then {make}"


async def _stop(waiting: Waiting, run: UpdateRun) -> None:
    """Stop another run, without waiting for stuck clusters: taking those over ends that run."""
    message = ChangeState(comment="to roll back")
    await ask_for(RunState.STOP, waiting.hub, waiting.target, run, message)
    view = await waiting.until_stopped(run, or_stuck=True)
    if view.phase is Phase.STUCK:
        name = run.metadata.name
        click.echo(f"the rollback takes over the stuck clusters, which ends run {name}")


async def _start(
    waiting: Waiting, run: UpdateRun, patience: Patience, *, strategy: Json | None
) -> None:
    kind, namespace = waiting.target.scope.run, waiting.target.namespace
    if strategy:
        made = await _create_with(strategy, waiting, run)
    else:
        found = await waiting.hub.create(kind, run.to_wire(), namespace=namespace)
        made = UpdateRun.from_wire(found)
    name = made.metadata.name
    click.echo(f"{output.resource_name(kind, name)} created")
    for line in await waiting.until_under_way(made) if patience.wait else ():
        click.echo(line)
    flag = words.namespace_flag(views.of(made))
    click.echo(f"  fleetgate run watch {name}{flag}")


async def _create_with(strategy: Json, waiting: Waiting, run: UpdateRun) -> UpdateRun:
    """Create the run with a strategy of its own, which is deleted with it."""
    hub, scope, namespace = waiting.hub, waiting.target.scope, waiting.target.namespace
    name = run.metadata.name
    await hub.create(scope.strategy, strategy, namespace=namespace)
    try:
        found = await hub.create(scope.run, run.to_wire(), namespace=namespace)
    except HubError:
        await hub.delete(scope.strategy, name, namespace=namespace)
        raise
    made = UpdateRun.from_wire(found)
    ref = RunRef(scope_name=scope.name, namespace=namespace, name=name, uid=made.metadata.uid)
    owned = {"metadata": {"ownerReferences": [ref.as_owner]}}
    await hub.patch(scope.strategy, name, owned, namespace=namespace)
    return made


# -- what is rolled out --------------------------------------------------------------------


def spec_of(asked: Asked, known: Record) -> tuple[UpdateRunSpec, list[str]]:
    """Return the spec of the run, and lines that say why it uses that snapshot.

    Raises CommandFailure if there is nothing to roll back to, no such snapshot, or no known
    strategy.
    """
    index, why = _asked_for(asked.to, known) if asked.to else _before(known)
    chosen = UpdateRunSpec(
        placement_name=asked.placement,
        staged_rollout_strategy_name=asked.strategy or _strategy(known.runs),
        resource_snapshot_index=index,
        state=RunState.RUN,
    )
    return chosen, why


def name_of(asked: Asked, index: str, taken: Collection[str]) -> str:
    """Return the name of the run: the given one, or else the first free one."""
    if asked.name:
        return asked.name
    number, ending = 1, f"-rollback-{index}"
    while (found := name_after(asked.placement, ending)) in taken:
        number += 1
        ending = f"-rollback-{index}-{number}"
    return found


def others_active(active: Sequence[UpdateRun], now: datetime) -> CommandFailure:
    """Make the failure that other runs are active, with what to do about it."""
    seen = [views.of(each) for each in active]
    doing = "; ".join(f"run {each.name}: {words.sentence(each, now)}" for each in seen)
    stop = ", ".join(f"fleetgate run stop {each.name}{words.namespace_flag(each)}" for each in seen)
    return CommandFailure(
        f"the placement is being rolled out by another run; {doing}",
        advice=f"stop it first: {stop}; or add --stop-active",
    )


def waits_for(ahead: Sequence[str], target: Target) -> CommandFailure:
    """Make the failure that the rollback would not begin, because stopped runs keep their place."""
    flag = f" -n {target.namespace}" if target.namespace else ""
    return CommandFailure(
        f"the rollback would wait for {words.named(ahead)}: the rollout policy lets only one run "
        "of the placement run at a time, and a run that is stopped keeps its place",
        advice="delete what is ahead, which leaves the clusters as they are: "
        f"fleetgate run delete {' '.join(ahead)}{flag}; or let the policy say concurrentRuns: "
        "Supersede, so that a newer run replaces older ones",
    )


def _asked_for(index: str, known: Record) -> tuple[str, list[str]]:
    return known.version(index).index, []


def _before(known: Record) -> tuple[str, list[str]]:
    stored = known.versions.stored
    whole = [index for index, each in stored.items() if not each.missing]
    on_clusters = set(known.versions.has_now.values())
    try:
        found = choosing.choose(known.runs, stored=whole, on_clusters=on_clusters)
    except RollbackError as error:
        raise CommandFailure(
            f"there is nothing to roll back to: {error}",
            advice=f"specify a snapshot with --to; available: {', '.join(whole) or 'none'}",
        ) from error
    rolled_out = found.last.status.resource_snapshot_index_used
    undone = f"run {found.last.metadata.name} rolled out snapshot {rolled_out}"
    why = [f"{undone}; snapshot {found.index} is {found.why}"]
    if found.left_out:
        left_out = ", ".join(found.left_out)
        why.append(f"skipped: {left_out}, because less is known about them; --to selects one")
    return found.index, why


def _strategy(runs: Sequence[UpdateRun]) -> str:
    try:
        return choosing.strategy(runs)
    except RollbackError as error:
        raise CommandFailure(str(error), advice="specify one with --strategy") from error

"""`fleetgate run skip` and `fleetgate run retry`: decisions about clusters of a run.

policies: 2.3, 4
"""

import asyncio
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import click

from api.rollout_decisions import BaseRolloutDecision, Decision, DecisionState
from api.runs import UpdateRun
from hub import Hub, Json, NotFound
from planning.runs import phases, views
from planning.runs.phases import Progress
from starter import people
from starter.completion import live
from starter.failures import CommandFailure, ExitCode
from starter.following import follow
from starter.helping import examples
from starter.options import target_options
from starter.run.reading import read, read_unfinished
from starter.run.retrying import retry_ended
from starter.targets import Target

ANSWERED_WITHIN: Final = timedelta(seconds=30)
"""How long to wait for the engine: it answers within a second, unless no worker is running."""

_reason = click.option(
    "--reason", required=True, help="Why, for the record: the run's report and history keep it."
)


@click.command(
    epilog=examples(
        'fleetgate run skip example-run member2 --reason "its node is being replaced"',
        "fleetgate run skip web-app-rollout east-1 east-2 -n my-app-namespace --reason INC-7",
    )
)
@click.argument("name", shell_complete=live.unfinished_runs)
@click.argument("clusters", nargs=-1, required=True, shell_complete=live.clusters_of_run)
@_reason
@target_options
def skip(target: Target, name: str, clusters: Sequence[str], reason: str) -> None:
    """Let a run continue without clusters, whether they are in flight, failed or still ahead.

    They keep what they have, count as dealt with, and are listed in the run's report.
    """
    asyncio.run(_skip(target, name, clusters, reason))


@click.command(
    epilog=examples(
        'fleetgate run retry example-run member2 --reason "quota raised"',
        'fleetgate run retry example-run --failed --reason "registry is back"',
    )
)
@click.argument("name", shell_complete=live.runs)
@click.argument("clusters", nargs=-1, shell_complete=live.clusters_of_run)
@click.option(
    "--failed",
    is_flag=True,
    help="All that have failed; of an ended run, all not updated.",
)
@_reason
@target_options
def retry(target: Target, name: str, clusters: Sequence[str], failed: bool, reason: str) -> None:
    """Hand clusters of a run out once more: failed, skipped or stuck ones.

    At once in the stage that runs, else after the last stage. For a run that has ended, creates a
    run of the same version and strategy, in which clusters that have the version are done at once.
    """
    if failed == bool(clusters):
        raise click.UsageError("name the clusters, or use --failed for all that have failed")
    asyncio.run(_retry(target, name, clusters, reason))


async def _skip(target: Target, name: str, clusters: Sequence[str], reason: str) -> None:
    async with await target.connect() as hub:
        run = await read_unfinished(hub, target, name)
        await _decide(hub, target, run, Decision.SKIP_CLUSTER, clusters, reason)


async def _retry(target: Target, name: str, clusters: Sequence[str], reason: str) -> None:
    async with await target.connect() as hub:
        run = await read(hub, target, name)
        if phases.has_ended(run.status):
            await retry_ended(hub, target, run, clusters, reason=reason)
            return
        chosen = clusters or _failed(run)
        if not chosen:
            raise CommandFailure(f"no cluster of run {name} has failed")
        await _decide(hub, target, run, Decision.RETRY_CLUSTER, chosen, reason)


async def _decide(
    hub: Hub,
    target: Target,
    run: UpdateRun,
    decision: Decision,
    clusters: Sequence[str],
    reason: str,
) -> None:
    for cluster in dict.fromkeys(clusters):
        click.echo(await decide(hub, target, run, decision, cluster=cluster, reason=reason))


async def decide(
    hub: Hub, target: Target, run: UpdateRun, decision: Decision, *, cluster: str = "", reason: str
) -> str:
    """Make a decision about a run, and return what it led to.

    Raises CommandFailure if it is refused, or if no engine answers.
    """
    kind, name = target.scope.decision, run.metadata.name
    body = {
        "metadata": {"name": f"{name}-{secrets.token_hex(4)}"} | _placed(target),
        "spec": {
            "run": name,
            "runUID": run.metadata.uid,
            "decision": decision,
            "reason": reason,
            "by": {"username": await people.user_of(hub)},
        }
        | ({"cluster": cluster} if cluster else {}),
    }
    try:
        made = await hub.create(kind, body, namespace=target.namespace)
    except NotFound as error:
        raise CommandFailure(
            f"the hub does not serve {kind.plural}",
            advice="install the CRDs with `fleetgate crds --apply`",
            exit_code=ExitCode.NOT_FOUND,
        ) from error
    answered = await _answered(hub, target, made)
    if answered.status.state is DecisionState.REFUSED:
        raise CommandFailure(answered.status.message)
    return answered.status.message


async def _answered(hub: Hub, target: Target, made: Json) -> BaseRolloutDecision:
    kind, name = target.scope.decision, made["metadata"]["name"]
    try:
        async with (
            asyncio.timeout(ANSWERED_WITHIN.total_seconds()),
            follow(hub, kind, namespace=target.namespace, name=name) as changes,
        ):
            async for change in changes:
                if change.new is None:
                    raise CommandFailure(f"{name} was deleted before it was answered")
                decision = BaseRolloutDecision.from_wire(change.new)
                if decision.status.state is not None:
                    return decision
    except TimeoutError as error:
        raise CommandFailure(
            f"no worker has answered {kind.plural}/{name} yet; it counts as soon as one does",
            advice="is a worker running? `fleetgate doctor` shows it",
        ) from error
    raise AssertionError("changes continue until they are no longer read")


def _placed(target: Target) -> Json:
    return {"namespace": target.namespace} if target.namespace else {}


def _failed(run: UpdateRun) -> list[str]:
    return [name for stage in views.of(run).stages for name in stage.names(Progress.FAILED)]

"""`fleetgate approve`."""

import asyncio
from datetime import UTC, datetime

import click

from api.base import format_time
from api.reasons import ApprovalMessage, ApprovalReason, ConditionType
from api.runs import UpdateRun
from hub import Hub
from starter import messaging, people, views
from starter.failures import Failure
from starter.gates import Approval
from starter.helping import examples
from starter.run.reading import read_unfinished
from starter.run.steering import by_option, comment_option
from starter.targets import Target, target_options
from starter.views import RunView
from workflows.messages import Approve, GateSide


@click.command(
    epilog=examples(
        "fleetgate approve example-run canary --before",
        "fleetgate approve example-run",
        'fleetgate approve web-app-rollout prod --after -n my-app-namespace --comment "looks good"',
    )
)
@click.argument("run")
@click.argument("stage", default="")
@click.option("--before", "side", flag_value=str(GateSide.BEFORE), help="The gate before it.")
@click.option("--after", "side", flag_value=str(GateSide.AFTER), help="The gate after it.")
@by_option
@comment_option
@target_options
def approve(
    target: Target, run: str, stage: str, side: str | None, by: str | None, comment: str
) -> None:
    """Let a run through the gate before or after a stage.

    STAGE and side may be left out when the run waits for one approval only.
    """
    wanted = Approve(stage=stage, side=GateSide(side) if side else None, comment=comment)
    asyncio.run(_approve(target, run, wanted, by=by))


async def _approve(target: Target, name: str, wanted: Approve, *, by: str | None) -> None:
    async with await target.connect() as hub:
        run = await read_unfinished(hub, target, name)
        message = wanted.model_copy(update={"by": by or await people.user_of(hub)})
        ref = messaging.reference(run, target)
        try:
            answer = await messaging.ask(target, ref, "approve", message)
        except messaging.Unanswered as reason:
            answer = await _write(hub, target, run, message, reason=str(reason))
    click.echo(answer)


async def _write(hub: Hub, target: Target, run: UpdateRun, message: Approve, *, reason: str) -> str:
    gate = choose(views.of(run), message.stage, message.side)
    kind = target.scope.approval
    request = await hub.get(kind, gate.request, namespace=target.namespace)
    condition = _approved(request["metadata"]["generation"], message, target)
    await hub.apply(
        kind,
        {
            "metadata": {"name": gate.request, "namespace": target.namespace},
            "status": {"conditions": [condition]},
        },
        subresource="status",
    )
    return f"{reason}; wrote the approval to {kind} {gate.request}, a worker will follow it"


def choose(view: RunView, stage: str, side: GateSide | None) -> Approval:
    """The one pending approval that is meant."""
    pending = view.gates.approvals
    meant = [
        gate
        for gate in pending
        if (not stage or gate.stage == stage) and (side is None or gate.side is side)
    ]
    if len(meant) == 1:
        return meant[0]
    waits = ", ".join(str(gate) for gate in pending)
    if not pending:
        raise Failure(f"run {view.name} waits for no approval now")
    if not meant:
        asked = f" {side}" * bool(side) + f" stage {stage}" * bool(stage)
        raise Failure(f"run {view.name} waits for no approval{asked}; it waits for: {waits}")
    raise Failure(f"run {view.name} waits for several approvals: {waits}; name stage and side")


def _approved(generation: int, message: Approve, target: Target) -> dict[str, object]:
    namespaced = target.scope.approval.namespaced
    reason = ApprovalReason.NAMESPACED_APPROVED if namespaced else ApprovalReason.CLUSTER_APPROVED
    text = ApprovalMessage.NAMESPACED_APPROVED if namespaced else ApprovalMessage.CLUSTER_APPROVED
    by = f" by {message.by}" if message.by else ""
    comment = f": {message.comment}" if message.comment else ""
    return {
        "type": str(ConditionType.APPROVED),
        "status": "True",
        "observedGeneration": generation,
        "lastTransitionTime": format_time(datetime.now(UTC)),
        "reason": str(reason),
        "message": f"{text}{by}{comment}",
    }

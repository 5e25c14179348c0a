"""`fleetgate temporal set-current`."""

import asyncio
from datetime import timedelta
from typing import Final

import click
from temporalio.api.workflowservice.v1 import SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from starter.failures import CommandFailure
from starter.helping import examples
from starter.operating.asking import ANSWER_WITHIN, ask, until
from starter.patience import Duration
from workflows.messages import WORKFLOW, Recheck

_NOT_YET: Final = (RPCStatusCode.NOT_FOUND, RPCStatusCode.FAILED_PRECONDITION)
"""Temporal's answer for a build whose workers have not polled yet."""
_RUNNING: Final = f"WorkflowType = '{WORKFLOW}' AND ExecutionStatus = 'Running'"


@click.command(
    name="set-current",
    epilog=examples(
        "fleetgate temporal set-current --deployment fleetgate --build-id 0.2.0",
        "fleetgate temporal set-current --timeout 10m",
    ),
)
@click.option(
    "--deployment",
    envvar="FLEETGATE_DEPLOYMENT",
    required=True,
    help="Deployment name of the workers  [FLEETGATE_DEPLOYMENT].",
)
@click.option(
    "--build-id",
    envvar="FLEETGATE_BUILD_ID",
    required=True,
    help="Build ID of the workers that should take over  [FLEETGATE_BUILD_ID].",
)
@click.option(
    "--timeout",
    type=Duration(),
    metavar="DURATION",
    default="5m",
    show_default=True,
    help="How long to wait until workers of that build poll for tasks.",
)
def set_current(deployment: str, build_id: str, timeout: timedelta) -> None:
    """Make one build of the workers take over all new and active runs.

    This is the last step of an upgrade: start the new workers next to the old ones, run this, then
    stop the old ones. To go back, specify the older build.
    """

    async def work(client: Client) -> int:
        await _set(client, deployment, build_id, timeout)
        return await _nudge(client)

    running = ask(
        work,
        wish="set the current build",
        advice="ask Temporal's administrators to run `temporal worker deployment "
        f"set-current-version --deployment-name {deployment} --build-id {build_id}`",
        within=timeout + ANSWER_WITHIN,
    )
    click.echo(f"build {build_id} of {deployment} is current; active runs: {running}")


async def _set(client: Client, deployment: str, build_id: str, patience: timedelta) -> None:
    request = SetWorkerDeploymentCurrentVersionRequest(
        namespace=client.namespace,
        deployment_name=deployment,
        build_id=build_id,
        identity=client.identity,
    )
    try:
        async with asyncio.timeout(patience.total_seconds()):
            await until(lambda: _is_set(client, request))
    except TimeoutError as error:
        raise CommandFailure(
            f"no worker of build {build_id} of {deployment} polls for tasks in Temporal namespace "
            f"{client.namespace}",
            advice="are they running, with FLEETGATE_DEPLOYMENT and FLEETGATE_BUILD_ID set? The "
            "runs stay on the build that was current",
        ) from error


async def _is_set(client: Client, request: SetWorkerDeploymentCurrentVersionRequest) -> bool:
    try:
        await client.workflow_service.set_worker_deployment_current_version(request)
    except RPCError as error:
        if error.status in _NOT_YET:
            return False
        raise
    return True


async def _nudge(client: Client) -> int:
    """Make all runs recheck their build, and return their number.

    A run that waits for days would not notice the change by itself.
    """
    reported = 0
    async for execution in client.list_workflows(_RUNNING):
        handle = client.get_workflow_handle(execution.id)
        try:
            await handle.signal("recheck", Recheck(reason="a build of the workers became current"))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        else:
            reported += 1
    return reported

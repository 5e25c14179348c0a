"""`fleetgate member leave`."""

import asyncio
from contextlib import AsyncExitStack

import click

from api.bindings import BindingState
from api.kinds import MEMBER_CLUSTER, SCOPES, SECRET
from api.names import PARENT_PLACEMENT
from deploy.joining import (
    AGENT,
    AGENT_NAMESPACE,
    HUB_SECRET,
    MEMBER_SECRETS,
    chart,
    on_hub,
    on_member,
    owned,
)
from deploy.joining.chart import HelmRelease
from hub import Hub, Json
from planning import durations
from starter.completion import live
from starter.failures import CommandFailure, ExitCode
from starter.following import follow
from starter.helping import examples
from starter.member.reaching import of_member
from starter.options import member_options
from starter.patience import Patience, wait_options
from starter.targets import Target


@click.command(
    epilog=examples(
        "fleetgate member leave prod-1 --context prod-1",
        "fleetgate member leave prod-1 --context prod-1 --uninstall",
        "fleetgate member leave edge-1 --yes",
    )
)
@click.argument("name", shell_complete=live.members)
@click.option(
    "--uninstall",
    is_flag=True,
    help="Run helm on the member, instead of printing the command.",
)
@click.option(
    "--member-secrets",
    metavar="NAMESPACE",
    default=MEMBER_SECRETS,
    show_default=True,
    help="Namespace of the Secret of `member join --by-secret`.",
)
@click.option("-y", "--yes", is_flag=True, help="Leave even if placements still pick the member.")
@wait_options
@member_options
def leave(
    target: Target,
    member: Target | None,
    patience: Patience,
    name: str,
    uninstall: bool,
    member_secrets: str,
    yes: bool,
) -> None:
    """Remove a member from the fleet; what was placed on it stays there, but is managed no longer.

    Deletes the MemberCluster and, once the hub has released it, what `member join` created: the
    agent's account on the hub, its Secrets and, with --context or --member-kubeconfig, its account
    on the member. Then it prints the helm command that uninstalls the agent, or runs it
    (--uninstall). After a failure, run the same command again: it continues.
    """
    if uninstall and member is None:
        raise click.UsageError("--uninstall needs --context or --member-kubeconfig")
    asyncio.run(_leave(target, member, name, uninstall, member_secrets, patience, yes=yes))


async def _leave(
    target: Target,
    member: Target | None,
    name: str,
    uninstall: bool,
    member_secrets: str,
    patience: Patience,
    *,
    yes: bool,
) -> None:
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(await target.connect())
        cluster = await _client(member, stack)
        found = await _delete(hub, name, patience, yes=yes)
        if found and not patience.wait:
            click.echo(f"not waiting until {name} has left; then run this command again")
            return
        in_worker = await owned.remove(
            hub, SECRET, name, namespace=member_secrets, member=name, say=click.echo
        )
        had_account = await on_hub.remove_account(hub, name, say=click.echo)
        # Last, because a member that is lost for good must not keep its access to the hub.
        if member is not None and cluster is not None:
            with of_member(member):
                cleared = await _clear(cluster, member, name, uninstall=uninstall)
        elif cleared := had_account:
            _tell_what_is_left(name, in_worker=in_worker)
    if not (found or in_worker or had_account or cleared):
        raise CommandFailure(
            f"there is no MemberCluster {name}, and nothing that joining created for it",
            advice="see `fleetgate member list`",
            exit_code=ExitCode.NOT_FOUND,
        )


async def _client(member: Target | None, stack: AsyncExitStack) -> Hub | None:
    """Return a client of the member, which need not answer, or None if it is not named."""
    if member is None:
        return None
    with of_member(member):
        return await stack.enter_async_context(await member.connect())


async def _delete(hub: Hub, name: str, patience: Patience, *, yes: bool) -> bool:
    """Delete the MemberCluster and wait until it is gone; return whether it existed.

    Raises CommandFailure if placements pick it, or if it takes too long.
    """
    body = await hub.find(MEMBER_CLUSTER, name)
    if body is None:
        return False
    if "deletionTimestamp" not in body["metadata"]:
        if not yes:
            _refuse(name, await _placements_on(hub, name))
        await hub.delete(MEMBER_CLUSTER, name, uid=body["metadata"]["uid"])
    if patience.wait:
        await _until_gone(hub, body, patience)
        click.echo(f"{owned.shown(MEMBER_CLUSTER, name)} deleted")
    return True


def _refuse(name: str, placements: list[str]) -> None:
    if placements:
        raise CommandFailure(
            f"placements still pick {name}: {', '.join(placements)}",
            advice="change the labels that they select, or the placements. With --yes, the member "
            "leaves\nanyway: what is placed on it stays, and active runs that include it fail",
        )


async def _placements_on(hub: Hub, name: str) -> list[str]:
    """Return the placements that pick a member, those in a namespace as `namespace/name`."""
    listed = [(await hub.list(scope.binding)).items for scope in SCOPES.values()]
    return sorted({_placement(each) for items in listed for each in items if _picks(each, name)})


def _picks(binding: Json, member: str) -> bool:
    spec = binding["spec"]
    is_current = spec.get("state") != BindingState.UNSCHEDULED
    is_kept = "deletionTimestamp" not in binding["metadata"]
    return spec.get("targetCluster") == member and is_current and is_kept


def _placement(binding: Json) -> str:
    metadata = binding["metadata"]
    name = metadata.get("labels", {}).get(PARENT_PLACEMENT, metadata["name"])
    return "/".join(filter(None, (metadata.get("namespace"), name)))


async def _until_gone(hub: Hub, body: Json, patience: Patience) -> None:
    name, uid = body["metadata"]["name"], body["metadata"]["uid"]
    try:
        async with (
            asyncio.timeout(patience.timeout.total_seconds()),
            follow(hub, MEMBER_CLUSTER, name=name) as changes,
        ):
            if not _is(await hub.find(MEMBER_CLUSTER, name), uid):
                return  # deleted before the watch started, so no change will report it
            async for change in changes:
                if not _is(change.new, uid):
                    return
    except TimeoutError as error:
        limit = durations.format_duration(patience.timeout)
        raise CommandFailure(
            f"{name} is still leaving after {limit}: built-in placement has not released it",
            advice="is a worker running with `--run placement`? Then run this command again",
        ) from error


def _is(body: Json | None, uid: str) -> bool:
    return body is not None and body["metadata"]["uid"] == uid


async def _clear(cluster: Hub, member: Target, name: str, *, uninstall: bool) -> bool:
    """Delete what is left on the member; return whether there was something."""
    secret = await cluster.find(SECRET, HUB_SECRET, namespace=AGENT_NAMESPACE)
    has_chart = secret is not None and owned.member_of(secret) == name
    if has_chart:
        await _uninstall(member, run=uninstall)
    return await on_member.clear(cluster, name, say=click.echo) or has_chart


async def _uninstall(member: Target, *, run: bool) -> None:
    command = HelmRelease(member.kubeconfig, member.context).uninstall()
    if run:
        await asyncio.to_thread(chart.run, command)
        click.echo("the agent is uninstalled from the member")
    else:
        click.echo(f"to uninstall the agent:\n{chart.text(command)}")


def _tell_what_is_left(name: str, *, in_worker: bool) -> None:
    what = f"ServiceAccount {AGENT}" if in_worker else f"the release {AGENT}"
    click.echo(
        f"on the member, {what} is left in namespace {AGENT_NAMESPACE}; to remove it:\n"
        f"fleetgate member leave {name} --context …" + ("" if in_worker else " --uninstall")
    )

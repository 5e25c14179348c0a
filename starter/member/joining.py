"""`fleetgate member join`."""

import asyncio
import ipaddress
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from api.members import MemberCluster
from deploy.joining import MEMBER_SECRETS, chart, on_hub, on_member
from deploy.joining.chart import HelmRelease
from deploy.joining.tokens import Token
from hub import Hub, Json, handed_kubeconfig, kubeconfig
from starter.helping import examples
from starter.member import joined
from starter.member.joined import ExpectedAgent
from starter.member.reaching import of_member
from starter.options import member_options
from starter.patience import Duration, Patience, wait_options
from starter.targets import Target


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of one `member join`."""

    name: str
    labels: dict[str, str]
    install: bool
    by_secret: bool
    chart: str | None
    settings: Sequence[str]
    values: Sequence[Path]
    server: str
    """Address at which the agent reaches the other cluster; empty for that of the kubeconfig."""
    member_secrets: str
    lifetime: timedelta | None
    take_over: bool


@dataclass(frozen=True, slots=True)
class Access:
    """A kubeconfig for an agent."""

    text: str
    address: str
    """Address of its API server."""


def _labels(_: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    wrong = [each for each in given if not each.partition("=")[1] or each.startswith("=")]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is not KEY=VALUE", param=parameter)
    return dict(each.split("=", 1) for each in given)


IMAGE: Final = "image.repository="
"""Begin of a setting that the chart requires: each installation has its own registry."""


@click.command(
    epilog=examples(
        "fleetgate member join prod-1 --context prod-1 --label environment=prod "
        "--set image.repository=registry.example.org/fleetgate",
        "fleetgate member join prod-1 --context prod-1 --install --values agent.yaml",
        "fleetgate member join edge-1 --member-kubeconfig edge-1.kubeconfig --by-secret",
    )
)
@click.argument("name")
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_labels,
    help="Label of the MemberCluster, by which stages and placements select it; repeatable.",
)
@click.option(
    "--install", is_flag=True, help="Run helm on the member, instead of printing the command."
)
@click.option(
    "--by-secret",
    is_flag=True,
    help="Store a kubeconfig of the member on the hub, for a worker that acts as its agent.",
)
@click.option(
    "--chart",
    "chart_at",
    metavar="CHART",
    help="Folder, archive or address of the chart fleetgate-agent  [default: that of this clone].",
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Value for helm; repeatable."
)
@click.option(
    "--values",
    "-f",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with values for helm; repeatable.",
)
@click.option(
    "--hub-server",
    metavar="URL",
    default="",
    help="Address at which the member reaches the hub  [default: as in the kubeconfig].",
)
@click.option(
    "--member-server",
    metavar="URL",
    default="",
    help="With --by-secret: address at which the worker reaches the member  "
    "[default: as in the kubeconfig].",
)
@click.option(
    "--member-secrets",
    metavar="NAMESPACE",
    default=MEMBER_SECRETS,
    show_default=True,
    help="With --by-secret: namespace of the Secret; same value as for the worker.",
)
@click.option(
    "--token-duration",
    "lifetime",
    type=Duration(),
    metavar="DURATION",
    help="How long the agent's token is valid, such as 720h  [default: until the member leaves].",
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Replace an identity or a Secret that was not created for this member.",
)
@wait_options
@member_options
def join(
    target: Target,
    member: Target | None,
    patience: Patience,
    name: str,
    labels: dict[str, str],
    install: bool,
    by_secret: bool,
    chart_at: str | None,
    settings: Sequence[str],
    values: Sequence[Path],
    hub_server: str,
    member_server: str,
    member_secrets: str,
    lifetime: timedelta | None,
    take_over: bool,
) -> None:
    """Join a cluster to the fleet as a member, and wait until its agent reports.

    Creates the MemberCluster and an account for the agent on the hub, and gives the member a
    kubeconfig with that account's token. Then it prints the helm command that installs the agent,
    or runs it (--install). With --by-secret, no agent is installed: a worker near the hub acts as
    the agent, with an account on the member that is created for it.

    After a failure, run the same command again: it continues. What someone else has created is
    never changed, unless --take-over says so.
    """
    if install and by_secret:
        raise click.UsageError("--install and --by-secret exclude each other")
    if hub_server and by_secret:
        raise click.UsageError("--hub-server has no effect with --by-secret; use --member-server")
    if member_server and not by_secret:
        raise click.UsageError("--member-server needs --by-secret; without it, use --hub-server")
    if member is None:
        raise click.UsageError("name the member cluster: --context or --member-kubeconfig")
    wanted = Wanted(
        name=name,
        labels=labels,
        install=install,
        by_secret=by_secret,
        chart=chart_at or chart.shipped(),
        settings=settings,
        values=values,
        server=hub_server or member_server,
        member_secrets=member_secrets,
        lifetime=lifetime,
        take_over=take_over,
    )
    if not by_secret and not wanted.chart:
        raise click.UsageError("name the chart fleetgate-agent with --chart")
    if not (by_secret or values or any(each.startswith(IMAGE) for each in settings)):
        raise click.UsageError(
            f"name the agent's image with --set {IMAGE}REPOSITORY, or in a file with --values"
        )
    asyncio.run(_join(target, member, wanted, patience))


def _say(text: str) -> None:
    # Not to the standard output: that is for the helm command, so that it can be piped.
    click.echo(text, err=True)


async def _join(target: Target, member: Target, wanted: Wanted, patience: Patience) -> None:
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(await target.connect())
        with of_member(member):
            cluster = await stack.enter_async_context(await member.connect())
            await cluster.version()
        await _check(hub, cluster, member, wanted)
        before = await on_hub.register(
            hub, wanted.name, labels=wanted.labels, take_over=wanted.take_over, say=_say
        )
        await on_hub.ensure_account(hub, wanted.name, say=_say)
        if wanted.by_secret:
            agent = await _by_secret(hub, cluster, member, wanted)
        else:
            agent = await _by_chart(hub, cluster, target, member, wanted)
        await _end(hub, agent, before, wanted, patience)


async def _check(hub: Hub, cluster: Hub, member: Target, wanted: Wanted) -> None:
    await hub.version()  # so that an error of the hub is not reported as one of the member
    with of_member(member):
        await on_member.check(hub, cluster, member=wanted.name, take_over=wanted.take_over)


async def _by_chart(
    hub: Hub, cluster: Hub, target: Target, member: Target, wanted: Wanted
) -> ExpectedAgent:
    """Give the member access to the hub, and install the agent there or print how."""
    token = await on_hub.account_token(hub, wanted.name, lifetime=wanted.lifetime, say=_say)
    access = _access(target, token, server=wanted.server, option="--hub-server", what="hub")
    with of_member(member):
        await on_member.hand_over(
            cluster, wanted.name, kubeconfig=access.text, take_over=wanted.take_over, say=_say
        )
    _tell_expiry(token)
    assert wanted.chart
    command = HelmRelease(member.kubeconfig, member.context).install(
        wanted.name, chart=wanted.chart, settings=wanted.settings, files=wanted.values
    )
    if wanted.install:
        await asyncio.to_thread(chart.run, command)
        _say("the agent is installed on the member")
    else:
        click.echo(chart.text(command))
    return joined.in_member(wanted.name, access.text, access.address, context=member.context)


async def _by_secret(hub: Hub, cluster: Hub, member: Target, wanted: Wanted) -> ExpectedAgent:
    """Give a worker access to the member."""
    with of_member(member):
        token = await on_member.ensure_account(
            cluster, wanted.name, lifetime=wanted.lifetime, say=_say
        )
    access = _access(member, token, server=wanted.server, option="--member-server", what="member")
    await on_hub.hand_over(
        hub,
        wanted.name,
        kubeconfig=access.text,
        namespace=wanted.member_secrets,
        take_over=wanted.take_over,
        say=_say,
    )
    _tell_expiry(token)
    return joined.in_worker(
        wanted.name, access.text, access.address, namespace=wanted.member_secrets
    )


def _access(cluster: Target, token: Token, *, server: str, option: str, what: str) -> Access:
    """Return access for the other side, with a warning if its address only works from here."""
    entry: Json = kubeconfig.cluster_to_hand_out(cluster.kubeconfig, context=cluster.context)
    if server:
        entry = entry | {"server": server}
    address = entry.get("server", "")
    if _is_loopback(address):
        _say(
            f"warning: {address} leads to the {what} only from this machine; "
            f"if the agent runs elsewhere, give the {what}'s address with {option}"
        )
    return Access(handed_kubeconfig.compose(entry, token=token.text), address)


def _is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tell_expiry(token: Token) -> None:
    if token.expires:
        _say(f"the agent's token expires at {token.expires:%Y-%m-%d %H:%M} UTC: join again before")


async def _end(
    hub: Hub, agent: ExpectedAgent, before: MemberCluster, wanted: Wanted, patience: Patience
) -> None:
    if not patience.wait:
        _say(f"not waiting until {wanted.name} has joined: see `fleetgate member list`")
        return
    if not (wanted.install or wanted.by_secret):
        _say(f"run this command; waiting until {wanted.name} has joined")
    taken_over = before if wanted.take_over and on_hub.has_other_identity(before) else None
    found = await joined.until_joined(hub, agent, taken_over=taken_over, within=patience.timeout)
    version = joined.version(found)
    _say(f"{wanted.name} has joined" + (f" (Kubernetes {version})" if version else ""))

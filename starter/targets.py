"""Which hub and which Temporal a command talks to, and in which scope."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import update_wrapper
from pathlib import Path

import click

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from deploy.local.paths import FOLDER, FleetPaths
from deploy.local.state import HUB
from hub import Hub


class Output(StrEnum):
    """How objects are printed."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a command goes."""

    kubeconfig: Path | None
    """None: the client looks itself (KUBECONFIG, the pod's account, `~/.kube/config`)."""
    context: str | None
    namespace: str
    """Empty for cluster-scoped kinds."""
    output: Output

    @property
    def scope(self) -> Scope:
        """The kinds that the command is about."""
        return NAMESPACED_SCOPE if self.namespace else CLUSTER_SCOPE

    @property
    def fleet(self) -> FleetPaths | None:
        """The local fleet that the hub belongs to, if it does."""
        named = self.kubeconfig or _from_environment()
        folder = named.resolve().parent if named else None
        return FleetPaths(folder) if folder and folder.name == FOLDER else None

    async def connect(self) -> Hub:
        """A client for the hub."""
        return await Hub.connect(self.kubeconfig, context=self.context, manager="fleetgate-cli")


def _from_environment() -> Path | None:
    named = os.environ.get("KUBECONFIG")
    return Path(named) if named else None


def _default_kubeconfig() -> Path | None:
    """The local fleet's hub, when nothing else is named and this folder has one."""
    local = FleetPaths(Path(FOLDER)).kubeconfig(HUB)
    if _from_environment() or not local.exists():
        return None
    click.echo(f"using the local fleet: {local} (name another hub with --kubeconfig)", err=True)
    return local


def target_options(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command the options that all commands share; it gets a `target`."""

    def with_target(
        *args: object,
        kubeconfig: Path | None,
        context: str | None,
        namespace: str,
        output: str = Output.TABLE,
        **rest: object,
    ) -> object:
        target = Target(
            kubeconfig=kubeconfig or _default_kubeconfig(),
            context=context,
            namespace=namespace,
            output=Output(output),
        )
        return command(*args, target=target, **rest)

    options = (
        click.option(
            "--kubeconfig",
            type=click.Path(path_type=Path, dir_okay=False),
            help="The hub's kubeconfig  [default: $KUBECONFIG, else the local fleet's].",
        ),
        click.option("--context", help="Context of the kubeconfig."),
        click.option(
            "-n",
            "--namespace",
            default="",
            help="Namespace of a StagedUpdateRun; without it a ClusterStagedUpdateRun is meant.",
        ),
    )
    wrapped = update_wrapper(with_target, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


output_option = click.option(
    "-o",
    "--output",
    type=click.Choice([str(each) for each in Output]),
    default=str(Output.TABLE),
    show_default=True,
    help="How to print.",
)

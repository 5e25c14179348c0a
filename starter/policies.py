"""`fleetgate policies`."""

import asyncio

import click
import yaml

from deploy.local import manifests
from deploy.local import policies as shipped
from starter.helping import examples
from starter.targets import Target, target_options


@click.command(
    epilog=examples(
        "fleetgate policies > policies.yaml",
        "fleetgate policies --apply --kubeconfig hub.kubeconfig",
    )
)
@click.option("--apply", "install", is_flag=True, help="Install them on the hub, and wait for it.")
@target_options
def policies(target: Target, install: bool) -> None:
    """Print the admission policies, or install them on the hub.

    With them only approvers approve, only fleetgate writes a run's status, and approvals and runs
    hold the name of the user who acted. Give fleetgate's ServiceAccounts the roles of
    deploy/rbac/hub-side.yaml first: an engine without them is refused.
    """
    if install:
        asyncio.run(_install(target))
        return
    bodies = [*manifests.documents(shipped.CHECKS), *manifests.documents(shipped.NAMES)]
    click.echo(yaml.safe_dump_all(bodies, sort_keys=False), nl=False)


async def _install(target: Target) -> None:
    async with await target.connect() as hub:
        named = await shipped.install(hub)
        click.echo(f"the policies are in force on {hub.url}")
    if not named:
        click.echo(
            "it has no MutatingAdmissionPolicy (Kubernetes 1.34 and 1.35: --feature-gates="
            "MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/"
            "v1beta1=true): who uses kubectl is not written down, but nobody can name others",
            err=True,
        )

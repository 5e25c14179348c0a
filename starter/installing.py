"""`fleetgate crds` and `fleetgate policies`: print or install what a hub needs."""

import asyncio

import click

from deploy.installing import crds as definitions
from deploy.installing import manifests
from deploy.installing import policies as shipped
from starter.helping import examples
from starter.options import target_options
from starter.targets import Target

# -- fleetgate crds ------------------------------------------------------------------------


@click.command(
    epilog=examples(
        "fleetgate crds > crds.yaml",
        "fleetgate crds --apply --kubeconfig hub.kubeconfig",
    )
)
@click.option(
    "--apply",
    "install",
    is_flag=True,
    help="Install them on the hub and wait until they are served.",
)
@target_options
def crds(target: Target, install: bool) -> None:
    """Print the custom resource definitions (CRDs), or install them on the hub."""
    if install:
        asyncio.run(_install_crds(target))
    else:
        click.echo(manifests.text(*definitions.files()), nl=False)


async def _install_crds(target: Target) -> None:
    async with await target.connect() as hub:
        bodies = definitions.definitions()
        await definitions.install(hub, bodies)
        click.echo(f"{len(bodies)} CRDs are served by {hub.url}")


# -- fleetgate policies --------------------------------------------------------------------


@click.command(
    epilog=examples(
        "fleetgate policies > policies.yaml",
        "fleetgate policies --apply --kubeconfig hub.kubeconfig",
    )
)
@click.option(
    "--apply",
    "install",
    is_flag=True,
    help="Install them on the hub and wait until they are in force.",
)
@target_options
def policies(target: Target, install: bool) -> None:
    """Print the admission policies, or install them on the hub.

    With the policies, only approvers can approve, only fleetgate can write a run's status, and
    approvals and runs record the user who acted. First give fleetgate's ServiceAccounts the roles
    in deploy/rbac/hub-side.yaml: the policies reject an engine without them.
    """
    if install:
        asyncio.run(_install_policies(target))
    else:
        files = (manifests.FOLDER / each for each in (shipped.CHECKS, shipped.NAMES))
        click.echo(manifests.text(*files), nl=False)


async def _install_policies(target: Target) -> None:
    async with await target.connect() as hub:
        named = await shipped.install(hub)
        click.echo(f"the policies are in force on {hub.url}")
    if not named:
        click.echo(
            "it does not serve MutatingAdmissionPolicy (Kubernetes 1.34 and 1.35: --feature-gates="
            "MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/"
            "v1beta1=true): users of kubectl are not recorded, but no one can claim another's name",
            err=True,
        )

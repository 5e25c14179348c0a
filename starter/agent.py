"""`fleetgate agent`: the agent of one member cluster as a separate process."""

from pathlib import Path

import click

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_EXAMPLE = """\b
Example:
  fleetgate agent --member member1 --hub-kubeconfig hub.kubeconfig \\
      --member-kubeconfig member1.kubeconfig
"""


@click.command(epilog=_EXAMPLE)
@click.option("--member", required=True, help="Name of the MemberCluster.")
@click.option("--hub-kubeconfig", type=_FILE, required=True, help="Kubeconfig for the hub.")
@click.option(
    "--member-kubeconfig",
    type=_FILE,
    help="Kubeconfig for the member  [default: the pod's service account].",
)
@click.option(
    "--collect-namespaces",
    is_flag=True,
    help="Report the member's namespaces; a ResourcePlacement is then placed on the member only if "
    "it has its namespace.",
)
@click.option(
    "--metrics-address",
    envvar="FLEETGATE_METRICS_ADDRESS",
    metavar="HOST:PORT",
    default="",
    help="Address that serves /healthz, /readyz and /metrics  "
    "[FLEETGATE_METRICS_ADDRESS; default: none, because several agents may share a machine].",
)
def agent(
    member: str,
    hub_kubeconfig: Path,
    member_kubeconfig: Path | None,
    collect_namespaces: bool,
    metrics_address: str,
) -> None:
    """Run the agent for a member cluster.

    The agent applies to the member what the hub has for it, and reports back. It runs until
    SIGTERM or Ctrl-C. Members can each have an agent process of their own, or
    `fleetgate worker --run agents` can serve all of them. The rights that an agent needs are in
    deploy/rbac/member-agent-on-hub.yaml and member-agent-on-member.yaml.
    """
    from starter import serving_agent  # here, because the help must not wait for HTTP and metrics

    serving_agent.run(
        member,
        hub_kubeconfig,
        member_kubeconfig,
        collect_namespaces=collect_namespaces,
        address=metrics_address,
    )

"""`fleetgate worker`: the flags of an operator, handed to the worker as settings."""

from pathlib import Path

import click

import worker as process
from starter.helping import examples
from telemetry import Tracing
from wiring import PlacementKind, Snapshots, Upgrade
from workflows.messages import TemporalApprovals


@click.command(
    epilog=examples(
        "fleetgate worker --kubeconfig hub.kubeconfig",
        "fleetgate worker --run engine,bridge --placement external --stuck-after 10m",
    )
)
@click.option(
    "--run",
    metavar="ROLE,…",
    help="Parts to run: engine, bridge, placement, agents  [FLEETGATE_RUN; default: all].",
)
@click.option(
    "--placement",
    type=click.Choice([str(each) for each in PlacementKind]),
    help="Who makes snapshots, bindings and Works: fleetgate, or another system such as KubeFleet "
    "[FLEETGATE_PLACEMENT; default: builtin].",
)
@click.option(
    "--snapshots",
    type=click.Choice([str(each) for each in Snapshots]),
    help="When the content of a placement for update runs is stored: soon after it changed, or "
    "only when a run that names no snapshot begins  [FLEETGATE_SNAPSHOTS; default: on-change].",
)
@click.option(
    "--snapshot-interval",
    metavar="DURATION",
    help="At least so long from a snapshot of changed content to the next of the same placement, "
    "such as 30s; 0s turns it off  [FLEETGATE_SNAPSHOT_INTERVAL; default: 5s].",
)
@click.option(
    "--skipped-namespaces",
    metavar="NAMESPACE,…",
    help="Namespaces that may not be placed, besides default, kube-… and fleet-…  "
    "[FLEETGATE_SKIPPED_NAMESPACES; default: none].",
)
@click.option(
    "--hub-runs-workloads",
    is_flag=True,
    default=None,
    help="The hub itself runs workloads: leave PersistentVolumeClaims, which its StatefulSets "
    "make, where they are  [FLEETGATE_HUB_RUNS_WORKLOADS; default: no].",
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The hub's kubeconfig  [KUBECONFIG; default: the pod's service account].",
)
@click.option("--context", help="Context of the kubeconfig  [FLEETGATE_CONTEXT].")
@click.option(
    "--task-queue", help="Temporal task queue  [FLEETGATE_TASK_QUEUE; default: fleetgate]."
)
@click.option(
    "--stuck-after",
    metavar="DURATION",
    help="How long a cluster may take before its run counts as stuck, such as 5m or 1h30m "
    "[FLEETGATE_STUCK_AFTER; default: 5m].",
)
@click.option(
    "--temporal-approvals",
    type=click.Choice([str(each) for each in TemporalApprovals]),
    help="Whether approvals count that are given in Temporal alone, which does not know the hub's "
    "users  [FLEETGATE_TEMPORAL_APPROVALS; default: accept].",
)
@click.option(
    "--metrics-address",
    metavar="HOST:PORT",
    help="Where to serve /healthz, /readyz and /metrics "
    "[FLEETGATE_METRICS_ADDRESS; default: 127.0.0.1:9464].",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="[FLEETGATE_LOG_FORMAT; default: text on a terminal, else json].",
)
@click.option(
    "--tracing",
    type=click.Choice([str(each) for each in Tracing]),
    help="Send traces where OTEL_EXPORTER_OTLP_ENDPOINT and so on say; needs fleetgate[tracing]  "
    "[FLEETGATE_TRACING; default: none].",
)
@click.option(
    "--payload-keys",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File with the keys that Temporal's payloads are encrypted with  "
    "[FLEETGATE_PAYLOAD_KEYS; default: not encrypted].",
)
@click.option(
    "--deployment",
    metavar="NAME",
    help="Worker deployment in Temporal, of which only the current build gets work  "
    "[FLEETGATE_DEPLOYMENT; default: none].",
)
@click.option(
    "--build-id",
    metavar="ID",
    help="What tells this build from others of its deployment  [FLEETGATE_BUILD_ID].",
)
@click.option(
    "--upgrade",
    type=click.Choice([str(each) for each in Upgrade]),
    help="When a run goes on with a newer build that was made current  "
    "[FLEETGATE_UPGRADE; default: any-time].",
)
@click.option(
    "--members",
    metavar="NAME=KUBECONFIG,…",
    help="Members to run the agents of  [FLEETGATE_MEMBERS; default: none].",
)
@click.option(
    "--member-secrets",
    metavar="NAMESPACE",
    help="Namespace of the hub with members' kubeconfigs in Secrets, labelled "
    "fleetgate.dev/member=NAME: run their agents too  [FLEETGATE_MEMBER_SECRETS; default: none].",
)
@click.option(
    "--collect-namespaces",
    is_flag=True,
    default=None,
    help="Have these agents report their members' namespaces: a ResourcePlacement then goes only "
    "where its own is  [FLEETGATE_COLLECT_NAMESPACES; default: no].",
)
@click.option(
    "--lease-namespace",
    metavar="NAMESPACE",
    help="Namespace of the hub with the Leases by which several workers take turns  "
    "[FLEETGATE_LEASE_NAMESPACE; default: the pod's, or `default` outside a cluster].",
)
@click.option(
    "--identity",
    metavar="NAME",
    help="Name of this process in those Leases, which no other may have  "
    "[FLEETGATE_IDENTITY; default: made from host and process].",
)
def worker(**settings: object) -> None:
    """Drive update runs until told to stop (SIGTERM, Ctrl-C).

    Temporal is found by the SDK's own settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
    TEMPORAL_PROFILE and so on. A flag wins over its environment variable.
    """
    process.main(**settings)

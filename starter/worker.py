"""`fleetgate worker`: passes its flags to the worker as settings."""

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
    help="Roles to run: engine, bridge, placement, agents  [FLEETGATE_RUN; default: all].",
)
@click.option(
    "--placement",
    type=click.Choice([str(each) for each in PlacementKind]),
    help="What creates snapshots, bindings and Works: fleetgate, or another system such as "
    "KubeFleet  [FLEETGATE_PLACEMENT; default: builtin].",
)
@click.option(
    "--snapshots",
    type=click.Choice([str(each) for each in Snapshots]),
    help="When to take snapshots of a placement for update runs: soon after its content changes, "
    "or only when a run without an index starts  [FLEETGATE_SNAPSHOTS; default: on-change].",
)
@click.option(
    "--snapshot-interval",
    metavar="DURATION",
    help="Minimum time between two snapshots of a placement after changes, such as 30s; 0s turns "
    "it off  [FLEETGATE_SNAPSHOT_INTERVAL; default: 5s].",
)
@click.option(
    "--skipped-namespaces",
    metavar="NAMESPACE,…",
    help="Namespaces that must not be placed, besides default, kube-… and fleet-…  "
    "[FLEETGATE_SKIPPED_NAMESPACES; default: none].",
)
@click.option(
    "--hub-runs-workloads",
    is_flag=True,
    default=None,
    help="The hub itself runs workloads: do not place PersistentVolumeClaims, which its "
    "StatefulSets create  [FLEETGATE_HUB_RUNS_WORKLOADS; default: no].",
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Kubeconfig for the hub  [KUBECONFIG; default: the pod's service account].",
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
    help="Whether to accept approvals and decisions made only in Temporal, which does not know the "
    "hub's users  "
    "[FLEETGATE_TEMPORAL_APPROVALS; default: accept].",
)
@click.option(
    "--metrics-address",
    metavar="HOST:PORT",
    help="Address that serves /healthz, /readyz and /metrics  "
    "[FLEETGATE_METRICS_ADDRESS; default: 127.0.0.1:9464].",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="Format of the log  [FLEETGATE_LOG_FORMAT; default: text on a terminal, else json].",
)
@click.option(
    "--tracing",
    type=click.Choice([str(each) for each in Tracing]),
    help="Send traces, as configured by OTEL_EXPORTER_OTLP_ENDPOINT and so on; requires "
    "fleetgate[tracing]  "
    "[FLEETGATE_TRACING; default: none].",
)
@click.option(
    "--payload-keys",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File with the keys that encrypt Temporal's payloads  "
    "[FLEETGATE_PAYLOAD_KEYS; default: not encrypted].",
)
@click.option(
    "--deployment",
    metavar="NAME",
    help="Worker deployment in Temporal; only its current build gets tasks  "
    "[FLEETGATE_DEPLOYMENT; default: none].",
)
@click.option(
    "--build-id",
    metavar="ID",
    help="Build ID of this worker within its deployment  [FLEETGATE_BUILD_ID].",
)
@click.option(
    "--upgrade",
    type=click.Choice([str(each) for each in Upgrade]),
    help="When a run moves to a newer build after that became current  "
    "[FLEETGATE_UPGRADE; default: any-time].",
)
@click.option(
    "--members",
    metavar="NAME=KUBECONFIG,…",
    help="Members to run agents for  [FLEETGATE_MEMBERS; default: none].",
)
@click.option(
    "--member-secrets",
    metavar="NAMESPACE",
    help="Hub namespace with Secrets labelled fleetgate.dev/member=NAME that hold the kubeconfigs "
    "of more members to run agents for  [FLEETGATE_MEMBER_SECRETS; default: none].",
)
@click.option(
    "--collect-namespaces",
    is_flag=True,
    default=None,
    help="Make these agents report their members' namespaces; a ResourcePlacement is then placed "
    "only on members that have its namespace  [FLEETGATE_COLLECT_NAMESPACES; default: no].",
)
@click.option(
    "--lease-namespace",
    metavar="NAMESPACE",
    help="Hub namespace of the Leases for leader election between workers  "
    "[FLEETGATE_LEASE_NAMESPACE; default: the pod's, or `default` outside a cluster].",
)
@click.option(
    "--identity",
    metavar="NAME",
    help="Unique name of this process in those Leases  "
    "[FLEETGATE_IDENTITY; default: from host and process].",
)
def worker(**settings: object) -> None:
    """Run a worker, which drives update runs until SIGTERM or Ctrl-C.

    The connection to Temporal is configured with the SDK's own settings: TEMPORAL_ADDRESS,
    TEMPORAL_NAMESPACE, TEMPORAL_PROFILE and so on. A flag overrides its environment variable.
    """
    process.main(**settings)

"""The programs that make up a fleet, each with its settings."""

from dataclasses import dataclass
from pathlib import Path

from deploy.local import own_processes
from deploy.local.binaries import Binaries
from deploy.local.control_plane import ControlPlane
from deploy.local.etcd import etcd
from deploy.local.paths import HUB, FleetPaths
from deploy.local.ports import LOOPBACK
from deploy.local.services import Service
from deploy.local.state import (
    ETCD,
    ETCD_PEERS,
    TEMPORAL,
    TEMPORAL_UI,
    WORKER,
    FleetState,
    api_server,
)
from deploy.local.temporal import temporal


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The programs of one fleet."""

    paths: FleetPaths
    state: FleetState
    binaries: Binaries

    def etcd(self) -> Service:
        """Return the etcd that all clusters share."""
        return etcd(
            self.binaries.etcd,
            data=self.paths.data / "etcd",
            port=self.state.ports[ETCD],
            peer_port=self.state.ports[ETCD_PEERS],
        )

    def temporal(self) -> Service:
        """Return Temporal with its UI."""
        return temporal(
            self.binaries.temporal,
            database=self.paths.data / "temporal.sqlite",
            port=self.state.ports[TEMPORAL],
            ui_port=self.state.ports[TEMPORAL_UI],
        )

    def control_plane(self, cluster: str) -> ControlPlane:
        """Return the control plane of the hub or a member."""
        return ControlPlane(
            name=cluster,
            folder=self.paths.data / cluster,
            kubeconfig=self.paths.kubeconfig(cluster),
            port=self.state.ports[api_server(cluster)],
            token=self.state.tokens[cluster],
            etcd_address=self.etcd().address,
            # As on KubeFleet's hub, workloads there are only templates for the members.
            runs_workloads=cluster != HUB,
            worker_token=self.state.tokens[WORKER] if cluster == HUB else "",
        )

    def worker(self) -> Service:
        """Return fleetgate's own worker."""
        temporal_address = self.temporal().address
        return own_processes.worker(
            hub_kubeconfig=self.paths.worker_kubeconfig,
            members=self._member_kubeconfigs(),
            temporal_address=temporal_address,
            port=self.state.ports[WORKER],
            uses=tuple(self.control_plane(name).url for name in self.state.clusters),
        )

    def simulated_nodes(self) -> Service:
        """Return the process that stands in for the nodes of all members."""
        return own_processes.simulated_nodes(
            members=self._member_kubeconfigs(),
            uses=tuple(self.control_plane(name).url for name in self.state.members),
        )

    def temporal_ui(self) -> str:
        """Return the address of Temporal's UI."""
        return f"http://{LOOPBACK}:{self.state.ports[TEMPORAL_UI]}"

    def _member_kubeconfigs(self) -> dict[str, Path]:
        return {name: self.paths.kubeconfig(name) for name in self.state.members}

"""The etcd of a fleet: one for all API servers, with a prefix per cluster."""

from pathlib import Path

from deploy.local.ports import LOOPBACK
from deploy.local.services import Service, answers
from deploy.local.state import ETCD


def etcd(binary: Path, *, data: Path, port: int, peer_port: int) -> Service:
    """Return the etcd that keeps its files in `data`."""
    url = f"http://{LOOPBACK}:{port}"
    peer_url = f"http://{LOOPBACK}:{peer_port}"
    return Service(
        name=ETCD,
        argv=(
            str(binary),
            f"--name={ETCD}",
            f"--data-dir={data}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster={ETCD}={peer_url}",
            # Writes survive the end of the process, even a kill, because the kernel holds them.
            # Only a crash of the machine can lose them. That is fine for a trial fleet, and it
            # makes measurements independent of the speed of the disk.
            "--unsafe-no-fsync",
            "--auto-compaction-mode=periodic",
            "--auto-compaction-retention=1h",
            "--logger=zap",
            "--log-level=warn",
        ),
        address=url,
        ready=lambda: answers(f"{url}/readyz"),
    )

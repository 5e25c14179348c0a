"""Runs a container's command as a local process, with its variables and its ServiceAccount."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.deploy.helm.charts import NAMESPACE, Json, variables

MOUNTED = "/etc/fleetgate"
"""Where the charts mount configuration and Secrets."""


def environment(container: Json, kubeconfig: Path) -> dict[str, str]:
    """The container's variables, plus those that replace a pod's API server and namespace."""
    machine = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    pod = {"KUBECONFIG": str(kubeconfig), "FLEETGATE_LEASE_NAMESPACE": NAMESPACE}
    return machine | pod | variables(container)


def command(container: Json, mounts: Path | None = None) -> list[str]:
    """The image's entry point and the container's arguments, with its mounts in a local folder."""
    program = str(Path(sys.executable).parent / "fleetgate")
    return [program, *(each.replace(MOUNTED, str(mounts or MOUNTED)) for each in container["args"])]


@contextmanager
def process(
    container: Json, kubeconfig: Path, log: Path, mounts: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the container while the context lasts, and write its log to a file."""
    with log.open("wb") as written:
        running = subprocess.Popen(
            command(container, mounts), env=environment(container, kubeconfig), stderr=written
        )
    try:
        yield running
    finally:
        running.kill()
        running.wait()

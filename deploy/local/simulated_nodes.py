"""Simulated nodes, which stand in for the scheduler and the kubelets of the members.

No containers run: pods become Running and Ready after a delay, pods of a Job succeed, and an image
whose tag starts with `bad` cannot be pulled, which makes it possible to show a stuck rollout.

Pods are not bound to the node: a bound pod is only deleted once a kubelet confirms it.
"""

import asyncio
import logging
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from api.kinds import NODE, POD
from deploy.local import simulated_pods
from hub import Cache, Change, Controller, Hub, Json, Key

_NODE_NAME: Final = "simulated-node"
_NODE_RESOURCES: Final = {"cpu": "16", "memory": "64Gi", "pods": "1000"}
_WORKERS: Final = 8

logger = logging.getLogger(__name__)


class SimulatedNode:
    """The only node of a cluster, and all its pods."""

    def __init__(self, hub: Hub, *, delay: timedelta) -> None:
        self._hub = hub
        self._delay = delay
        self._pods = Cache(hub, POD)
        self._due: dict[Key, datetime] = {}
        self._pod_controller = Controller("pods", self._reconcile_pod, workers=_WORKERS)
        self._node_controller = Controller("node", self._reconcile_node)

    async def run(self) -> None:
        """Simulate the node until cancelled."""
        self._pods.subscribe(self._changed)
        self._node_controller.queue.add(("", _NODE_NAME))
        await asyncio.gather(
            self._pods.run(), self._pod_controller.run(), self._node_controller.run()
        )

    def _changed(self, change: Change) -> None:
        self._pod_controller.queue.add(change.key)

    async def _reconcile_pod(self, key: Key) -> timedelta | None:
        namespace, name = key
        pod = self._pods.get(name, namespace)
        if pod is None:
            self._due.pop(key, None)
            return None
        now = datetime.now(UTC)
        due = self._due.setdefault(key, now + self._delay)
        if now < due:
            return due - now
        status = simulated_pods.next_status(pod, now=now)
        if status is not None:
            patch = {"status": status}
            await self._hub.patch(POD, name, patch, namespace=namespace, subresource="status")
        return None

    async def _reconcile_node(self, key: Key) -> None:
        _, name = key
        node: Json = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        }
        await self._hub.apply(NODE, node)
        status = {"capacity": _NODE_RESOURCES, "allocatable": _NODE_RESOURCES}
        ready = simulated_pods.condition("Ready", reason="Simulated", now=datetime.now(UTC))
        body = node | {"status": status | {"conditions": [ready]}}
        await self._hub.apply(NODE, body, subresource="status")
        logger.info("%s: %s is ready", self._hub.url, name)


async def run(kubeconfigs: list[Path], *, delay: timedelta) -> None:
    """Simulate the nodes of all clusters until SIGTERM."""
    hubs = [await Hub.connect(path, manager="simulated-nodes") for path in kubeconfigs]
    nodes = asyncio.gather(*(SimulatedNode(hub, delay=delay).run() for hub in hubs))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, nodes.cancel)
    try:
        await nodes
    except asyncio.CancelledError:
        logger.info("stopping")
    finally:
        await asyncio.gather(*(hub.close() for hub in hubs))


@click.command()
@click.argument("members")
@click.option("--delay", default=1.0, show_default=True, help="Seconds until a pod is ready.")
def main(members: str, delay: float) -> None:
    """Simulate the nodes of MEMBERS, given as `name=kubeconfig,name=kubeconfig`."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    kubeconfigs = [Path(pair.partition("=")[2]) for pair in members.split(",")]
    asyncio.run(run(kubeconfigs, delay=timedelta(seconds=delay)))


if __name__ == "__main__":
    main()

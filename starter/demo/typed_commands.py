"""The commands of the tutorial, each with an equivalent through the API."""

import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from api.base import format_time
from api.kinds import CONFIG_MAP, NAMESPACE, Kind
from hub import Hub, Json


@dataclass(frozen=True, slots=True)
class TutorialCommand:
    """One command of the tutorial."""

    argv: tuple[str, ...]
    instead: Callable[[Hub], Awaitable[str]]
    """Does the same through the API if the program is missing; returns what to print."""
    stdin: str = ""
    live: bool = False
    """Whether to show its output while it runs."""


def apply(kind: Kind, manifest: str) -> TutorialCommand:
    """Make the command `kubectl apply -f -` with a manifest."""

    async def instead(hub: Hub) -> str:
        made = await hub.apply(kind, yaml.safe_load(manifest))
        return f"{_name(kind, made)} applied"

    return TutorialCommand(("kubectl", "apply", "-f", "-"), instead, stdin=manifest)


def create_namespace(name: str) -> TutorialCommand:
    """Make the command `kubectl create namespace`."""

    async def instead(hub: Hub) -> str:
        made = await hub.create(NAMESPACE, {"metadata": {"name": name}})
        return f"{_name(NAMESPACE, made)} created"

    return TutorialCommand(("kubectl", "create", "namespace", name), instead)


def create_config_map(name: str, namespace: str, value: str) -> TutorialCommand:
    """Make the command `kubectl create configmap` with the single key `key`."""

    async def instead(hub: Hub) -> str:
        body = {"metadata": {"name": name, "namespace": namespace}, "data": {"key": value}}
        return f"{_name(CONFIG_MAP, await hub.create(CONFIG_MAP, body))} created"

    argv = ("kubectl", "create", "configmap", name, f"--from-literal=key={value}")
    return TutorialCommand((*argv, "-n", namespace), instead)


def patch(
    kind: Kind, name: str, change: Json, *, namespace: str = "", status: bool = False
) -> TutorialCommand:
    """Make the command `kubectl patch --type merge`."""
    subresource = "status" if status else ""

    async def instead(hub: Hub) -> str:
        made = await hub.patch(kind, name, change, namespace=namespace, subresource=subresource)
        return f"{_name(kind, made)} patched"

    argv = ["kubectl", "patch", kind.kind.lower(), name, "--type", "merge"]
    argv += ["-p", json.dumps(change, separators=(",", ":"))]
    argv += ["-n", namespace] if namespace else []
    argv += [f"--subresource={subresource}"] if status else []
    return TutorialCommand(tuple(argv), instead)


def approve(kind: Kind, name: str) -> TutorialCommand:
    """Make the command that approves a request as the tutorial does: kubectl patches its status."""
    condition = {
        "type": "Approved",
        "status": "True",
        "reason": "testPassed",
        "message": "lgtm",
        "observedGeneration": 1,
        "lastTransitionTime": format_time(datetime.now(UTC)),
    }
    return patch(kind, name, {"status": {"conditions": [condition]}}, status=True)


def get(kind: Kind, *names: str, columns: tuple[str, ...] = ()) -> TutorialCommand:
    """Make the command `kubectl get`, with labels as additional columns."""

    async def instead(hub: Hub) -> str:
        items = (await hub.list(kind)).items
        found = [each for each in items if not names or each["metadata"]["name"] in names]
        return "\n".join(_name(kind, each) for each in found) or "No resources found"

    labels = (part for label in columns for part in ("-L", label))
    return TutorialCommand(("kubectl", "get", kind.plural, *names, *labels), instead)


def fleetgate(*arguments: str, live: bool = False) -> TutorialCommand:
    """Make a command of fleetgate itself, which is never missing."""

    async def instead(hub: Hub) -> str:
        raise AssertionError(f"fleetgate is missing at {hub.url}")

    return TutorialCommand(("fleetgate", *arguments), instead, live=live)


def program(name: str) -> tuple[str, ...]:
    """Return the command line that starts a program; fleetgate is the one running now."""
    if name != "fleetgate":
        return (name,)
    installed = Path(sys.executable).with_name("fleetgate")
    return (str(installed),) if installed.exists() else (sys.executable, "-m", "starter")


def _name(kind: Kind, body: Json) -> str:
    group = f".{kind.group}" if kind.group else ""
    return f"{kind.kind.lower()}{group}/{body['metadata']['name']}"

"""Check that the hub has the admission policies that ship with fleetgate."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from deploy.local import manifests
from deploy.local.policies import CHECKS, NAMES
from hub import Json
from starter.doctor.findings import Finding, Setup, ok, warning

_GROUP: Final = "admissionregistration.k8s.io"


async def policies(setup: Setup) -> Sequence[Finding]:
    """Compare each policy and its binding with the shipped one."""
    shipped = [*manifests.documents(CHECKS), *manifests.documents(NAMES)]
    return await asyncio.gather(*(_look(setup, each) for each in shipped))


async def _look(setup: Setup, shipped: Json) -> Finding:
    name, kind = shipped["metadata"]["name"], shipped["kind"]
    about, apply = f"{kind} {name}", [setup.command("fleetgate policies --apply")]
    served = [each for each in await setup.hub.kinds() if (each.group, each.kind) == (_GROUP, kind)]
    if not served:
        says = f"the hub does not serve {kind}"
        advice = "upgrade the hub, or rely on roles alone"
        return warning(about, says, advice=advice)
    found = await setup.hub.find(served[0], name)
    if found is None:
        advice = "install it: roles alone cannot control who approves, and under which name"
        return warning(about, "not installed", advice=advice, commands=apply)
    return judge(about, shipped, found, apply)


def judge(about: str, shipped: Json, found: Json, apply: Sequence[str]) -> Finding:
    """Judge whether a policy on the hub does what the shipped one does."""
    if not holds(shipped["spec"], found["spec"]):
        says = "differs from the one that ships with this version of fleetgate"
        return warning(about, says, advice="install the shipped one", commands=apply)
    typed = found.get("status", {}).get("typeChecking") or {}
    if warnings := typed.get("expressionWarnings"):
        says = f"the hub warns about {warnings[0]['fieldRef']}: {warnings[0]['warning']}"
        advice = "install the CRDs first, then the policy"
        return warning(about, says, advice=advice, commands=apply)
    return ok(about, "matches this version of fleetgate")


def holds(wanted: Any, found: Any) -> bool:  # noqa: ANN401 - any part of an object
    """Return whether `found` has everything in `wanted`; defaults of the API server are ignored."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            name in found and holds(value, found[name]) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(wanted) == len(found)
            and all(holds(one, other) for one, other in zip(wanted, found, strict=True))
        )
    return bool(wanted == found)

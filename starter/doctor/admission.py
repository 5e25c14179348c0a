"""Check of the admission policies: whether the hub has those that ship with fleetgate."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from deploy.local import manifests
from deploy.local.policies import CHECKS, NAMES
from hub import Json
from starter.doctor.findings import Finding, ok, warning
from starter.doctor.setup import Setup

_GROUP: Final = "admissionregistration.k8s.io"


async def policies(setup: Setup) -> Sequence[Finding]:
    """Compare each policy and its binding with what ships."""
    shipped = [*manifests.documents(CHECKS), *manifests.documents(NAMES)]
    return await asyncio.gather(*(_look(setup, each) for each in shipped))


async def _look(setup: Setup, shipped: Json) -> Finding:
    name, kind = shipped["metadata"]["name"], shipped["kind"]
    about, apply = f"{kind} {name}", [setup.command("fleetgate policies --apply")]
    served = [each for each in await setup.hub.kinds() if (each.group, each.kind) == (_GROUP, kind)]
    if not served:
        says = f"the hub does not serve {kind}"
        advice = "upgrade the hub, or live with what roles alone can keep apart"
        return warning(about, says, advice=advice)
    found = await setup.hub.find(served[0], name)
    if found is None:
        advice = "install it: roles alone cannot say who may approve, and under which name"
        return warning(about, "not installed", advice=advice, commands=apply)
    return judge(about, shipped, found, apply)


def judge(about: str, shipped: Json, found: Json, apply: Sequence[str]) -> Finding:
    """Say whether a policy on the hub does what the shipped one does."""
    if not holds(shipped["spec"], found["spec"]):
        says = "differs from the one that ships with this fleetgate"
        return warning(about, says, advice="install this one", commands=apply)
    typed = found.get("status", {}).get("typeChecking") or {}
    if warnings := typed.get("expressionWarnings"):
        says = f"the hub warns of {warnings[0]['fieldRef']}: {warnings[0]['warning']}"
        return warning(about, says, advice="install the kinds first, then it", commands=apply)
    return ok(about, "as this fleetgate has it")


def holds(wanted: Any, found: Any) -> bool:  # noqa: ANN401 - any part of an object
    """Whether all that is wanted is there; what the API server has filled in does not count."""
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

"""Check that the hub has all CRDs, and that they match this version of fleetgate."""

import asyncio
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from api.kinds import CUSTOM_RESOURCE_DEFINITION
from deploy.local import crds
from hub import Forbidden, Json
from starter import words
from starter.doctor.findings import Finding, ok, problem, unknown, warning
from starter.doctor.schemas import Difference, Way, differences
from starter.doctor.setup import Command, Setup

_NAMED_AT_MOST: Final = 4
_APPLY: Final = "fleetgate crds --apply"


async def served(setup: Setup) -> Sequence[Finding]:
    """Compare each CRD on the hub with that of this version of fleetgate."""
    built = crds.definitions()
    try:
        found = await asyncio.gather(*(_find(setup, each) for each in built))
    except Forbidden:
        return await _by_discovery(setup, built)
    judged = [judge(one, other, setup.command) for one, other in zip(built, found, strict=True)]
    bad = [each for each in judged if each]
    well = len(judged) - len(bad)
    count = f"{well} of {len(built)}" if bad else f"all {well}"
    good = [ok("CRDs", f"{count} match this version of fleetgate")] if well else []
    return [*good, *_missing_together(bad, setup.command)]


async def _find(setup: Setup, definition: Json) -> Json | None:
    return await setup.hub.find(CUSTOM_RESOURCE_DEFINITION, definition["metadata"]["name"])


def judge(built: Json, installed: Json | None, command: Command) -> Finding | None:
    """Return what is wrong with a CRD, or None."""
    about, apply = f"CRD {built['metadata']['name']}", [command(_APPLY)]
    if installed is None:
        return problem(about, _MISSING, advice=_INSTALL, commands=apply)
    if refusal := _not_established(installed):
        describe = command(f"kubectl describe crd {built['metadata']['name']}")
        advice = "find out what prevents it"
        return problem(about, f"not served: {refusal}", advice=advice, commands=[describe])
    found = list(differences(built, installed))
    if not found:
        return None
    if any(each.way is Way.LACKS for each in found):
        advice = "install that of this version of fleetgate, or the fields it writes there are lost"
        return problem(about, f"older, or edited: {_told(found)}", advice=advice, commands=apply)
    if all(each.way is Way.KNOWS_MORE for each in found):
        advice = "upgrade fleetgate to the version of the CRDs; the older one keeps working"
        return warning(about, f"newer, or edited: {_told(found)}", advice=advice)
    advice = "install that of this version of fleetgate, unless another one is intended"
    return warning(about, f"edited, or from another version: {_told(found)}", advice=advice,
                   commands=apply)  # fmt: skip


_MISSING: Final = "not installed"
_INSTALL: Final = "install the CRDs"


def _missing_together(bad: Sequence[Finding], command: Command) -> list[Finding]:
    """Merge the findings for missing CRDs into one, because usually all are missing at once."""
    missing = [each for each in bad if each.says == _MISSING]
    if len(missing) < 2:
        return list(bad)
    names = [each.about.removeprefix("CRD ").partition(".")[0] for each in missing]
    says = f"{len(missing)} are not installed: {words.named(names)}"
    together = problem("CRDs", says, advice=_INSTALL, commands=[command(_APPLY)])
    return [together, *(each for each in bad if each.says != _MISSING)]


def _not_established(installed: Json) -> str:
    conditions: list[dict[str, Any]] = installed.get("status", {}).get("conditions") or []
    false = [each for each in conditions if each["status"] == "False"]
    found = next((each for each in false if each["type"] in {"Established", "NamesAccepted"}), None)
    return found["message"] if found else ""


def _told(found: Sequence[Difference]) -> str:
    """Return `lacks spec.a, spec.b; differs in v1beta1 served`, each way with its first paths."""
    told = []
    ways = list(Way)
    ordered = sorted(found, key=lambda each: ways.index(each.way))
    for way, group in groupby(ordered, key=lambda each: each.way):
        paths = [each.path for each in group]
        told.append(f"{way} {words.named(paths, at_most=_NAMED_AT_MOST)}")
    return "; ".join(told)


async def _by_discovery(setup: Setup, built: Sequence[Json]) -> Sequence[Finding]:
    """Check which kinds are served, for users who may not read CRDs."""
    served = {(each.group, each.plural) for each in await setup.hub.kinds()}
    specs = [each["spec"] for each in built]
    missing = [
        each["names"]["plural"]
        for each in specs
        if (each["group"], each["names"]["plural"]) not in served
    ]
    if missing:
        says = f"{len(missing)} are not served: {words.named(missing)}"
        return [problem("CRDs", says, advice=_INSTALL, commands=[setup.command(_APPLY)])]
    return [
        unknown(
            "CRDs",
            f"all {len(built)} are served; cannot tell if they match this version of fleetgate",
            advice="request the right to get customresourcedefinitions.apiextensions.k8s.io",
        )
    ]

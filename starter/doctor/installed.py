"""Checks of what a hub needs: all CRDs and admission policies, as in this version of fleetgate."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from api.kinds import CUSTOM_RESOURCE_DEFINITION
from deploy.installing import crds, manifests
from deploy.installing.policies import CHECKS, NAMES
from hub import Forbidden, Json
from starter import words
from starter.doctor.findings import Command, Finding, Setup, ok, problem, unknown, warning

# -- differences between two CRDs ----------------------------------------------------------


Schema = Mapping[str, Any]
"""A part of a CRD."""


class DifferenceKind(StrEnum):
    """How a part of a CRD differs."""

    LACKS = "lacks"
    """The hub does not have it and would drop what fleetgate writes there."""
    KNOWS_MORE = "also has"
    """Only the hub has it, from a newer fleetgate or another system."""
    DIFFERS = "differs in"


@dataclass(frozen=True, slots=True)
class Difference:
    """One part that differs."""

    way: DifferenceKind
    path: str
    """Where, such as `spec.stages[].name` or `v1beta1 served`."""


_INSIDE: Final = ("items", "additionalProperties")
_NO_MATTER: Final = frozenset({"description", "properties", *_INSIDE})
"""Parts of a schema that are compared separately, or that only people read."""
_OF_A_VERSION: Final = ("served", "storage", "subresources")


def differences(built: Schema, installed: Schema) -> Iterator[Difference]:
    """Yield the differences between two CRDs, ignoring descriptions and printer columns.

    Fields are compared only for the stored version, which fleetgate writes.
    """
    for part in ("group", "scope"):
        if built["spec"][part] != installed["spec"].get(part):
            yield Difference(DifferenceKind.DIFFERS, part)
    there = {each["name"]: each for each in installed["spec"]["versions"]}
    for version in built["spec"]["versions"]:
        name = version["name"]
        if name in there:
            yield from _version(name, version, there[name])
        else:
            yield Difference(DifferenceKind.LACKS, f"version {name}")


def _version(name: str, built: Schema, installed: Schema) -> Iterator[Difference]:
    for part in _OF_A_VERSION:
        if built.get(part) != installed.get(part):
            yield Difference(DifferenceKind.DIFFERS, f"{name} {part}")
    if built["storage"]:
        yield from _schema(_schema_of(built), _schema_of(installed), "")


def _schema_of(version: Schema) -> Schema:
    schema: Schema = version.get("schema", {}).get("openAPIV3Schema", {})
    return schema


def _schema(built: Schema, installed: Schema, path: str) -> Iterator[Difference]:
    ours, theirs = built.get("properties", {}), installed.get("properties", {})
    for name in sorted({*ours, *theirs}):
        inner = f"{path}.{name}" if path else name
        if name not in theirs:
            yield Difference(DifferenceKind.LACKS, inner)
        elif name not in ours:
            yield Difference(DifferenceKind.KNOWS_MORE, inner)
        else:
            yield from _schema(ours[name], theirs[name], inner)
    for name in _INSIDE:
        yield from _inside(built.get(name), installed.get(name), f"{path}[]")
    if _rules(built) != _rules(installed):
        yield Difference(DifferenceKind.DIFFERS, path)


def _inside(built: object, installed: object, path: str) -> Iterator[Difference]:
    if isinstance(built, Mapping) and isinstance(installed, Mapping):
        yield from _schema(built, installed, path)
    elif built != installed:
        yield Difference(DifferenceKind.DIFFERS, path)


def _rules(schema: Schema) -> dict[str, Any]:
    """Return the rules for a value itself, without those for the values inside it."""
    return {name: value for name, value in schema.items() if name not in _NO_MATTER}


# -- the check -----------------------------------------------------------------------------


_NAMED_AT_MOST: Final = 4
_APPLY: Final = "fleetgate crds --apply"
_INSTALL: Final = "install the CRDs"


async def served(setup: Setup) -> Sequence[Finding]:
    """Compare each CRD on the hub with that of this version of fleetgate."""
    built = crds.definitions()
    try:
        found = await asyncio.gather(*(_find(setup, each) for each in built))
    except Forbidden:
        return await _by_discovery(setup, built)
    pairs = list(zip(built, found, strict=True))
    missing = [one for one, other in pairs if other is None]
    judged = [judge_definition(one, other, setup.command) for one, other in pairs if other]
    bad = [*judge_missing(missing, setup.command), *(each for each in judged if each)]
    well = judged.count(None)
    count = f"{well} of {len(built)}" if bad else f"all {well}"
    good = [ok("CRDs", f"{count} match this version of fleetgate")] if well else []
    return [*good, *bad]


async def _find(setup: Setup, definition: Json) -> Json | None:
    return await setup.hub.find(CUSTOM_RESOURCE_DEFINITION, definition["metadata"]["name"])


def judge_missing(missing: Sequence[Json], command: Command) -> Iterator[Finding]:
    """Yield one finding for all missing CRDs, because usually all are missing at once."""
    if len(missing) == 1:
        about, says = _about(missing[0]), "not installed"
    else:
        names = [each["spec"]["names"]["plural"] for each in missing]
        about, says = "CRDs", f"{len(missing)} are not installed: {words.named(names)}"
    if missing:
        yield problem(about, says, advice=_INSTALL, commands=[command(_APPLY)])


def _about(definition: Json) -> str:
    return f"CRD {definition['metadata']['name']}"


def judge_definition(built: Json, installed: Json, command: Command) -> Finding | None:
    """Return what is wrong with an installed CRD, or None."""
    about, apply = _about(built), [command(_APPLY)]
    if refusal := _not_established(installed):
        describe = command(f"kubectl describe crd {built['metadata']['name']}")
        advice = "find out what prevents it"
        return problem(about, f"not served: {refusal}", advice=advice, commands=[describe])
    found = list(differences(built, installed))
    if not found:
        return None
    if any(each.way is DifferenceKind.LACKS for each in found):
        advice = "install that of this version of fleetgate, or the fields it writes there are lost"
        return problem(about, f"older, or edited: {_listed(found)}", advice=advice, commands=apply)
    if all(each.way is DifferenceKind.KNOWS_MORE for each in found):
        advice = "upgrade fleetgate to the version of the CRDs; the older one keeps working"
        return warning(about, f"newer, or edited: {_listed(found)}", advice=advice)
    advice = "install that of this version of fleetgate, unless another one is intended"
    return warning(about, f"edited, or from another version: {_listed(found)}", advice=advice,
                   commands=apply)  # fmt: skip


def _not_established(installed: Json) -> str:
    conditions: list[dict[str, Any]] = installed.get("status", {}).get("conditions") or []
    false = [each for each in conditions if each["status"] == "False"]
    found = next((each for each in false if each["type"] in {"Established", "NamesAccepted"}), None)
    return found["message"] if found else ""


def _listed(found: Sequence[Difference]) -> str:
    """Return `lacks spec.a, spec.b; differs in v1beta1 served`, each way with its first paths."""
    texts = []
    ways = list(DifferenceKind)
    ordered = sorted(found, key=lambda each: ways.index(each.way))
    for way, group in groupby(ordered, key=lambda each: each.way):
        paths = [each.path for each in group]
        texts.append(f"{way} {words.named(paths, at_most=_NAMED_AT_MOST)}")
    return "; ".join(texts)


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


# -- admission policies --------------------------------------------------------------------


_GROUP: Final = "admissionregistration.k8s.io"


async def policies(setup: Setup) -> Sequence[Finding]:
    """Compare each policy and its binding with the shipped one."""
    shipped = [*manifests.documents(CHECKS), *manifests.documents(NAMES)]
    return await asyncio.gather(*(_policy(setup, each) for each in shipped))


async def _policy(setup: Setup, shipped: Json) -> Finding:
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
    return judge_policy(about, shipped, found, apply)


def judge_policy(about: str, shipped: Json, found: Json, apply: Sequence[str]) -> Finding:
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

"""Checks of Temporal: access, namespace, retention and search attributes."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.service import RPCError, RPCStatusCode

from starter import words
from starter.doctor import reaching
from starter.doctor.findings import Finding, Setup, ok, problem, warning
from starter.doctor.reaching import NotReached
from workflows import search_attributes

KEPT: Final = timedelta(days=7)
"""Retention without a warning: long enough to look into a run a week after it ended."""
_REGISTER: Final = "fleetgate search-attributes"


async def answers(setup: Setup) -> Sequence[Finding]:
    """Check that Temporal can be reached with the configured credentials."""
    about = "Temporal"
    try:
        address, _ = reaching.named(setup)
        about = f"Temporal {address}"
        client = await reaching.connect(setup)
    except NotReached as error:
        why = error.why
        return [problem(about, why.says, advice=why.advice, commands=why.commands)]
    info = await client.workflow_service.get_system_info(GetSystemInfoRequest())
    return [ok(about, f"server {info.server_version}")]


async def namespace(setup: Setup) -> Sequence[Finding]:
    """Check that the namespace exists, and how long it keeps ended workflows."""
    client = await reaching.connect(setup)
    name = client.namespace
    about = f"Temporal namespace {name}"
    try:
        found = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=name)
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return [missing_namespace(about)]
    kept = found.config.workflow_execution_retention_ttl.ToTimedelta()
    return [retention(about, kept)]


def missing_namespace(about: str) -> Finding:
    """Report that the namespace does not exist."""
    return problem(
        about,
        "does not exist",
        advice="create it, or set TEMPORAL_NAMESPACE to another one",
        commands=["fleetgate temporal setup --create-namespace"],
    )


def retention(about: str, kept: timedelta) -> Finding:
    """Judge how long workflow histories are kept."""
    if kept >= KEPT:
        return ok(about, f"keeps ended runs for {words.age(kept)}")
    return warning(
        about,
        f"keeps the history of ended runs for only {words.age(kept)}",
        advice="keep it longer: it records who did what. The objects on the hub are not affected",
        commands=["fleetgate temporal setup --retention 720h"],
    )


async def attributes(setup: Setup) -> Sequence[Finding]:
    """Check that the search attributes of runs are registered."""
    client = await reaching.connect(setup)
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [registered(listed.custom_attributes, client.namespace)]


def registered(found: Mapping[str, "IndexedValueType.ValueType"], name: str) -> Finding:
    """Judge the search attributes that a namespace has registered."""
    about = f"search attributes in {name}"
    if wrong := search_attributes.wrong(found):
        remove = "temporal operator search-attribute remove"
        return problem(
            about,
            f"registered with a type other than Keyword: {', '.join(wrong)}",
            advice="remove and register them again; until then runs start without any",
            commands=[
                *(f"{remove} --namespace {name} --name {each}" for each in wrong),
                _REGISTER,
            ],
        )
    if missing := search_attributes.missing(found):
        return warning(
            about,
            f"not registered: {', '.join(missing)}",
            advice="register them; runs work without them, but cannot be searched for",
            commands=[_REGISTER],
        )
    return ok(about, f"all {len(search_attributes.ALL)} are registered")

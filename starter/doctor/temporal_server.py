"""Checks of Temporal: why it cannot be reached, its namespace, retention and search attributes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from starter import temporal, words
from starter.doctor.findings import Finding, Setup, ok, problem, warning
from workflows import plugin, search_attributes
from workflows.connecting import UnusableSettingsError


@dataclass(frozen=True, slots=True)
class Why:
    """Why Temporal cannot be reached."""

    says: str
    advice: str
    commands: tuple[str, ...] = ()


class NotReached(Exception):  # noqa: N818 - it is an outcome, not an error
    """The client could not connect to Temporal."""

    def __init__(self, why: Why) -> None:
        super().__init__(why.says)
        self.why = why


def address_and_namespace(setup: Setup) -> tuple[str, str]:
    """Return address and namespace of the Temporal to check. Raises NotReached."""
    try:
        found = plugin.connection(temporal.environment(setup.target))
    except (RuntimeError, ValueError) as error:
        advice = "check TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE"
        raise NotReached(Why(f"its settings are wrong: {error}", advice)) from error
    return found["target_host"], found["namespace"]


async def connect(setup: Setup) -> Client:
    """Connect to the Temporal that the environment names, or to the local fleet's.

    Raises NotReached.
    """
    address, _ = address_and_namespace(setup)
    environment = temporal.environment(setup.target)
    try:
        async with asyncio.timeout(temporal.CONNECT_WITHIN.total_seconds()):
            return await plugin.connect(environment)
    except TimeoutError as error:
        raise NotReached(explained("timed out", address)) from error
    except UnusableSettingsError as error:
        advice = "set it here and for fleetgate's workers"
        raise NotReached(Why(str(error), advice)) from error
    except (RuntimeError, ValueError, OSError) as error:
        raise NotReached(explained(str(error), address)) from error


_CERTIFICATE: Final = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
_REASONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("expired", "the certificate has expired, or a clock is wrong", "renew it"),
    ("certificaterequired", "it requires a client certificate",
     f"set {_CERTIFICATE}"),
    ("dns error", "its host name cannot be resolved", "correct the host name"),
    ("connection refused", "connection refused", "start it, or use another address"),
    ("timed out", "no answer in time", "check the address, and firewalls in between"),
)  # fmt: skip
"""Parts of the client's texts, what they mean, and what to do. The first match counts.

Errors caused by a setting are explained in `workflows.connecting` already.
"""


def explained(text: str, address: str) -> Why:
    """Explain an error of Temporal's client; case, spaces and underscores do not matter."""
    flat = text.lower().replace("_", "")
    for part, says, advice in _REASONS:
        if part in flat or part in flat.replace(" ", ""):
            return Why(says, f"{advice} (TEMPORAL_ADDRESS is {address})")
    return Why(text, f"check TEMPORAL_ADDRESS, which is {address}, and the TLS settings")


# -- checks --------------------------------------------------------------------------------


KEPT: Final = timedelta(days=7)
"""Retention without a warning: long enough to look into a run a week after it ended."""
_REGISTER: Final = "fleetgate search-attributes"


async def answers(setup: Setup) -> Sequence[Finding]:
    """Check that Temporal can be reached with the configured credentials."""
    about = "Temporal"
    try:
        address, _ = address_and_namespace(setup)
        about = f"Temporal {address}"
        client = await connect(setup)
    except NotReached as error:
        why = error.why
        return [problem(about, why.says, advice=why.advice, commands=why.commands)]
    info = await client.workflow_service.get_system_info(GetSystemInfoRequest())
    return [ok(about, f"server {info.server_version}")]


async def namespace(setup: Setup) -> Sequence[Finding]:
    """Check that the namespace exists, and how long it keeps ended workflows."""
    client = await connect(setup)
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
    client = await connect(setup)
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

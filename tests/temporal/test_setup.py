"""Setting up a Temporal namespace for runs."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from starter import cli
from tests.support.temporal import bare_namespace, registered
from workflows import search_attributes
from workflows.plugin import connect

NAMES = [key.name for key in search_attributes.ALL]
Setup = Callable[..., Coroutine[Any, Any, tuple[int, str, str]]]


@pytest.fixture
def setup(
    temporal_address: str,
    unique: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Setup:
    """Run `fleetgate temporal setup …` for a namespace of this test's own."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", unique)

    async def typed(*arguments: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(cli.run, ["temporal", "setup", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return typed


async def test_a_namespace_is_created_only_on_request(
    setup: Setup, temporal_address: str, unique: str
) -> None:
    assert await setup() == (
        3,
        "",
        (
            f"error: Temporal has no namespace {unique}\n"
            "  create it with --create-namespace, or set TEMPORAL_NAMESPACE to another one\n"
        ),
    )
    assert await setup("--create-namespace") == (
        0,
        (
            f"namespace {unique} created; it keeps ended runs for 30 days\n"
            f"registered in namespace {unique}: {', '.join(NAMES)}\n"
        ),
        "",
    )
    client = await connect({"TEMPORAL_ADDRESS": temporal_address, "TEMPORAL_NAMESPACE": unique})
    assert set(NAMES) <= set(await registered(client))
    assert await kept_days(client) == 30

    # Again, as a Job does before each upgrade.
    assert await setup("--create-namespace") == (
        0,
        (
            f"namespace {unique} exists; it keeps ended runs for 30 days\n"
            f"all search attributes are registered in namespace {unique}\n"
        ),
        "",
    )


async def test_retention_is_changed_on_request(
    setup: Setup, temporal_address: str, unique: str
) -> None:
    client = await bare_namespace(temporal_address, unique)
    code, out, _ = await setup("--retention", "168h")
    assert code == 0
    assert out.startswith(
        f"namespace {unique} now keeps ended runs for 7 days; before, it was 1 day\n"
    )
    assert await kept_days(client) == 7

    code, out, _ = await setup("--retention", "168h")
    assert code == 0
    assert out.startswith(f"namespace {unique} exists; it keeps ended runs for 7 days\n")


async def kept_days(client: Client) -> int:
    found = await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=client.namespace)
    )
    return found.config.workflow_execution_retention_ttl.ToTimedelta().days


async def test_a_retention_that_temporal_does_not_accept_is_a_usage_error(setup: Setup) -> None:
    code, _, err = await setup("--retention", "1h")
    assert code == 2
    assert "Temporal keeps runs for at least 24h" in err

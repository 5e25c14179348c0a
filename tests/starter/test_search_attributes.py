"""Registering the search attributes of runs in Temporal."""

import asyncio
import subprocess
import sys

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client

from starter import cli
from tests.support.temporal import bare_namespace, registered
from workflows import search_attributes

NAMES = [key.name for key in search_attributes.ALL]


@pytest.fixture
async def namespace(temporal_address: str, unique: str, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A namespace without search attributes, which commands use."""
    client = await bare_namespace(temporal_address, unique)
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", unique)
    return client


async def typed(*arguments: str) -> int:
    # In a thread, because the command brings its own event loop.
    return await asyncio.to_thread(cli.run, ["search-attributes", *arguments])


async def test_missing_search_attributes_are_registered_once(
    namespace: Client, unique: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await typed() == 0
    assert capsys.readouterr().out == f"registered in namespace {unique}: {', '.join(NAMES)}\n"
    assert set(NAMES) <= set(await registered(namespace))

    assert await typed() == 0
    expected = f"all search attributes are registered in namespace {unique}\n"
    assert capsys.readouterr().out == expected


async def test_a_search_attribute_with_another_type_is_named(
    namespace: Client, unique: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await namespace.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=unique,
            search_attributes={"FleetgateStage": IndexedValueType.INDEXED_VALUE_TYPE_INT},
        )
    )
    assert await typed() == 1
    assert capsys.readouterr().err == (
        f"error: search attribute FleetgateStage is registered in namespace {unique} as Int, but "
        "must be Keyword\n"
        "  remove it with `temporal operator search-attribute remove "
        f"--namespace {unique} --name FleetgateStage`, then try again\n"
    )
    assert await registered(namespace) == ["FleetgateStage"]


async def test_a_missing_namespace_is_not_found(
    temporal_address: str,
    unique: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", unique)
    assert await typed() == 3
    error = capsys.readouterr().err
    assert unique in error
    assert "TEMPORAL_NAMESPACE" in error


def test_the_equivalent_commands_are_printed_for_the_namespace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "rollouts")
    assert cli.run(["search-attributes", "--print"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"temporal operator search-attribute create --namespace rollouts --name {name} "
        "--type Keyword"
        for name in NAMES
    ]


def test_a_missing_temporal_profile_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEMPORAL_PROFILE", "nobodys")
    assert cli.run(["search-attributes"]) == 2
    assert "nobodys" in capsys.readouterr().err


@pytest.mark.parametrize("_", range(3))
def test_an_unreachable_temporal_is_one_line_and_keeps_the_exit_code(
    _: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run several times, because threads of the SDK interfere only sometimes."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    ended = subprocess.run(
        [sys.executable, "-m", "starter", "search-attributes"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr.splitlines() == [
        "error: Temporal cannot be reached at 127.0.0.1:1",
        "  set TEMPORAL_ADDRESS to the host:port of another one",
    ]
    assert ended.returncode == 1

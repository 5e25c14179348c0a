"""A command imports only what it needs, because a person waits for the imports."""

import subprocess
import sys

import pytest

from starter import cli, groups

TEMPORAL = ("temporalio", "grpc", "google.protobuf")


def printed_by(code: str) -> str:
    """Return what a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout


def imported_by(*modules: str) -> set[str]:
    """Return the names of all modules that a new interpreter has after importing these."""
    return set(printed_by(f"import sys, {', '.join(modules)}; print(*sys.modules)").split())


def modules_of(commands: dict[str, tuple[str, str]], *names: str) -> list[str]:
    """Return the modules of these commands."""
    return [commands[name][0].partition(":")[0] for name in names]


ABOUT_THE_HUB = [
    *modules_of(cli.COMMANDS, "plan", "approve", "rollback", "crds", "policies", "local"),
    *modules_of(groups.OF_RUN, "list", "show", "explain", "create", "start", "stop", "watch"),
    *modules_of(groups.OF_RUN, "delete"),
    *modules_of(groups.OF_MEMBER, *groups.OF_MEMBER),
    *modules_of(cli.COMMANDS, "demo", "doctor", "agent"),
    *modules_of(groups.OF_RUN, "history"),
    "starter.snapshot.showing",
    "starter.snapshot.diffing",
    "starter.failures",
]
"""Modules of commands that work on the hub. Some of them also ask Temporal, once they run."""


def test_commands_for_the_hub_do_not_load_the_temporal_client() -> None:
    assert imported_by(*ABOUT_THE_HUB).isdisjoint(TEMPORAL)


def test_commands_for_the_hub_do_not_load_clients_before_they_use_them() -> None:
    assert imported_by(*ABOUT_THE_HUB).isdisjoint({"aiohttp", "kubernetes"})


def test_models_are_built_when_they_are_used() -> None:
    code = "from api.runs import UpdateRun; print(UpdateRun.__pydantic_complete__)"
    assert printed_by(code) == "False\n"


def test_a_hub_is_reached_without_the_kubernetes_client() -> None:
    assert "kubernetes" not in imported_by("hub.transport", "hub.kubeconfig", "hub.discovery")


@pytest.mark.parametrize("module", ["starter.cli", "starter.completion.command"])
def test_help_and_completion_load_neither_models_nor_clients(module: str) -> None:
    heavy = {*TEMPORAL, "aiohttp", "kubernetes", "pydantic", "rich", "yaml"}
    assert imported_by(module).isdisjoint(heavy)

"""Packages import only what they may, and worker.py contains only wiring."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = (
    "activities",
    "agent",
    "api",
    "bridge",
    "deploy",
    "hub",
    "placement",
    "planning",
    "starter",
    "telemetry",
    "wiring",
    "workflows",
)


def imported_by(path: Path) -> set[str]:
    """Return the top-level packages that a module imports anywhere in its code."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_packages_import_only_from_lower_layers() -> None:
    checker = Path(sys.executable).parent / "lint-imports"
    result = subprocess.run([checker], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_the_worker_imports_neither_the_command_line_nor_the_deployment() -> None:
    assert not imported_by(ROOT / "worker.py") & {"starter", "deploy"}


OF_THE_LOCAL_FLEET = {"local", "demo"}
IMPORTING_COMMANDS = """
import sys
import click
from starter.cli import fleetgate

def import_all(group):
    for name in set(group.list_commands(context)) - OF_THE_LOCAL_FLEET:
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            import_all(command)

context = click.Context(fleetgate)
import_all(fleetgate)
print(*(name for name in sys.modules if name.startswith("deploy.local.")))
"""


def test_commands_for_a_real_hub_import_no_more_of_the_local_fleet_than_where_it_would_be() -> None:
    code = IMPORTING_COMMANDS.replace("OF_THE_LOCAL_FLEET", repr(OF_THE_LOCAL_FLEET))
    arguments = [sys.executable, "-c", code]
    result = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["deploy.local.paths"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_package_states_its_responsibility(room: str) -> None:
    docstring = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text()))
    assert docstring, f"{room}/__init__.py has no docstring"


def test_the_contributing_guide_names_every_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert [room for room in ROOMS if f"`{room}/`" not in text] == []

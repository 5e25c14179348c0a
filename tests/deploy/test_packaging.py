"""The generated parts of packages are up to date with the sources."""

import json
import re
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from deploy import packaging
from deploy.errors import DeployError
from deploy.packaging import ROOT, main, texts, version

VERSIONED = [path for path in texts() if path.endswith(("/Chart.yaml", "Dockerfile"))]


def test_the_packages_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_the_version_is_the_same_everywhere() -> None:
    said = {
        path: re.findall(r"^(?:appVersion: |version: |ARG VERSION=)(.+)$", text, re.MULTILINE)
        for path, text in texts().items()
        if path in VERSIONED
    }
    assert said == {
        "deploy/helm/fleetgate/Chart.yaml": [version()] * 2,
        "deploy/helm/fleetgate-agent/Chart.yaml": [version()] * 2,
        "Dockerfile": [version()],
    }
    assert metadata.version("fleetgate") == version(), "make setup"
    assert f'name = "fleetgate"\nversion = "{version()}"' in (ROOT / "uv.lock").read_text()


def test_the_image_is_built_with_the_same_version_of_uv_as_everything_else() -> None:
    (by_make,) = re.findall(r"^UV_VERSION := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert f"\nARG UV_VERSION={by_make}\n" in (ROOT / "Dockerfile").read_text()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the files that packaging reads and writes."""
    sources = ["pyproject.toml", "Dockerfile", "deploy/rbac", "deploy/observability", "deploy/helm"]
    for each in sources:
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / each).is_dir() else shutil.copy
        copy(ROOT / each, tmp_path / each)
    return tmp_path


def test_a_new_version_is_reported_and_then_written(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = clone / "pyproject.toml"
    project.write_text(project.read_text().replace(f'"{version()}"', '"9.9.9"', 1))

    assert main(["--check"], root=clone) == 1
    told = capsys.readouterr().err
    assert "Dockerfile is out of date" in told
    assert "deploy/helm/fleetgate/Chart.yaml is out of date" in told
    assert "to update the files: python -m deploy.packaging" in told

    assert main([], root=clone) == 0
    assert main(["--check"], root=clone) == 0
    assert "ARG VERSION=9.9.9" in (clone / "Dockerfile").read_text()


def test_a_changed_role_and_a_missing_copy_are_written_again(clone: Path) -> None:
    role = clone / "deploy/rbac/hub-side.yaml"
    role.write_text(role.read_text() + "# more\n")
    lost = clone / "deploy/helm/fleetgate-agent/files/member-agent-on-member.yaml"
    lost.unlink()

    assert main(["--check"], root=clone) == 1
    assert main([], root=clone) == 0
    assert (clone / "deploy/helm/fleetgate/files/hub-side.yaml").read_text() == role.read_text()
    assert lost.read_text() == (clone / "deploy/rbac/member-agent-on-member.yaml").read_text()


def test_a_value_is_described_only_in_its_schema(clone: Path) -> None:
    """What users read about it, and its default, are made from there."""
    schema = clone / "deploy/helm/fleetgate/values.schema.json"
    written = json.loads(schema.read_text())
    written["properties"]["settings"]["properties"]["stuckAfter"] |= {
        "description": "What it sets.",
        "default": "7m",
    }
    schema.write_text(json.dumps(written))

    assert main([], root=clone) == 0
    chart = clone / "deploy/helm/fleetgate"
    assert "  # What it sets.\n  stuckAfter: 7m\n" in (chart / "values.yaml").read_text()
    row = "| `settings.stuckAfter` | string | `7m` | What it sets. |"
    assert row in (chart / "README.md").read_text().splitlines()


def test_what_the_charts_have_in_common_is_written_to_both(clone: Path) -> None:
    common = clone / "deploy/helm/definitions.json"
    definitions = json.loads(common.read_text())
    definitions["image"]["properties"]["tag"]["description"] = "Which image."
    common.write_text(json.dumps(definitions))

    assert main([], root=clone) == 0
    for chart in ("fleetgate", "fleetgate-agent"):
        assert "# Which image." in (clone / f"deploy/helm/{chart}/values.yaml").read_text()


def test_a_value_without_a_default_is_refused_by_name(clone: Path) -> None:
    schema = clone / "deploy/helm/fleetgate-agent/values.schema.json"
    written = json.loads(schema.read_text())
    del written["properties"]["metrics"]["properties"]["hub"]["default"]
    schema.write_text(json.dumps(written))
    with pytest.raises(DeployError, match=r"metrics\.hub has no default in Values of the chart"):
        main(["--check"], root=clone)


def test_the_readme_of_a_chart_lists_its_alerts_with_their_thresholds() -> None:
    hub_side = (ROOT / "deploy/helm/fleetgate/README.md").read_text().splitlines()
    assert "| `FleetgateHubSlow` | warning | 2 | 10m |" in hub_side
    assert "| `FleetgateRunStuck` | warning |  | 5m |" in hub_side
    member_side = (ROOT / "deploy/helm/fleetgate-agent/README.md").read_text()
    assert "FleetgateHubSlow" not in member_side
    assert "`FleetgateHeartbeatLate`" in member_side


def test_every_copy_in_a_chart_is_generated() -> None:
    held = {str(path.relative_to(ROOT)) for path in ROOT.glob("deploy/helm/*/files/*")}
    assert held == {path for path in texts() if "/files/" in path}


def test_only_packaged_files_get_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = {line[1:].rstrip("/") for line in ignored if line.startswith("!")}
    packaged = packaging.rooms(ROOT)
    assert let_in == {*packaged, "LICENSE", "README.md", "pyproject.toml", "uv.lock"}

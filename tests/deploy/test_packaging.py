"""The generated parts of packages are up to date with the sources."""

import re
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from deploy import packaging
from deploy.packaging import ROOT, main, texts, version

COPIES = [path for path in texts() if "/files/" in path]


def test_the_packages_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_the_version_is_the_same_everywhere() -> None:
    said = {
        path: re.findall(r"^(?:appVersion: |version: |ARG VERSION=)(.+)$", text, re.MULTILINE)
        for path, text in texts().items()
        if path not in COPIES
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


def test_every_copy_in_a_chart_is_generated() -> None:
    held = {str(path.relative_to(ROOT)) for path in ROOT.glob("deploy/helm/*/files/*")}
    assert held == set(COPIES)


def test_only_packaged_files_get_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = {line[1:].rstrip("/") for line in ignored if line.startswith("!")}
    packaged = packaging.rooms(ROOT)
    assert let_in == {*packaged, "LICENSE", "README.md", "pyproject.toml", "uv.lock"}

"""What publishes a release can run: its commands exist, versions agree, nothing skips a check."""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import pytest
import yaml

from deploy.local.programs import KUBERNETES
from deploy.packaging import ROOT, main, version
from tests.support.programs import HELM

WORKFLOW: Mapping[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
JOBS: Mapping[str, Any] = WORKFLOW["jobs"]
SITE: Mapping[str, Any] = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text())
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
SCRIPTS = {
    f"{job} {number}": step["run"]
    for job, described in JOBS.items()
    for number, step in enumerate(described["steps"])
    if "run" in step
} | {f"site {number}": typed for number, typed in enumerate(SITE["build"]["commands"])}
PUBLISHES = re.compile(r"helm push|--push|pypi-publish")


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_commands_are_valid_and_what_they_run_exists(name: str) -> None:
    script = SCRIPTS[name]
    checked = subprocess.run(
        [shutil.which("bash") or "bash", "-n"], input=script, text=True, capture_output=True
    )
    assert checked.stderr == ""
    made = set(re.findall(r"\bmake ([a-z-]+)", script))
    assert made <= TARGETS
    modules = re.findall(r"python -m ([\w.]+)", script)
    assert [each for each in modules if find_spec(each) is None] == []
    files = re.findall(r"(?:^|\s)(\.ci/\w+|Dockerfile)\b", script)
    assert [each for each in files if not (ROOT / each).exists()] == []


def needed(job: str) -> Iterator[str]:
    """Yield the jobs that end before this one begins."""
    direct = JOBS[job].get("needs", [])
    for each in direct:
        yield each
        yield from needed(each)


def test_nothing_is_published_before_all_checks_and_tests_have_passed() -> None:
    publishing = {job for job, described in JOBS.items() if PUBLISHES.search(str(described))}
    assert publishing == {"image", "charts", "python"}
    assert all("check" in needed(job) for job in publishing)
    assert any(step.get("run") == ".ci/run" for step in JOBS["check"]["steps"])


def test_a_run_by_hand_publishes_nothing() -> None:
    assert set(WORKFLOW[True]) == {"push", "workflow_dispatch"}  # YAML 1.1 reads `on` as true
    assert WORKFLOW[True]["push"] == {"tags": ["v*"]}
    for job in ("charts", "python"):
        assert JOBS[job]["if"] == "github.ref_type == 'tag'"


def test_the_tag_has_to_name_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tag", f"v{version()}"]) == 0
    assert main(["--tag", "v99.0.0"]) == 1
    assert f"tag v{version()}, or change the version first" in capsys.readouterr().err
    typed = [step for step in JOBS["check"]["steps"] if "--tag" in step.get("run", "")]
    assert [step["if"] for step in typed] == ["github.ref_type == 'tag'"]


@pytest.mark.parametrize(("kind", "output"), [("tag", "--push"), ("branch", "type=cacheonly")])
def test_the_image_is_built_from_the_dockerfile_and_pushed_only_for_a_tag(
    kind: str, output: str
) -> None:
    (build,) = [step["run"] for step in JOBS["image"]["steps"] if "--push" in step.get("run", "")]
    printing = 'docker() { [ "$2" = imagetools ] && echo "sha256:1 of $4" || echo "$@"; }'
    done = subprocess.run(
        ["bash", "-euc", f"{printing}\n{build}"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "GITHUB_REF_TYPE": kind, "REGISTRY": "registry.example"},
        text=True,
        capture_output=True,
    )
    assert done.stderr == ""
    assert "BASE=debian:bookworm-slim@sha256:1 of debian:bookworm-slim" in done.stdout
    assert f"--tag registry.example/fleetgate:{version()} " in done.stdout
    assert done.stdout.endswith(f"{output} .\n")


def test_a_release_uses_the_same_python_and_helm_as_the_tests() -> None:
    steps = [step for job in JOBS.values() for step in job["steps"]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=")
    pythons = {s["with"]["python-version"] for s in steps if "setup-python" in s.get("uses", "")}
    assert pythons == {oldest, SITE["build"]["tools"]["python"]} == {oldest}
    assert {s["with"]["version"] for s in steps if "setup-helm" in s.get("uses", "")} == {
        HELM.version
    }


def test_readme_names_the_current_version() -> None:
    named = re.findall(
        r"(?:Version |fleetgate[:-])(\d+\.\d+\.\d+)", (ROOT / "README.md").read_text()
    )
    assert named
    assert set(named) == {version()}


def test_readme_names_the_versions_that_the_tests_use() -> None:
    readme = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", readme, re.MULTILINE)
    said = {what: (tested, required) for what, tested, required in rows}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    chart = yaml.safe_load((ROOT / "deploy/helm/fleetgate/Chart.yaml").read_text())
    oldest = project["requires-python"].removeprefix(">=")
    kubernetes = chart["kubeVersion"].removeprefix(">=").removesuffix(".0-0")

    assert said["Python"] == (oldest, f"{oldest} or newer")
    assert said["hub and members"] == (f"Kubernetes {minor(KUBERNETES)}", f"{kubernetes} or newer")
    assert said["Helm"][0] == minor(HELM.version)


def minor(release: str) -> str:
    return release.removeprefix("v").rpartition(".")[0]

"""The charts, as Helm renders them."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from deploy.packaging import ROOT

Json = dict[str, Any]
HUB_SIDE = ROOT / "deploy" / "helm" / "fleetgate"
MEMBER_SIDE = ROOT / "deploy" / "helm" / "fleetgate-agent"
NAMESPACE = "rollouts"
IMAGE: Json = {"repository": "registry.example.org/fleetgate"}
LEAST: dict[Path, Json] = {
    HUB_SIDE: {"temporal": {"address": "temporal-frontend.temporal:7233"}, "image": IMAGE},
    MEMBER_SIDE: {
        "member": "prod-1",
        "hub": {"kubeconfigSecret": {"name": "hub"}},
        "image": IMAGE,
    },
}
"""The required values."""
KUBERNETES = "1.34.4"


class Refused(Exception):  # noqa: N818 - it is an outcome, not an error
    """Helm failed; the text is its output."""


@dataclass(frozen=True)
class Objects:
    """The objects that a chart renders."""

    all: list[Json]

    def of(self, kind: str) -> dict[str, Json]:
        """The objects of a kind, by name."""
        return {each["metadata"]["name"]: each for each in self.all if each["kind"] == kind}

    def one(self, kind: str, name: str) -> Json:
        """The object of a kind with this name."""
        return self.of(kind)[name]

    def containers(self) -> list[tuple[str, Json, Json]]:
        """All containers (at least one), each with the name of its owner and the pod's spec."""
        found = [
            (each["metadata"]["name"], container, each["spec"]["template"]["spec"])
            for each in self.all
            if each["kind"] in {"Deployment", "Job"}
            for container in each["spec"]["template"]["spec"]["containers"]
        ]
        assert found, "a chart without a container"
        return found

    def deployments(self) -> list[Json]:
        """All Deployments (at least one)."""
        found = [*self.of("Deployment").values()]
        assert found, "a chart without a Deployment"
        return found


class Helm:
    """The helm program."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._rendered: dict[str, str] = {}

    def render(self, chart: Path, values: Json | None = None, *flags: str) -> Objects:
        """Render a chart with these values and the required ones. Raises Refused."""
        return self.render_as_given(chart, merged(LEAST[chart], values or {}), *flags)

    def render_as_given(self, chart: Path, values: Json, *flags: str, release: str = "") -> Objects:
        """Render a chart with only these values; the release has its name by default.

        Raises Refused.
        """
        name = release or chart.name
        command = ["template", name, chart, "--kube-version", KUBERNETES, *flags]
        key = repr((command, values))
        text = self._rendered.get(key) or self.run(*command, values=values)
        self._rendered[key] = text
        return Objects([each for each in yaml.safe_load_all(text) if each])

    def run(self, *command: object, values: Json | None = None) -> str:
        """Return the output of a command in the release's namespace. Raises Refused."""
        given: list[object] = []
        if values is not None:
            file = self._folder / "values.yaml"
            file.write_text(yaml.safe_dump(values))
            given = ["--values", file]
        done = subprocess.run(
            [str(each) for each in (self._program, *command, "--namespace", NAMESPACE, *given)],
            # Nothing from the environment of the user who runs the tests.
            env={"HOME": str(self._folder), "KUBECONFIG": "/nowhere"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Refused(done.stderr + done.stdout)
        return done.stdout


def merged(one: Json, other: Json) -> Json:
    """Merge values as Helm does: the other ones win."""
    both = dict(one)
    for key, value in other.items():
        below = one.get(key)
        is_both = isinstance(value, dict) and isinstance(below, dict)
        both[key] = merged(below, value) if is_both and below is not None else value
    return both


def variables(container: Json) -> dict[str, str]:
    """The variables of a container that have a literal value."""
    return {each["name"]: each["value"] for each in container.get("env", []) if "value" in each}

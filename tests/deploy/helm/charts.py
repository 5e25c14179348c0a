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
LEAST: dict[Path, Json] = {
    HUB_SIDE: {"temporal": {"address": "temporal-frontend.temporal:7233"}},
    MEMBER_SIDE: {"member": "prod-1", "hub": {"kubeconfigSecret": {"name": "hub"}}},
}
"""The values that have to be given."""
KUBERNETES = "1.34.4"


class Refused(Exception):  # noqa: N818 - it is an outcome, not an error
    """Helm said no; the text is what it said."""


@dataclass(frozen=True)
class Objects:
    """What a chart makes."""

    all: list[Json]

    def of(self, kind: str) -> dict[str, Json]:
        """Those of a kind, by their names."""
        return {each["metadata"]["name"]: each for each in self.all if each["kind"] == kind}

    def one(self, kind: str, name: str) -> Json:
        """The one of this name."""
        return self.of(kind)[name]

    def containers(self) -> list[tuple[str, Json, Json]]:
        """All containers, at least one, each with its owner's name and its pod's spec."""
        found = [
            (each["metadata"]["name"], container, each["spec"]["template"]["spec"])
            for each in self.all
            if each["kind"] in {"Deployment", "Job"}
            for container in each["spec"]["template"]["spec"]["containers"]
        ]
        assert found, "a chart without a container"
        return found

    def deployments(self) -> list[Json]:
        """All Deployments, at least one."""
        found = [*self.of("Deployment").values()]
        assert found, "a chart without a Deployment"
        return found


class Helm:
    """The program."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._rendered: dict[str, str] = {}

    def render(self, chart: Path, values: Json | None = None, *flags: str) -> Objects:
        """The objects with these values besides those that have to be given. Raises Refused."""
        return self.render_as_given(chart, merged(LEAST[chart], values or {}), *flags)

    def render_as_given(self, chart: Path, values: Json, *flags: str) -> Objects:
        """The objects with just these values. Raises Refused."""
        command = ["template", "fleetgate", chart, "--kube-version", KUBERNETES, *flags]
        key = repr((command, values))
        text = self._rendered.get(key) or self.run(*command, values=values)
        self._rendered[key] = text
        return Objects([each for each in yaml.safe_load_all(text) if each])

    def run(self, *command: object, values: Json | None = None) -> str:
        """What a command prints, in the release's namespace. Raises Refused."""
        given: list[object] = []
        if values is not None:
            file = self._folder / "values.yaml"
            file.write_text(yaml.safe_dump(values))
            given = ["--values", file]
        done = subprocess.run(
            [str(each) for each in (self._program, *command, "--namespace", NAMESPACE, *given)],
            # Nothing of the person who types the tests.
            env={"HOME": str(self._folder), "KUBECONFIG": "/nowhere"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Refused(done.stderr + done.stdout)
        return done.stdout


def merged(one: Json, other: Json) -> Json:
    """Both, as Helm merges values: the other wins."""
    both = dict(one)
    for key, value in other.items():
        below = one.get(key)
        is_both = isinstance(value, dict) and isinstance(below, dict)
        both[key] = merged(below, value) if is_both and below is not None else value
    return both


def variables(container: Json) -> dict[str, str]:
    """The variables of a container that have a value of their own."""
    return {each["name"]: each["value"] for each in container.get("env", []) if "value" in each}

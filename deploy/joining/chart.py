"""The helm commands for the chart `fleetgate-agent` on a member."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.errors import DeployError
from deploy.joining import AGENT, AGENT_NAMESPACE, HUB_SECRET

_IN_CLONE: Final = Path(__file__).parent.parent / "helm" / AGENT
_SHOWN: Final = 600
"""Maximum characters of helm's message that are shown: its last lines say what is wrong."""


def shipped() -> str | None:
    """Return the path of the chart in this clone; None if fleetgate is installed as a package."""
    if not _IN_CLONE.exists():
        return None
    relative = os.path.relpath(_IN_CLONE)
    return str(_IN_CLONE) if relative.startswith("..") else relative


@dataclass(frozen=True, slots=True)
class HelmRelease:
    """The release of the chart on one member."""

    kubeconfig: Path | None
    """Kubeconfig of the member; None for helm's default."""
    context: str | None
    """Context of the member; None for the current one."""

    def install(
        self, member: str, *, chart: str, settings: Sequence[str], files: Sequence[Path]
    ) -> list[str]:
        """Return the command that installs or upgrades the agent.

        Args:
            member: name of the member.
            chart: folder, archive or address of the chart.
            settings: further values, as in helm's `--set`.
            files: files with further values.
        """
        values = [f"member={member}", f"hub.kubeconfigSecret.name={HUB_SECRET}", *settings]
        return [
            *("helm", "upgrade", "--install", AGENT, chart, *self._where()),
            *(word for file in files for word in ("--values", str(file))),
            *(word for value in values for word in ("--set", value)),
        ]

    def uninstall(self) -> list[str]:
        """Return the command that uninstalls the agent."""
        return ["helm", "uninstall", AGENT, "--ignore-not-found", *self._where()]

    def _where(self) -> list[str]:
        found = ["--namespace", AGENT_NAMESPACE]
        if self.kubeconfig:
            found += ["--kubeconfig", str(self.kubeconfig)]
        if self.context:
            found += ["--kube-context", self.context]
        return found


def text(command: Sequence[str]) -> str:
    """Return a command as it is pasted into a shell, with each option on a line of its own."""
    lines = [""]
    for word in command:
        quoted = shlex.quote(word)
        if word.startswith("--") and lines[-1].count(" ") >= 2:
            lines.append(f"    {quoted}")
        else:
            lines[-1] = f"{lines[-1]} {quoted}" if lines[-1] else quoted
    return " \\\n".join(lines)


def run(command: Sequence[str]) -> None:
    """Run helm. Raises DeployError if it is missing or fails."""
    program = shutil.which(command[0])
    if program is None:
        raise DeployError(
            "helm is not on the PATH: install it, or run this where it is:\n" + text(command)
        )
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-_SHOWN:]
        raise DeployError(f"helm failed: {said}")

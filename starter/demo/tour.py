"""Telling the demo: type a command, show its output, check what it did."""

import asyncio
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from starter.demo.checking import FleetChecks
from starter.demo.manifests import CONFIG_MAP, NAMESPACE
from starter.demo.typed_commands import TutorialCommand, program
from starter.failures import CommandFailure


class Narrator:
    """Prints the tutorial on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._steps = 0

    def step(self, title: str, *why: str) -> None:
        """Print the number and title of the next step, and its explanation."""
        self._steps += 1
        self._console.print(Text(f"\n{self._steps}. {title}", style="bold cyan"))
        for line in why:
            self.say(line)

    def say(self, text: str) -> None:
        """Print a sentence."""
        self._console.print(Text(f"   {text}"), soft_wrap=True)

    def typed(self, argv: tuple[str, ...], stdin: str) -> None:
        """Print a command as a person would type it."""
        command = shlex.join(argv)
        self._console.print(
            Text(f"   $ {command}{' <<EOF' * bool(stdin)}", style="bold"), soft_wrap=True
        )
        if stdin:
            self.printed(f"{stdin}EOF")

    def printed(self, text: str) -> None:
        """Print the output of a command."""
        for line in text.rstrip().splitlines():
            self._console.print(Text(f"   {line}", style="dim"), soft_wrap=True)

    def saw(self, text: str) -> None:
        """Print what was checked and found true."""
        self._console.print(Text(f"   ✓ {text}", style="green"), soft_wrap=True)


# -- running it ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tour:
    """Output, checks and kubeconfig of a demo."""

    narrator: Narrator
    checks: FleetChecks
    kubeconfig: Path
    kubectl: bool
    """Whether kubectl is installed; without it the API is used."""

    async def do(self, command: TutorialCommand, *, code: int = 0) -> None:
        """Run a command, which must exit with the code. Raises CommandFailure otherwise."""
        self.narrator.typed(command.argv, command.stdin)
        if command.argv[0] == "kubectl" and not self.kubectl:
            self.narrator.printed(await command.instead(self.checks.hub))
            return
        ended, text = await self._run(command)
        self.narrator.printed(text)
        if ended != code:
            raise CommandFailure(
                f"`{' '.join(command.argv[:3])} …` exited with {ended}, expected {code}"
            )

    async def members_have(self, expected: Mapping[str, str]) -> None:
        """Check the value of the ConfigMap on each member; `-` means that it must be missing.

        Raises CommandFailure if a value differs.
        """
        found = await self.checks.values(CONFIG_MAP, NAMESPACE)
        if found != dict(expected):
            raise CommandFailure(
                f"expected on the members: {_listed(expected)}; found {_listed(found)}"
            )
        self.narrator.saw(f"read on the members: {_listed(found)}")

    async def _run(self, command: TutorialCommand) -> tuple[int, str]:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *program(command.argv[0]),
            *command.argv[1:],
            env=self._environment(),
            stdin=pipe,
            stdout=None if command.live else pipe,
            stderr=None if command.live else asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate(command.stdin.encode())
        return await process.wait(), (out or b"").decode(errors="replace")

    def _environment(self) -> dict[str, str]:
        # The user's own Temporal settings are not those of this fleet.
        own = {name: text for name, text in os.environ.items() if not name.startswith("TEMPORAL_")}
        return own | {"KUBECONFIG": str(self.kubeconfig)}


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{member} {value}" for member, value in sorted(values.items()))

"""Telling one thing after the other: type a command, show what it prints, check what it did."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starter.demo.deeds import Deed, program
from starter.demo.looking import Eyes
from starter.demo.manifests import CONFIG_MAP, NAMESPACE
from starter.demo.telling import Teller
from starter.failures import Failure


@dataclass(frozen=True, slots=True)
class Tale:
    """Who tells, who looks, and where commands go."""

    teller: Teller
    eyes: Eyes
    kubeconfig: Path
    kubectl: bool
    """Whether there is a kubectl to type; without it the API is used."""

    async def do(self, deed: Deed, *, code: int = 0) -> None:
        """Do what a person would type; it must end with the exit code."""
        self.teller.typed(deed.argv, deed.stdin)
        if deed.argv[0] == "kubectl" and not self.kubectl:
            self.teller.printed(await deed.instead(self.eyes.hub))
            return
        ended, text = await self._run(deed)
        self.teller.printed(text)
        if ended != code:
            raise Failure(f"`{' '.join(deed.argv[:3])} …` ended with {ended}, expected {code}")

    async def members_have(self, expected: Mapping[str, str]) -> None:
        """Read the ConfigMap on each member; it must be there with this value, `-` for none."""
        found = await self.eyes.values(CONFIG_MAP, NAMESPACE)
        if found != dict(expected):
            raise Failure(f"expected on the members: {_listed(expected)}; found {_listed(found)}")
        self.teller.saw(f"read on the members: {_listed(found)}")

    async def _run(self, deed: Deed) -> tuple[int, str]:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *program(deed.argv[0]),
            *deed.argv[1:],
            env=self._environment(),
            stdin=pipe,
            stdout=None if deed.live else pipe,
            stderr=None if deed.live else asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate(deed.stdin.encode())
        return await process.wait(), (out or b"").decode(errors="replace")

    def _environment(self) -> dict[str, str]:
        # A Temporal of the person at the terminal is not this fleet's.
        own = {name: text for name, text in os.environ.items() if not name.startswith("TEMPORAL_")}
        return own | {"KUBECONFIG": str(self.kubeconfig)}


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{member} {value}" for member, value in sorted(values.items()))

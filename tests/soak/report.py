"""The results of a campaign, as a table."""

import os
from collections import Counter
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from tests.soak.judging import RULES, Violation


@dataclass
class Outcome:
    """The figures of one campaign."""

    seed: int
    runs: Counter[str] = field(default_factory=Counter)
    """Number of runs by how they ended."""
    faults: Counter[str] = field(default_factory=Counter)
    """Number of faults of processes and of the network, by kind."""
    requests: Counter[str] = field(default_factory=Counter)
    """Number of requests and watches that were hit by network faults, by kind."""
    violations: list[Violation] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    """Unexpected behaviour of processes."""
    endings: dict[str, float] = field(default_factory=dict)
    """The longest time in seconds that each process of fleetgate took to exit on SIGTERM."""
    slowest: float = 0
    """Duration of the slowest run, in seconds."""
    repeated: int = 0
    """Number of writes that were repeated and changed nothing."""
    minutes: float = 0
    load: float = field(default_factory=lambda: os.getloadavg()[0])
    """Load of the machine at the start, averaged over a minute."""

    @property
    def passed(self) -> bool:
        """Whether there were no violations and no unexpected behaviour."""
        return not (self.violations or self.troubles)


def show(outcome: Outcome) -> None:
    """Print the results."""
    console = Console(width=110)
    table = Table(box=None, show_header=False)
    table.add_row("seed", str(outcome.seed))
    for name, counted in (
        ("runs", outcome.runs),
        ("faults", outcome.faults),
        ("requests that failed", outcome.requests),
    ):
        table.add_row(name, str(counted.total()))
        for kind, count in sorted(counted.items()):
            table.add_row(f"  {kind}", str(count))
    table.add_row("slowest run", f"{outcome.slowest:.0f} s")
    slowest = max(outcome.endings.items(), key=lambda each: each[1], default=("none", 0.0))
    table.add_row("slowest exit of fleetgate on SIGTERM", f"{slowest[0]}, {slowest[1]:.1f} s")
    table.add_row("repeated writes without effect", str(outcome.repeated))
    table.add_row("wall time", f"{outcome.minutes:.1f} min")
    table.add_row("load", f"{outcome.load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end")
    table.add_row("rules", str(len(RULES)))
    table.add_row("violations", str(len(outcome.violations) + len(outcome.troubles)))
    console.print(table)
    for each in outcome.violations:
        console.print(f"  {each.run}: {each.rule}: {each.text}", markup=False)
    for trouble in outcome.troubles:
        console.print(f"  {trouble}", markup=False)

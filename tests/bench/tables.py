"""Figures as a table for people and as JSON for comparisons."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench.agents import Served
from tests.bench.measuring import Measured
from tests.bench.placing import Placed
from tests.bench.typing_commands import Typed
from tests.bench.whole import Asked

FORMS = {
    "clusters": "{:.0f}",
    "bindings": "{:.0f}",
    "works": "{:.0f}",
    "wall": "{:.2f} s",
    "least": "{:.2f} s",
    "slowest_run": "{:.2f} s",
    "slowest_change": "{:.2f} s",
    "engine_writes_per_cluster": "{:.2f}",
    "engine_requests_per_cluster": "{:.2f}",
    "fleetgate_requests_per_cluster": "{:.2f}",
    "agent_requests_per_cluster": "{:.2f}",
    "all_requests_per_cluster": "{:.2f}",
    "writes_per_binding": "{:.2f}",
    "history_events": "{:.0f}",
    "history_events_per_cluster": "{:.2f}",
    "largest_status_write": "{:.0f} B",
    "cpu": "{:.2f} s",
    "least_cpu": "{:.2f} s",
    "engine_cpu": "{:.2f} s",
    "placement_cpu": "{:.2f} s",
    "agent_cpu": "{:.2f} s",
    "hub_cpu": "{:.2f} s",
    "temporal_cpu": "{:.2f} s",
    "engine_memory": "{:.0f} MiB",
    "placement_memory": "{:.0f} MiB",
    "agent_memory": "{:.0f} MiB",
    "load": "{:.1f}",
}
"""Format of each figure, in the order of the rows."""

Result = Measured | Placed | Asked | Served | Typed


def show(results: Sequence[Result], extra: Mapping[str, float]) -> None:
    """Print a table with a column for each result, then the extra figures."""
    table = Table(box=None)
    table.add_column("")
    for result in results:
        table.add_column(result.name, justify="right")
    shown = [vars(result) for result in results]
    for name, form in FORMS.items():
        if any(name in figures for figures in shown):
            row = (form.format(each[name]) if name in each else "" for each in shown)
            table.add_row(name.replace("_", " "), *row)
    Console().print(table)
    for name, value in extra.items():
        print(f"{name.replace('_', ' ')}: {value:.2f}")  # noqa: T201


def keep(path: Path, results: Sequence[Result], extra: Mapping[str, float]) -> None:
    """Write the figures as JSON, to compare them with later ones."""
    body: dict[str, Any] = {"benchmarks": [asdict(each) for each in results], **extra}
    path.write_text(json.dumps(body, indent=2) + "\n")

"""Printing objects and tables: 100 columns wide, with colour only on a terminal."""

import json
import sys
from collections.abc import Sequence
from typing import TextIO

import click
import yaml
from rich.console import Console
from rich.text import Text

from api.kinds import Kind
from hub import Json
from starter.targets import Output

WIDTH = 100
"""Maximum width of a table in columns, so that it can be pasted anywhere."""
WIDE = 240
"""Width of `-o wide` in columns: practically no limit."""

STYLES = {
    "succeeded": "green",
    "done": "green",
    "running": "cyan",
    "updating": "cyan",
    "waiting": "yellow",
    "queued": "yellow",
    "stuck": "bold red",
    "failed": "bold red",
    "stopping": "yellow",
    "stopped": "yellow",
    "paused": "bold red",
    "pending": "dim",
    "ahead": "dim",
    "skipped": "dim",
    "left": "dim",
}
"""Style of each word for a phase or progress; others are plain."""


def console(*, wide: bool = False, file: TextIO | None = None) -> Console:
    """Return the console for tables; if it is not a terminal, it prints plain text."""
    found = Console(file=file or sys.stdout, highlight=False, soft_wrap=False)
    if wide:
        found.width = max(WIDE, found.width)
    else:
        found.width = min(found.width, WIDTH) if found.is_terminal else WIDTH
    return found


def word(text: str) -> Text:
    """Return a word for a phase or progress in its style."""
    return Text(str(text), style=STYLES.get(str(text), ""))


def print_objects(kind: Kind, objects: Sequence[Json], output: Output, *, single: bool) -> None:
    """Print objects in the format of `-o json|yaml|name`."""
    if output is Output.NAME:
        for each in objects:
            click.echo(resource_name(kind, each["metadata"]["name"]))
        return
    body: Json = dict(objects[0]) if single else {"apiVersion": "v1", "kind": "List"}
    if not single:
        body["items"] = list(objects)
    print_document(body, output)


def print_document(body: Json, output: Output) -> None:
    """Print data as JSON or, for any other output, as YAML."""
    if output is Output.JSON:
        click.echo(json.dumps(body, indent=2))
    else:
        click.echo(yaml.safe_dump(body, sort_keys=True), nl=False)


def resource_name(kind: Kind, name: str) -> str:
    """Return kubectl's name for an object: `clusterstagedupdaterun.<group>/<name>`."""
    return f"{kind.kind.lower()}.{kind.group}/{name}"

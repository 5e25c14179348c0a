"""Printing objects and tables, with colour and truncation only on a terminal."""

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
from starter import columns
from starter.columns import Room
from starter.targets import Output, Target

WIDTH = 100
"""Maximum width of a table on a terminal in columns, so that it can be pasted anywhere; text is
wrapped to it elsewhere too."""
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


def room(console: Console) -> Room:
    """Return the space for a table: what is not for a terminal is never truncated."""
    return Room(console.width, cut=console.is_terminal)


def print_table(console: Console, table: Text) -> None:
    """Print a table that was laid out for this console, without folding its lines."""
    console.print(table, soft_wrap=True)


def word(text: str) -> Text:
    """Return a word for a phase or progress in its style."""
    return Text(str(text), style=STYLES.get(str(text), ""))


def print_objects(
    objects: Sequence[Json], target: Target, *, single: bool, headed: bool = True
) -> None:
    """Print objects in any format of `-o` that is not a table of its own."""
    if target.output is Output.NAME:
        for each in objects:
            click.echo(name_of(each))
        return
    body: Json = dict(objects[0]) if single else {"apiVersion": "v1", "kind": "List"}
    if not single:
        body["items"] = list(objects)
    print_document(body, target, rows=objects, headed=headed)


def print_document(
    body: Json, target: Target, *, rows: Sequence[Json], headed: bool = True
) -> None:
    """Print data in the format of `-o`; each of the `rows` is a line of custom columns."""
    from starter import jsonpaths  # here, because few commands are typed with a template

    match target.output:
        case Output.JSON:
            click.echo(json.dumps(body, indent=2))
        case Output.JSONPATH:
            click.echo(jsonpaths.template(target.template)(body), nl=False)
        case Output.CUSTOM_COLUMNS:
            wanted = jsonpaths.custom_columns(target.template)
            headings = [each.heading for each in wanted]
            cells = [[each.cell(row) for each in wanted] for row in rows]
            screen = console()
            print_table(screen, columns.table(headings, cells, room=room(screen), headed=headed))
        case _:
            click.echo(yaml.safe_dump(body, sort_keys=True), nl=False)


def name_of(body: Json) -> str:
    """Return kubectl's name for an object: `deployment.apps/web`."""
    group = body["apiVersion"].rpartition("/")[0]
    kind = body["kind"].lower()
    return f"{f'{kind}.{group}' if group else kind}/{body['metadata']['name']}"


def resource_name(kind: Kind, name: str) -> str:
    """Return kubectl's name for an object: `clusterstagedupdaterun.<group>/<name>`."""
    return f"{kind.kind.lower()}.{kind.group}/{name}"

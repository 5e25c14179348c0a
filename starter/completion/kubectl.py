"""`kubectl_complete-fleetgate`: the program that kubectl runs to complete `kubectl fleetgate …`.

kubectl 1.26 or newer runs it with the words typed so far, the unfinished one last. It reads one
completion per line, then a directive that says whether the shell may add file names.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click
from click.shell_completion import CompletionItem, ShellComplete

from starter.cli import fleetgate
from starter.completion.command import VARIABLE

FILES: Final = 0
NOTHING_ELSE: Final = 4
"""Directives of kubectl's completion (cobra): the shell completes file names, or does not."""


def main() -> None:
    """Print the completions of the last word on the command line."""
    for line in lines(sys.argv[1:]):
        click.echo(line)


def lines(words: Sequence[str]) -> Iterator[str]:
    """Yield what kubectl reads: completions with their descriptions, then a directive."""
    *before, incomplete = words or [""]
    shell = ShellComplete(fleetgate, {}, "fleetgate", VARIABLE)
    found = shell.get_completions(before, incomplete)
    yield from (_line(each) for each in found if each.type == "plain")
    files = any(each.type in {"file", "dir"} for each in found)
    yield f":{FILES if files else NOTHING_ELSE}"


def _line(item: CompletionItem[str]) -> str:
    return f"{item.value}\t{item.help}" if item.help else item.value

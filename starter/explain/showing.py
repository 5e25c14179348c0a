"""An explanation as text for a terminal: a paragraph, and a few lines for each problem."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from starter import output, words
from starter.explain.explanations import ClusterReport, Explanation
from starter.explain.looks import Attention
from starter.explain.troubles import Trouble

_ACTOR: Final = {Attention.PERSON: "bold yellow", Attention.WORKER: "bold yellow"}


def show(console: Console, found: Explanation) -> None:
    """Print the explanation of a run."""
    page = _Page(console.width)
    console.print(_head(found))
    for line in _lines(page, found):
        console.print(line)
    if found.commands:
        console.print("Next:")
        for each in found.commands:
            # Not wrapped, so that commands can be copied whole.
            console.print(Text(f"  {each}"), soft_wrap=True)


class _Page:
    """Wraps paragraphs at a width."""

    def __init__(self, width: int) -> None:
        self._width = width

    def line(self, text: str, *, indent: int = 0, label: str = "", style: str = "") -> Text:
        """Wrap a paragraph with an indent, with a bold label in front if there is one."""
        whole = f"{label}: {text}" if label else text
        gap = " " * indent
        wrapped = textwrap.wrap(
            whole,
            self._width,
            initial_indent=gap,
            subsequent_indent=gap,
            break_long_words=False,
            break_on_hyphens=False,
        )
        found = Text("\n".join(wrapped), style=style)
        found.stylize("bold", indent, indent + len(label))
        return found


def _head(found: Explanation) -> Text:
    view = found.view
    name = f"{view.namespace}/{view.name}" if view.namespace else view.name
    version = f", snapshot {view.snapshot}" if view.snapshot else ""
    about = f"  placement {view.placement}{version}, strategy {view.strategy}"
    return Text.assemble((name, "bold"), about)


def _lines(page: _Page, found: Explanation) -> Iterator[Text]:
    situation = found.situation
    yield page.line(" ".join(situation.says), style=output.STYLES.get(found.view.phase, ""))
    yield page.line(situation.acts, style=_ACTOR.get(situation.attention, ""))
    yield from _why(page, situation.cause, situation.cure, indent=2)
    if situation.message:
        yield page.line(situation.message, label="Message", indent=2)
    for report in found.clusters:
        yield from _cluster(page, report)
    if found.others:
        yield page.line(_others(found.others))
    if found.unread:
        unread = ", ".join(found.unread)
        yield page.line(f"You may not read {unread}; details from them are missing here.")
    if found.then:
        yield page.line(f"{words.upper('; '.join(found.then))}.")


def _others(steps: Sequence[str]) -> str:
    """Return how many more clusters are in flight, counted by their steps."""
    where = [f"{count} where {step}" for step, count in Counter(steps).most_common() if step]
    total = f"and {words.count(len(steps), 'more cluster')} in flight"
    return f"{total}: {', '.join(where)}" if where else total


def _cluster(page: _Page, report: ClusterReport) -> Iterator[Text]:
    step = f", {report.step}" if report.step else ""
    yield Text.assemble((report.row.name, "bold"), "  ", output.word(report.state), step)
    for each in report.troubles:
        yield from _trouble(page, each)


def _trouble(page: _Page, found: Trouble) -> Iterator[Text]:
    yield page.line(f"{found.subject}: {found.message}", indent=2)
    for each in found.details:
        yield page.line(each, indent=4)
    yield from _why(page, found.cause, found.cure, indent=4)


def _why(page: _Page, cause: str, cure: str, *, indent: int) -> Iterator[Text]:
    if cause:
        yield page.line(cause, label="Why", indent=indent)
    if cure:
        yield page.line(cure, label="Fix", indent=indent)

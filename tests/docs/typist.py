"""Types a whole page from top to bottom, as its reader would."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from starter.failures import ExitCode
from tests.docs.likeness import alike
from tests.docs.pages import File, Step, parts
from tests.docs.shell import Printed, Shell


def type_page(text: str, shell: Shell, *, folder: Path) -> Iterator[tuple[Step, Printed]]:
    """Save the files and type the commands in order; yield each command when it has ended."""
    for part in parts(text):
        if isinstance(part, File):
            (folder / part.name).write_text(part.text)
        elif isinstance(part, Step):
            yield part, shell.type(part.command)


def complaints(typed: list[tuple[Step, Printed]]) -> Iterator[str]:
    """Yield what would surprise a reader: unexpected output, and failures that the page hides."""
    for (step, printed), following in zip(typed, _followers(typed), strict=True):
        failed = printed.code not in _good_codes(step) and "$?" not in following
        # The output of hidden commands does not matter.
        differs = step.shown and not alike(step.output, printed.lines)
        if failed or differs:
            yield "\n".join(
                [
                    f"line {step.line}: $ {step.command}",
                    *([f"exit code {printed.code}"] if failed else []),
                    *(f"  shown    {line}" for line in step.output if differs),
                    *(f"  printed  {line}" for line in printed.lines),
                ]
            )


def _good_codes(step: Step) -> set[int]:
    # GATE means that the run is waiting for an approval.
    return {ExitCode.DONE, ExitCode.GATE} if "--until gate" in step.command else {ExitCode.DONE}


def _followers(typed: list[tuple[Step, Printed]]) -> list[str]:
    """Return the command after each one, which may show its exit code."""
    return [*(after.command for (_, _), (after, _) in pairwise(typed)), ""][: len(typed)]

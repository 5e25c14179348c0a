"""Types pages and updates their outputs: `python -m tests.docs FOLDER PAGE…`.

Use it after changing a command: review the result with `git diff`, and put `...` where the output
differs each time. The folder keeps a fleet, so that the next run is fast.
"""

import sys
from pathlib import Path

from tests.docs.desk import Desk
from tests.docs.likeness import alike
from tests.docs.pages import FOLDER, Step
from tests.docs.shell import Printed
from tests.docs.typist import type_page


def main(folder: Path, names: list[str]) -> None:
    """Type each page and write it back with its current outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    desk = Desk(folder.resolve())
    for name in names:
        page = FOLDER / name
        shell = desk.sit_down()
        try:
            typed = list(type_page(page.read_text(), shell, folder=desk.folder))
        finally:
            shell.close()
            desk.clean_up()
        page.write_text(rewritten(page.read_text(), typed))


def rewritten(text: str, typed: list[tuple[Step, Printed]]) -> str:
    """Return the page with the current outputs of its commands; equivalent outputs stay."""
    lines = text.splitlines()
    for step, printed in reversed(typed):
        if step.shown and not alike(step.output, printed.lines):
            begin = step.line - 1 + len(step.command.splitlines())
            lines[begin : begin + len(step.output)] = _shown(printed)
    return "\n".join(lines) + "\n"


def _shown(printed: Printed) -> list[str]:
    return "\n".join(line.rstrip() for line in printed.lines).strip("\n").splitlines()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

"""Writes the generated reference: `python -m docs.generator docs/reference`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.generator.site import outdated, write


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or with `--check` only compare them; return 1 if one is out of date."""
    parser = argparse.ArgumentParser(prog="python -m docs.generator", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the pages, such as docs/reference")
    parser.add_argument("--check", action="store_true", help="compare the pages, and write nothing")
    chosen = parser.parse_args(arguments)
    if not chosen.check:
        write(chosen.folder)
        return 0
    wrong = outdated(chosen.folder)
    for path, what in wrong.items():
        sys.stderr.write(f"{path} {what}\n")
    if wrong:
        sys.stderr.write(f"to update the pages: python -m docs.generator {chosen.folder}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

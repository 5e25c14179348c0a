"""Writes the definition of each kind to a folder: `python -m api.crds deploy/crds`."""

import sys
from pathlib import Path

from api.crds import MODELS, file_name, render


def main() -> int:
    """Write the files; 2 for wrong usage."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m api.crds FOLDER\n")
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for model in MODELS:
        (folder / file_name(model)).write_text(render(model), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

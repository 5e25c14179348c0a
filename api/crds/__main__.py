"""Write the CRD of each kind to a folder: `python -m api.crds deploy/crds`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from api.crds import MODELS, file_name, render


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or with `--check` only compare them; return 1 when one is out of date."""
    parser = argparse.ArgumentParser(prog="python -m api.crds", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the CRD files, such as deploy/crds")
    parser.add_argument("--check", action="store_true", help="compare the files, and write nothing")
    chosen = parser.parse_args(arguments)
    texts = {file_name(model): render(model) for model in MODELS}
    return check(chosen.folder, texts) if chosen.check else write(chosen.folder, texts)


def write(folder: Path, texts: dict[str, str]) -> int:
    """Write each text to its file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


def check(folder: Path, texts: dict[str, str]) -> int:
    """Report files that are missing, out of date, or without a model."""
    found = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.yaml")}
    wrong = [name for name in sorted(found | texts) if found.get(name) != texts.get(name)]
    for name in wrong:
        what = "has no model: delete it" if name not in texts else "is missing or out of date"
        sys.stderr.write(f"{folder / name} {what}\n")
    if wrong:
        sys.stderr.write(f"to regenerate the files: python -m api.crds {folder}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Collects all generated pages, and compares them with those in the repository."""

from functools import cache
from pathlib import Path
from typing import Final

from docs.generator import commands, messages, metrics, objects, reasons, settings
from docs.generator.markdown import Pages

__all__ = ["Pages", "all_pages", "outdated", "write"]

_WRITTEN: Final = ("index.md", "limits.md", "policies.md")
"""Pages that are written by hand."""


@cache
def all_pages() -> Pages:
    """Return all generated pages, by path below `docs/reference/`."""
    subjects = (objects, commands, settings, metrics, reasons, messages)
    return {path: text for subject in subjects for path, text in subject.pages().items()}


def write(folder: Path) -> None:
    """Update the generated pages in `folder`; leave unchanged pages untouched."""
    pages = _by_file(folder)
    for path in outdated(folder):
        if path in pages:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path], encoding="utf-8")
        else:
            path.unlink()


def outdated(folder: Path) -> dict[Path, str]:
    """Return the files in `folder` that differ from the generated pages, with how they differ."""
    pages = _by_file(folder)
    found = {path: path.read_text(encoding="utf-8") for path in _generated(folder)}
    return {
        path: "is missing or out of date" if path in pages else "describes what no longer exists"
        for path in sorted(pages.keys() | found.keys())
        if found.get(path) != pages.get(path)
    }


def _by_file(folder: Path) -> dict[Path, str]:
    return {folder / path: text for path, text in all_pages().items()}


def _generated(folder: Path) -> set[Path]:
    return set(folder.rglob("*.md")) - {folder / page for page in _WRITTEN}

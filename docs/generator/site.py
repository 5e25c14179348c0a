"""Collects all generated pages and writes them where Sphinx reads them."""

from pathlib import Path
from typing import Final

from docs.generator import commands, metrics, objects, reasons, settings
from docs.generator.markdown import Pages

__all__ = ["Pages", "all_pages", "write"]

_WRITTEN: Final = ("index.md", "limits.md", "policies.md")
"""Pages that are written by hand."""


def all_pages() -> Pages:
    """Return all generated pages, by path below `docs/reference/`."""
    subjects = (objects, commands, settings, metrics, reasons)
    return {path: text for subject in subjects for path, text in subject.pages().items()}


def write(folder: Path) -> None:
    """Update the generated pages in `folder`; leave unchanged pages untouched."""
    pages = {folder / path: text for path, text in all_pages().items()}
    for path in _generated(folder) - set(pages):
        path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Sphinx reads a page again if its modification time is new.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _generated(folder: Path) -> set[Path]:
    return set(folder.rglob("*.md")) - {folder / page for page in _WRITTEN}

"""All generated pages, and writing them where Sphinx reads them."""

from pathlib import Path
from typing import Final

from docs.generator import commands, metrics, objects, reasons, settings
from docs.generator.markdown import Pages

__all__ = ["Pages", "all_pages", "write"]

_WRITTEN: Final = ("index.md", "limits.md")
"""Pages that people write."""


def all_pages() -> Pages:
    """Every generated page, by its path below `docs/reference/`."""
    subjects = (objects, commands, settings, metrics, reasons)
    return {path: text for subject in subjects for path, text in subject.pages().items()}


def write(folder: Path) -> None:
    """Make the generated pages in `folder` what they should be; what is so is not touched."""
    pages = {folder / path: text for path, text in all_pages().items()}
    for path in _generated(folder) - set(pages):
        path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Sphinx reads what has a new date again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _generated(folder: Path) -> set[Path]:
    return set(folder.rglob("*.md")) - {folder / page for page in _WRITTEN}

"""Building only what changed of the documentation finds what building all of it would find."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

# myst-parser works with what Sphinx is going to remove.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sphinx.deprecation.RemovedInSphinx11Warning"),
    pytest.mark.long("a dozen builds; `make check` in CI builds all of the documentation"),
]

INDEX = "# Index\n\n```{toctree}\nabout\nother\n```\n"

Build = Callable[[], tuple[str, set[str]]]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A site of three pages, one of which links to another."""
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "index.md").write_text(INDEX)
    (folder / "about.md").write_text("# About\n\nSee [further down](other.md#details).\n")
    (folder / "other.md").write_text("# Other\n\n## Details\n\nNone.\n")
    return folder


@pytest.fixture
def build(pages: Path, tmp_path: Path) -> Build:
    """Build the site; returns what was warned of, and the pages that were written."""
    settings = {
        "extensions": ["myst_parser", "docs.generator.incremental"],
        "myst_heading_anchors": 2,
        "html_theme": "basic",
    }

    def built() -> tuple[str, set[str]]:
        warnings = StringIO()
        html, doctrees = tmp_path / "html", tmp_path / "doctrees"
        with docutils_namespace():
            app = Sphinx(
                pages, None, html, doctrees, "html", settings, status=None, warning=warnings
            )
            written: set[str] = set()
            app.connect("doctree-resolved", lambda _, __, page: written.add(page))
            app.build()
        return warnings.getvalue(), written

    return built


def test_a_page_that_did_not_change_is_not_built_again(pages: Path, build: Build) -> None:
    assert build() == ("", {"index", "about", "other"})
    (pages / "other.md").write_text("# Other\n\n## Details\n\nThese: none.\n")

    assert build() == ("", {"index", "other"})
    assert build() == ("", set())


def test_what_was_warned_of_is_warned_of_until_it_is_mended(pages: Path, build: Build) -> None:
    build()
    (pages / "about.md").write_text("# About\n\n### Too deep\n")

    first, _ = build()
    again, _ = build()

    assert "Non-consecutive header level increase" in first
    assert again == first
    (pages / "about.md").write_text("# About\n")
    assert build() == ("", {"index", "about", "other"})
    assert build() == ("", set())


def test_a_heading_that_goes_is_missed_by_pages_that_did_not_change(
    pages: Path, build: Build
) -> None:
    build()
    (pages / "other.md").write_text("# Other\n\n## Particulars\n")

    warned, _ = build()

    assert "about.md" in warned
    assert "local id not found" in warned

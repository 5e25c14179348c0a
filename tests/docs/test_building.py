"""An incremental build of the documentation finds every problem that a full build would find."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

# myst-parser uses a feature that Sphinx is going to remove.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sphinx.deprecation.RemovedInSphinx11Warning"),
    pytest.mark.long("a dozen builds; `make check` in CI builds all of the documentation"),
]

INDEX = "# Index\n\n```{toctree}\nabout\nother\n```\n"

Build = Callable[[], tuple[str, set[str]]]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Return the folder of a site with three pages, one of which links to another."""
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "index.md").write_text(INDEX)
    (folder / "about.md").write_text("# About\n\nSee [further down](other.md#details).\n")
    (folder / "other.md").write_text("# Other\n\n## Details\n\nNone.\n")
    return folder


@pytest.fixture
def build(pages: Path, tmp_path: Path) -> Build:
    """Return a function that builds the site and returns the warnings and the written pages."""
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


def test_an_unchanged_page_is_not_built_again(pages: Path, build: Build) -> None:
    assert build() == ("", {"index", "about", "other"})
    (pages / "other.md").write_text("# Other\n\n## Details\n\nThese: none.\n")

    assert build() == ("", {"index", "other"})
    assert build() == ("", set())


def test_a_warning_is_repeated_until_its_cause_is_fixed(pages: Path, build: Build) -> None:
    build()
    (pages / "about.md").write_text("# About\n\n### Too deep\n")

    first, _ = build()
    again, _ = build()

    assert "Non-consecutive header level increase" in first
    assert again == first
    (pages / "about.md").write_text("# About\n")
    assert build() == ("", {"index", "about", "other"})
    assert build() == ("", set())


def test_a_link_to_a_removed_heading_is_reported_for_an_unchanged_page(
    pages: Path, build: Build
) -> None:
    build()
    (pages / "other.md").write_text("# Other\n\n## Particulars\n")

    warned, _ = build()

    assert "about.md" in warned
    assert "local id not found" in warned

"""Sphinx configuration for the documentation: `make docs`."""

from importlib.metadata import version as version_of

project = "fleetgate"
version = release = version_of("fleetgate")
copyright = "the fleetgate authors, Apache-2.0"  # noqa: A001 - Sphinx's name for it

extensions = [
    "docs.generator.incremental",
    "myst_parser",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "decisions/README.md", "generator"]
# GitHub's anchors, so that the pages also work in the repository.
myst_heading_anchors = 4
# Copies only commands: no prompt, no output.
copybutton_prompt_text = "$ "
copybutton_here_doc_delimiter = "EOF"
copybutton_line_continuation_character = "\\"

html_theme = "furo"
# Tells a reader which version a page describes.
html_title = f"fleetgate {version}"
html_show_sphinx = False

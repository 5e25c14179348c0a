"""Sphinx extension: a build of only what changed fails wherever a build of everything would.

Sphinx warns of a page when it reads or writes it, and looks no further. So a build that did not end
without a warning is followed by one of everything, and pages are written anew, with which their
links are looked at, as soon as any heading is another one.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sphinx.application import ENV_PICKLE_FILENAME, Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.typing import ExtensionMetadata

_HELD_BACK: Final = f"{ENV_PICKLE_FILENAME}.unfinished"
_KNOWN: Final = "fleetgate_headings"
"""Attribute of the environment, which Sphinx keeps from one build to the next."""


def setup(app: Sphinx) -> ExtensionMetadata:
    """Called by Sphinx."""
    app.connect("env-updated", _linking)
    app.connect("env-check-consistency", _hold_back)
    app.connect("build-finished", _let_go)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _linking(_: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Return the pages to write because of what others changed: all where a heading did."""
    headings = {
        page: {anchor: title for anchor, (_, _, title) in known.get("myst_slugs", {}).items()}
        for page, known in env.metadata.items()
    }
    if headings == getattr(env, _KNOWN, None):
        return ()
    setattr(env, _KNOWN, headings)
    return env.found_docs


def _hold_back(app: Sphinx, _: BuildEnvironment) -> None:
    """Put away what Sphinx would begin the next build with; it has just written it."""
    kept = Path(app.doctreedir) / ENV_PICKLE_FILENAME
    kept.replace(kept.with_name(_HELD_BACK))


def _let_go(app: Sphinx, failure: Exception | None) -> None:
    held_back = Path(app.doctreedir) / _HELD_BACK
    # Sphinx tells nobody else how many warnings there were.
    if failure is None and app._warncount == 0 and held_back.exists():  # noqa: SLF001
        held_back.replace(held_back.with_name(ENV_PICKLE_FILENAME))

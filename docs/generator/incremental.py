"""Sphinx extension that makes an incremental build fail wherever a full build would.

Sphinx warns about a page only when it reads or writes that page. So a build with warnings is
followed by a full build, and as soon as any heading changes, all pages are written again, which
checks their links.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sphinx.application import ENV_PICKLE_FILENAME, Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.typing import ExtensionMetadata

_HELD_BACK: Final = f"{ENV_PICKLE_FILENAME}.unfinished"
_KNOWN: Final = "fleetgate_headings"
"""Attribute of the environment, which Sphinx keeps from build to build."""


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension with Sphinx."""
    app.connect("env-updated", _linking)
    app.connect("env-check-consistency", _hold_back)
    app.connect("build-finished", _let_go)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _linking(_: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Return the pages to write because other pages changed: all pages if a heading changed."""
    headings = {
        page: {anchor: title for anchor, (_, _, title) in known.get("myst_slugs", {}).items()}
        for page, known in env.metadata.items()
    }
    if headings == getattr(env, _KNOWN, None):
        return ()
    setattr(env, _KNOWN, headings)
    return env.found_docs


def _hold_back(app: Sphinx, _: BuildEnvironment) -> None:
    """Set aside the environment that Sphinx has just saved for the next build."""
    kept = Path(app.doctreedir) / ENV_PICKLE_FILENAME
    kept.replace(kept.with_name(_HELD_BACK))


def _let_go(app: Sphinx, failure: Exception | None) -> None:
    held_back = Path(app.doctreedir) / _HELD_BACK
    # Sphinx has no public access to the number of warnings.
    if failure is None and app._warncount == 0 and held_back.exists():  # noqa: SLF001
        held_back.replace(held_back.with_name(ENV_PICKLE_FILENAME))

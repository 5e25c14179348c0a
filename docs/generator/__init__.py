"""Generates the reference pages from the code: `python -m docs.generator docs/reference`.

One module per subject; each turns models, commands or registries into pages (path and Markdown).
"""

from docs.generator.site import Pages, all_pages, outdated, write

__all__ = ["Pages", "all_pages", "outdated", "write"]

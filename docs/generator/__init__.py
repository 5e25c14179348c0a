"""Generates the reference pages from the code whenever the documentation is built.

One module per subject; each turns models, commands or registries into pages (path and Markdown).
"""

from docs.generator.site import Pages, all_pages, write

__all__ = ["Pages", "all_pages", "write"]

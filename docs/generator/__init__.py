"""Writes the reference pages from the code that they describe, whenever the documentation is built.

A module a subject; each turns models, commands or registries into pages: path and Markdown text.
"""

from docs.generator.site import Pages, all_pages, write

__all__ = ["Pages", "all_pages", "write"]

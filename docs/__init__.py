"""The documentation for users, and the generator of its reference pages.

Pages are Markdown; `make docs` builds them. `generator/` may import every package to describe it,
and no package imports it.
"""

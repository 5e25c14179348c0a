"""The documentation for users, and the generator of its reference pages.

Pages are Markdown; `make docs` builds them. `generator/` may look into every room to describe it,
and no room imports it.
"""

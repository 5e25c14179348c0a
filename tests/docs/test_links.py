"""Every relative link works where people read the pages: in the repository, on its web site."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from posixpath import normpath

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.generator.markdown import slug
from tests.docs.pages import FOLDER

ROOT = FOLDER.parent


def in_git(*patterns: str) -> list[str]:
    """Return the files that the repository holds, relative to its root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name]


FILES = set(in_git())
FOLDERS = {str(parent) for name in FILES for parent in PurePosixPath(name).parents}
PAGES = in_git(":(glob)*.md", "docs/*.md")


def inlines(text: str) -> Iterator[Token]:
    """Yield the parts of a page's paragraphs, headings and cells: texts, links, images."""
    for block in MarkdownIt().parse(text):
        yield from block.children or ()


def links(text: str) -> Iterator[str]:
    """Yield the relative links of a page, including those of images."""
    for token in inlines(text):
        target = str(token.attrGet("href") or token.attrGet("src") or "")
        if target and "://" not in target and not target.startswith("mailto:"):
            yield target


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as the hosting site makes them."""
    tokens = MarkdownIt().parse(text)
    titles = [
        "".join(child.content for child in inline.children or ())
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    ]
    seen: Counter[str] = Counter()
    found = set()
    for name in map(slug, titles):
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


@cache
def anchors_of(name: str) -> set[str]:
    return anchors((ROOT / name).read_text())


def dead(name: str, text: str) -> Iterator[str]:
    """Yield the links of a page that lead nowhere, each with the reason."""
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = normpath(Path(name).parent / path) if path else name
        if target not in FILES | FOLDERS:
            yield f"{link}: {target} is not in git"
        elif anchor and (target not in PAGES or anchor not in anchors_of(target)):
            yield f"{link}: {target} has no such heading"


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_to_a_file_in_git_and_a_heading(name: str) -> None:
    assert list(dead(name, (ROOT / name).read_text())) == []


PAGE = """\
# A page

[site](https://example.com/gone.md) [folder](operations) [file](index.md) ![image](gone.png)

| a cell |
| --- |
| [page](gone.md) [heading](reference/limits.md#gone) |

```
[code](gone.txt)
```
"""


def test_dead_links_are_found_wherever_they_are_in_a_page() -> None:
    assert [each.partition(":")[0] for each in dead("docs/page.md", PAGE)] == [
        "gone.png",
        "gone.md",
        "reference/limits.md#gone",
    ]


def test_headings_have_the_anchors_that_the_site_gives_them() -> None:
    text = "# `run watch`: what *it* shows\n\n## Twice\n\n## Twice\n"
    assert anchors(text) == {"run-watch-what-it-shows", "twice", "twice-1"}

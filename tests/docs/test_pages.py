"""Every command in the documentation works as typed, and prints what the page shows."""

import pytest

from tests.docs.desk import Desk
from tests.docs.pages import FOLDER, NotRun, all_pages, parts, typed_pages
from tests.docs.shell import Shell
from tests.docs.typist import complaints, type_page

NOT_RUN = [
    pytest.param(part, id=f"{name}:{part.line}")
    for name in all_pages()
    for part in parts((FOLDER / name).read_text())
    if isinstance(part, NotRun)
]


@pytest.mark.parametrize("name", typed_pages())
def test_the_commands_of_a_page_work_as_shown(name: str, desk: Desk, shell: Shell) -> None:
    text = (FOLDER / name).read_text()
    typed = list(type_page(text, shell, folder=desk.folder))
    if found := list(complaints(typed)):
        pytest.fail("\n\n".join(found), pytrace=False)


@pytest.mark.parametrize("block", NOT_RUN)
def test_a_block_that_is_not_run_says_why(block: NotRun) -> None:
    assert block.reason, "write <!-- not run: REASON -->"
    pytest.skip(block.reason)

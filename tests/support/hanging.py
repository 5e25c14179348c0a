"""Reporting what every task awaits when an async test exceeds its time limit."""

import asyncio
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from pytest_asyncio import is_async_test

from tests.support.together import RUNNER


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the tasks' stacks to the report of a test that timed out."""
    report = yield
    if call.excinfo and call.excinfo.errisinstance(pytest.fail.Exception) and is_async_test(item):
        text = str(call.excinfo.value)
        if text.startswith("Timeout"):
            runner = item._request.getfixturevalue(RUNNER)
            report.sections.append(("What the tasks await", _told(runner.get_loop())))
    return report


def _told(loop: asyncio.AbstractEventLoop) -> str:
    return "\n".join(
        f"{task.get_name()}: {' > '.join(_frames(task.get_coro()))}"
        for task in asyncio.all_tasks(loop)
    )


def _frames(awaited: Any) -> Iterator[str]:
    """Yield the functions that wait for each other, the innermost last."""
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "ag_frame", None)
        if frame is None:
            yield repr(awaited)[:200]
        else:
            code = frame.f_code
            yield f"{code.co_filename.rpartition('/')[2]}:{frame.f_lineno} {code.co_name}"
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "ag_await", None)

"""The log in both formats."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from telemetry import LogFormat, configure_logging, log_about, logged_about

logger = logging.getLogger("hub.cache")


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """Restore the logging of the test process afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(params=LogFormat)
def log_format(request: pytest.FixtureRequest) -> LogFormat:
    found: LogFormat = request.param
    return found


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


def objects(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(capsys)]


def test_text_format_is_one_readable_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogFormat.TEXT)
    logger.info("cluster %s is done", "a", extra={"run": "v2", "stage": "prod"})
    (line,) = lines(capsys)
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d\.\d{3} INFO hub\.cache: cluster a is done run=v2 stage=prod", line
    )


def test_json_format_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogFormat.JSON)
    logger.warning("cluster %s\nis done", "a", extra={"run": "v2", "attempt": 2, "final": True})
    (found,) = objects(capsys)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", found.pop("time"))
    assert found == {
        "level": "WARNING",
        "logger": "hub.cache",
        "message": "cluster a\nis done",
        "run": "v2",
        "attempt": 2,
        "final": True,
    }


def test_a_stack_trace_is_one_field_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogFormat.JSON)
    logger.error("it failed", exc_info=ValueError("why"))
    (found,) = objects(capsys)
    assert found["stack"] == "ValueError: why"


def test_a_stack_trace_follows_its_line_in_text(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogFormat.TEXT)
    logger.error("it failed", exc_info=ValueError("why"), extra={"run": "v2"})
    first, *rest = lines(capsys)
    assert first.endswith("ERROR hub.cache: it failed run=v2")
    assert rest[-1] == "ValueError: why"


def test_fields_that_are_not_plain_values_are_left_out(
    capsys: pytest.CaptureFixture[str], log_format: LogFormat
) -> None:
    configure_logging(log_format)
    logger.info("done", extra={"temporal_workflow": {"id": "secret"}, "cluster": "a"})
    (line,) = lines(capsys)
    assert "secret" not in line
    assert "cluster" in line


def test_debug_messages_are_left_out_unless_requested(
    capsys: pytest.CaptureFixture[str], log_format: LogFormat
) -> None:
    configure_logging(log_format)
    logger.debug("detail")
    assert lines(capsys) == []
    configure_logging(log_format, level=logging.DEBUG)
    logger.debug("detail")
    assert len(lines(capsys)) == 1


def test_configuring_again_replaces_the_format(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogFormat.TEXT)
    configure_logging(LogFormat.JSON)
    logger.info("once")
    assert [each["message"] for each in objects(capsys)] == ["once"]


def test_lines_say_what_the_current_work_is_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging(LogFormat.JSON)
    with logged_about(run="v2", namespace=""):
        log_about(stage="prod")
        logger.info("one")
        logger.info("two", extra={"stage": "canary"})
    logger.info("three")
    own = ("time", "level", "logger", "message")
    fields = [{k: v for k, v in each.items() if k not in own} for each in objects(capsys)]
    assert fields == [{"run": "v2", "stage": "prod"}, {"run": "v2", "stage": "canary"}, {}]


async def test_concurrent_tasks_log_fields_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging(LogFormat.JSON)
    both_began = asyncio.Barrier(2)

    async def work(run: str) -> None:
        log_about(run=run)
        await both_began.wait()
        logger.info("working on %s", run)

    await asyncio.gather(work("a"), work("b"))
    logger.info("done")
    assert [each.get("run") for each in objects(capsys)] in (["a", "b", None], ["b", "a", None])

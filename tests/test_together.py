"""Async tests of a module run concurrently, and each is reported as if it had run alone."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SETTINGS = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = session
asyncio_default_test_loop_scope = session
timeout = {timeout}
"""
MEETING = """
import asyncio
import pytest

waiting = asyncio.Barrier(3)

@pytest.mark.parametrize("number", range(3))
async def test_meets(number):
    await waiting.wait()
"""


@pytest.fixture
def settings(pytester: pytest.Pytester) -> Path:
    """Settings of the inner session, the same as this project's."""
    return pytester.makeini(SETTINGS.format(timeout=60))


def run(pytester: pytest.Pytester, *arguments: str, **modules: str) -> pytest.RunResult:
    pytester.makepyfile(**modules)
    # A separate process, because this one already has an event loop and plugins.
    path = str(Path(__file__).parent.parent)
    pytester.syspathinsert(path)
    return pytester.runpytest_subprocess("-p", "tests.support.together", *arguments)


@pytest.mark.usefixtures("settings")
def test_tests_of_a_module_run_concurrently(pytester: pytest.Pytester) -> None:
    run(pytester, test_meeting=MEETING).assert_outcomes(passed=3)


def test_each_test_that_takes_too_long_fails_by_name(pytester: pytest.Pytester) -> None:
    pytester.makeini(SETTINGS.format(timeout=1))
    result = run(pytester, "--at-once", "2", test_meeting=MEETING)
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["FAILED *test_meets?0? - TimeoutError"])


@pytest.mark.usefixtures("settings")
def test_each_test_has_fixtures_of_its_own_and_shared_ones_are_set_up_once(
    pytester: pytest.Pytester,
) -> None:
    result = run(
        pytester,
        "-s",
        test_fixtures="""
        import asyncio
        import pytest

        @pytest.fixture(scope="module")
        async def shared():
            print("shared is up")
            await asyncio.sleep(0.1)
            yield "shared"
            print("shared is down")

        @pytest.fixture
        async def own(shared, request):
            await asyncio.sleep(0.1)
            yield [request.node.name]
            await asyncio.sleep(0.1)
            print("down:", request.node.name)

        @pytest.fixture
        async def uses(own):
            own.append("used")
            return own

        @pytest.mark.parametrize("number", range(3))
        async def test_own(number, own, uses):
            await asyncio.sleep(0.1)
            assert own == [f"test_own[{number}]", "used"]

        def test_synchronous(shared):
            assert shared == "shared"
        """,
    )
    result.assert_outcomes(passed=4)
    text = result.stdout.str()
    assert text.count("shared is up") == text.count("shared is down") == 1
    assert text.index("down: test_own[2]") < text.index("shared is down")


@pytest.mark.usefixtures("settings")
def test_each_failure_is_reported_for_its_test_and_phase(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        test_failures="""
        import pytest

        @pytest.fixture
        async def broken():
            raise ValueError("at the beginning")

        @pytest.fixture
        async def breaks():
            yield
            raise ValueError("at the end")

        async def test_fine(): pass
        async def test_fails(): assert 1 == 2
        async def test_begins_badly(broken): pass
        async def test_ends_badly(breaks): pass
        async def test_skips(): pytest.skip("not here")
        @pytest.mark.xfail(strict=True)
        async def test_expected(): assert False
        """,
    )
    result.assert_outcomes(passed=2, failed=1, errors=2, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines_random(
        [
            "FAILED *::test_fails - assert 1 == 2",
            "ERROR *::test_begins_badly - ValueError: at the beginning",
            "ERROR *::test_ends_badly - ValueError: at the end",
        ]
    )


@pytest.mark.usefixtures("settings")
def test_a_test_that_changes_the_process_runs_alone(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        test_alone="""
        import asyncio
        import os
        import pytest

        running = 0

        @pytest.fixture(autouse=True)
        async def counted():
            global running
            running += 1
            yield
            running -= 1

        async def by_itself():
            await asyncio.sleep(0.1)
            assert running == 1

        async def test_changes(monkeypatch): await by_itself()
        @pytest.mark.alone("counts what runs")
        async def test_marked(): await by_itself()
        async def test_one(): await asyncio.sleep(0.2)
        async def test_other(): await asyncio.sleep(0.2)
        """,
    )
    result.assert_outcomes(passed=4)


@pytest.mark.usefixtures("settings")
def test_tests_with_different_values_of_a_shared_fixture_run_one_after_the_other(
    pytester: pytest.Pytester,
) -> None:
    result = run(
        pytester,
        test_values="""
        import asyncio
        import pytest

        @pytest.fixture(scope="module", params=["a", "b"])
        async def shared(request):
            await asyncio.sleep(0.05)
            return [request.param]

        @pytest.fixture(scope="module")
        async def built_on_it(shared):
            await asyncio.sleep(0.05)
            yield shared[0]

        @pytest.mark.parametrize("number", range(2))
        async def test_values(number, shared, built_on_it):
            (before,) = shared
            await asyncio.sleep(0.1)
            assert shared == [before] == [built_on_it]
        """,
    )
    result.assert_outcomes(passed=4)


@pytest.mark.usefixtures("settings")
def test_a_module_stays_in_one_process(pytester: pytest.Pytester) -> None:
    others = {f"test_other_{number}": "async def test_other(): pass" for number in range(3)}
    result = run(pytester, "-n", "2", "--dist", "loadgroup", test_meeting=MEETING, **others)
    result.assert_outcomes(passed=6)

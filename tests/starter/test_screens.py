"""The screen of a watched run: it fits, and shows what matters now."""

from datetime import timedelta

import pytest
from rich.console import Console

from planning.runs import views
from starter.run.screens import HubUnreachable, WatchedRun, board
from tests.starter.made_runs import NOW, MadeStage, made_run


def drawn(
    *stages: MadeStage, width: int = 100, height: int = 24, trouble: HubUnreachable | None = None
) -> list[str]:
    """Return the lines of a screen."""
    run = made_run(*stages)
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        seen = WatchedRun(run, views.of(run))
        console.print(board(seen, NOW, width=width, height=height, trouble=trouble))
    return captured.get().splitlines()


THOUSAND = (
    MadeStage(took=[30] * 400, at_once="10%"),
    MadeStage(took=[30] * 50, in_flight=range(47), ahead=503, at_once="10%"),
)


def test_stages_are_rows_with_a_bar() -> None:
    lines = [" ".join(line.split()) for line in drawn(*THOUSAND, MadeStage(ahead=10))]
    assert "━━━━━━━━━━━━━━━━━━━━ 400/400 done" in lines[5]
    assert lines[6].startswith("stage1 ━─────────────────── 50/600 updating")
    assert lines[7] == "stage2 ──────────────────── 0/10 ahead"
    assert "450/1010 left: about" in lines[1]


def test_of_many_clusters_in_flight_the_longest_are_shown() -> None:
    lines = drawn(*THOUSAND)
    named = [line.split() for line in lines if "  updating  " in line and "stage1-" in line]
    assert named[0] == ["stage1-96", "updating", "46s"]
    assert len(named) == 10
    assert "and 37 more" in lines


@pytest.mark.parametrize("height", [12, 24, 50])
@pytest.mark.parametrize("stages", [1, 31])
def test_a_thousand_clusters_fit_a_screen(height: int, stages: int) -> None:
    many = [MadeStage(took=[30] * 10)] * (stages - 1)
    trouble = HubUnreachable("connection refused", NOW - timedelta(seconds=9))
    lines = drawn(*many, THOUSAND[1], *many, height=height, trouble=trouble)
    assert len(lines) <= height
    assert max(len(line) for line in lines) <= 100
    assert any(line.startswith(f"stage{stages - 1} ") for line in lines), "the current stage"


def test_an_unreachable_hub_is_shown_with_the_time_since() -> None:
    trouble = HubUnreachable("connection refused", NOW - timedelta(seconds=9))
    last = drawn(MadeStage(in_flight=[3]), trouble=trouble)[-1]
    assert last == "lost the hub 9s ago, still trying: connection refused"

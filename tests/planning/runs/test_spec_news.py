"""Which reports about its spec a run accepts."""

from api.runs import RunState
from planning.runs.spec_news import Spec, SpecNews

RUN, STOP = RunState.RUN, RunState.STOP
FIRST = Spec(1, RUN)


def test_a_report_counts_once_and_only_if_it_is_newer() -> None:
    news = SpecNews(FIRST)
    assert news.note(Spec(3, RUN))
    assert not news.note(Spec(3, RUN))
    assert not news.note(Spec(2, STOP))
    assert news.latest == Spec(3, RUN)


def test_reports_that_the_hub_confirms_are_kept() -> None:
    news = SpecNews(FIRST)
    news.note(Spec(2, STOP))
    news.compare(3, count=news.count)
    assert news.latest == Spec(2, STOP)
    assert news.count == 0


def test_a_generation_that_the_hub_never_had_is_dropped() -> None:
    news = SpecNews(FIRST)
    news.note(Spec(999, STOP))
    news.compare(1, count=news.count)
    assert news.latest == FIRST


def test_correct_reports_that_looked_old_count_once_wrong_ones_are_dropped() -> None:
    news = SpecNews(FIRST)
    news.note(Spec(999, RUN))
    assert not news.note(Spec(2, STOP))
    news.compare(2, count=news.count)
    assert news.latest == Spec(2, STOP)


def test_a_report_that_came_during_the_check_is_not_judged_by_its_result() -> None:
    news = SpecNews(FIRST)
    asked = news.count
    news.note(Spec(2, STOP))
    news.compare(1, count=asked)
    assert news.latest == Spec(2, STOP)

    news.note(Spec(999, RUN))
    asked = news.count
    news.note(Spec(3, RUN))
    news.compare(2, count=asked)
    assert news.latest == Spec(3, RUN)


def test_the_spec_read_from_the_hub_always_counts() -> None:
    news = SpecNews(Spec(0, RunState.INITIALIZE))
    news.note(Spec(2, STOP))
    news.settle(FIRST)
    assert news.latest == Spec(2, STOP)
    news.settle(Spec(3, RUN))
    assert news.latest == Spec(3, RUN)

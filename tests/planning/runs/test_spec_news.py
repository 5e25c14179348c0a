"""What a run believes of its spec, whoever tells it."""

from api.runs import RunState
from planning.runs.spec_news import Spec, SpecNews

RUN, STOP = RunState.RUN, RunState.STOP
FIRST = Spec(1, RUN)


def test_news_count_once_and_only_if_they_are_new() -> None:
    news = SpecNews(FIRST)
    assert news.tell(Spec(3, RUN))
    assert not news.tell(Spec(3, RUN))
    assert not news.tell(Spec(2, STOP))
    assert news.latest == Spec(3, RUN)


def test_what_the_hub_bears_out_is_kept() -> None:
    news = SpecNews(FIRST)
    news.tell(Spec(2, STOP))
    news.compare(3, count=news.count)
    assert news.latest == Spec(2, STOP)
    assert news.count == 0


def test_a_generation_that_the_hub_never_had_is_forgotten() -> None:
    news = SpecNews(FIRST)
    news.tell(Spec(999, STOP))
    news.compare(1, count=news.count)
    assert news.latest == FIRST


def test_real_news_that_looked_old_count_once_the_wrong_ones_are_forgotten() -> None:
    news = SpecNews(FIRST)
    news.tell(Spec(999, RUN))
    assert not news.tell(Spec(2, STOP))
    news.compare(2, count=news.count)
    assert news.latest == Spec(2, STOP)


def test_a_change_that_came_while_the_hub_was_asked_is_not_judged_by_its_answer() -> None:
    news = SpecNews(FIRST)
    asked = news.count
    news.tell(Spec(2, STOP))
    news.compare(1, count=asked)
    assert news.latest == Spec(2, STOP)

    news.tell(Spec(999, RUN))
    asked = news.count
    news.tell(Spec(3, RUN))
    news.compare(2, count=asked)
    assert news.latest == Spec(3, RUN)


def test_the_hub_itself_is_believed() -> None:
    news = SpecNews(Spec(0, RunState.INITIALIZE))
    news.tell(Spec(2, STOP))
    news.settle(FIRST)
    assert news.latest == Spec(2, STOP)
    news.settle(Spec(3, RUN))
    assert news.latest == Spec(3, RUN)

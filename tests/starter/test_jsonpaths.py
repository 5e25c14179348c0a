"""Templates and columns as kubectl understands them."""

from typing import Any

import pytest

from starter.jsonpaths import NOTHING, TemplateError, custom_columns, template

RUN: Any = {
    "metadata": {"name": "first", "labels": {"fleet.dev/team": "web", "on-call": "ann"}},
    "status": {
        "conditions": [
            {"type": "Initialized", "status": "True"},
            {"type": "Progressing", "status": "False", "reason": "a, (b)"},
        ],
    },
    "spec": {"paused": False, "weight": 1.5},
}
RUNS: Any = {"kind": "List", "items": [RUN, {"metadata": {"name": "second"}}]}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("{.items[*].metadata.name}", "first second"),
        (".items[1].metadata.name", "second"),
        ("{$.items[-1:].metadata.name}", "second"),
        ('{range .items[*]}{.metadata.name}{"\\t"}{end}', "first\tsecond\t"),
        ("runs: {range .items[*]}<{@.metadata.name}>{end}", "runs: <first><second>"),
        ("{.items[0].metadata.labels.fleet\\.dev/team}", "web"),
        ("{.items[0].metadata.labels['fleet.dev/team']}", "web"),
        ("{.items[0].metadata.labels.on-call}", "ann"),
        ('{.items[0].status.conditions[?(@.type=="Progressing")].status}', "False"),
        ('{.items[0].status.conditions[?(@.reason=="a, (b)")].type}', "Progressing"),
        ("{.items[?(@.spec.weight>1.2)].metadata.name}", "first"),
        ("{..name}", "first second"),
        ("{.items[0].spec}", '{"paused":false,"weight":1.5}'),
        ("{.items[0].missing}", ""),
    ],
)
def test_a_template_prints_what_kubectl_prints(text: str, printed: str) -> None:
    assert template(text)(RUNS) == printed


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{range .items[*]}", "without {end}"),
        ("{end}", "without {range"),
        ("{.items", "unexpected '{'"),
        ("{.items[}", "is not a path"),
        ("{}", "a path is empty"),
    ],
)
def test_a_wrong_template_says_why(text: str, why: str) -> None:
    with pytest.raises(TemplateError, match=why):
        template(text)


def test_columns_show_each_field_and_what_is_missing() -> None:
    wanted = custom_columns("NAME:.metadata.name,TYPES:.status.conditions[*].type,X:spec.paused")
    assert [each.heading for each in wanted] == ["NAME", "TYPES", "X"]
    assert [each.cell(RUN) for each in wanted] == ["first", "Initialized,Progressing", "false"]
    assert [each.cell(RUNS["items"][1]) for each in wanted] == ["second", NOTHING, NOTHING]


@pytest.mark.parametrize("text", ["NAME", "NAME:", ":.metadata.name", "A:.a,,B:.b"])
def test_a_column_needs_a_heading_and_a_path(text: str) -> None:
    with pytest.raises(TemplateError, match="is not HEADING:PATH"):
        custom_columns(text)

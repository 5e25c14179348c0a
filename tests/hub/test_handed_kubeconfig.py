"""A kubeconfig from someone else must not run programs or read files here."""

from typing import Any

import pytest
import yaml

from hub import BadConfiguration, Hub, handed_kubeconfig

TEXT: dict[str, Any] = {
    "current-context": "here",
    "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
    "clusters": [{"name": "one", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "me", "user": {"token": "abc"}}],
}


def with_field(section: str, field: str, value: object) -> str:
    entry = TEXT[section][0]
    part = section.removesuffix("s")
    return yaml.safe_dump(TEXT | {section: [entry | {part: entry[part] | {field: value}}]})


async def test_a_self_contained_kubeconfig_is_accepted() -> None:
    async with await Hub.connect_as_told(yaml.safe_dump(TEXT)) as hub:
        assert hub.url == "https://127.0.0.1:1"


async def test_a_composed_kubeconfig_is_accepted() -> None:
    text = handed_kubeconfig.compose({"server": "https://127.0.0.1:1"}, token="abc")
    async with await Hub.connect_as_told(text) as hub:
        assert hub.url == "https://127.0.0.1:1"


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("users", "exec", {"command": "touch"}),
        ("users", "auth-provider", {"name": "gcp"}),
        ("users", "tokenFile", "/etc/shadow"),
        ("users", "client-certificate", "/etc/shadow"),
        ("users", "client-key", "/etc/shadow"),
        ("clusters", "certificate-authority", "/etc/shadow"),
    ],
)
async def test_a_kubeconfig_that_runs_programs_or_reads_files_is_refused(
    section: str, field: str, value: object
) -> None:
    with pytest.raises(BadConfiguration, match=f"the kubeconfig's {field} .* on this machine"):
        await Hub.connect_as_told(with_field(section, field, value))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty or not a kubeconfig"),
        ("- 1", "empty or not a kubeconfig"),
        ("{", "not YAML"),
        ("users: [1]", "cannot be used"),
        ("users: {}", "cannot be used"),
    ],
)
async def test_anything_other_than_a_kubeconfig_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadConfiguration, match=problem):
        await Hub.connect_as_told(text)

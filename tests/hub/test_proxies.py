"""A proxy from the environment is used only for servers on other machines."""

import pytest

from hub.transport import proxy_for


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.setenv("no_proxy", "inside.example.com")


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://hub.example.com:6443", "http://proxy:3128"),
        ("http://hub.example.com:6443", None),
        ("https://hub.inside.example.com:6443", None),
        ("https://127.0.0.1:6443", None),
        ("https://[::1]:6443", None),
        ("https://localhost:6443", None),
    ],
)
def test_the_proxy_depends_on_where_the_server_is(url: str, proxy: str | None) -> None:
    assert proxy_for(url) == proxy

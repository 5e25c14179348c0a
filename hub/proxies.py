"""The HTTP proxy that the environment sets for an API server."""

from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def proxy_for(url: str) -> str | None:
    """Return the proxy set by HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

    None for this machine's own ports, which a proxy could not reach; Go clients do the same.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in LOOPBACK or proxy_bypass(host):
        return None
    return getproxies_environment().get(parts.scheme)

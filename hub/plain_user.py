"""Users of a kubeconfig with credentials of their own, inline or in files.

The official client could read these too, but loading it takes longer than most commands run
(docs/decisions/0030).
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hub.access import Access, CredentialFile, Pem, fingerprint, tls
from hub.credentials import Authorization, fixed, nobody
from hub.impersonation import headers

PROGRAMS = ("exec", "auth-provider")
"""Fields of a user that name a program, or credentials that a program refreshes."""


@dataclass(frozen=True, slots=True)
class KubeconfigEntry:
    """A cluster, user or context, and the folder that its relative paths start from."""

    content: dict[str, Any]
    folder: Path

    def pem(self, field: str) -> Pem | None:
        """Return the certificate or key in a field, inline data before a file; None if empty.

        Raises ValueError for data that is not base64, and FileNotFoundError.
        """
        if f"{field}-data" in self.content:
            return b64decode(self.content[f"{field}-data"] or "") or None
        if field not in self.content:
            return None
        file: Path = self.folder / self.content[field]
        if not file.is_file():
            raise FileNotFoundError(f"File does not exist: {file}")
        return file


def is_plain(user: KubeconfigEntry) -> bool:
    """Return whether the user's credentials can be read here, without running a program."""
    return not any(field in user.content for field in PROGRAMS)


def access(cluster: KubeconfigEntry, user: KubeconfigEntry) -> Access:
    """Return the access to a cluster as a user. Raises BadConfiguration, OSError, ValueError."""
    server = cluster.content.get("server")
    if not server:
        raise ValueError("the cluster has no server")
    host = server.rstrip("/")
    # Plain HTTP uses no certificates, so their files need not exist.
    secure = host.startswith("https")
    authority = cluster.pem("certificate-authority") if secure else None
    certificate = user.pem("client-certificate") if secure else None
    key = user.pem("client-key") if secure else None
    verify = not cluster.content.get("insecure-skip-tls-verify")
    files = (authority, certificate, key, _token_file(user))
    return Access(
        host=host,
        sources=tuple(CredentialFile.of(each) for each in files if isinstance(each, Path)),
        fingerprint=fingerprint(authority, certificate, key, verify=verify),
        tls=tls(
            host,
            authority=authority,
            certificate=certificate,
            key=key,
            verify=verify,
        ),
        server_name=cluster.content.get("tls-server-name"),
        proxy=cluster.content.get("proxy-url"),
        authorization=_authorization(user),
        impersonation=headers(user.content),
    )


def _authorization(user: KubeconfigEntry) -> Authorization:
    content = user.content
    if token := content.get("token"):
        return fixed(f"Bearer {token}")
    if file := _token_file(user):
        # Editors add a newline at the end.
        return fixed(f"Bearer {file.read_text().strip()}")
    if "username" in content and "password" in content:
        pair = f"{content['username']}:{content['password']}"
        return fixed(f"Basic {b64encode(pair.encode()).decode()}")
    return nobody


def _token_file(user: KubeconfigEntry) -> Path | None:
    """Return the file that holds the token, or None if the token is inline or absent."""
    if user.content.get("token") or not user.content.get("tokenFile"):
        return None
    return user.folder / str(user.content["tokenFile"])

"""Everything that a client needs to connect to an API server, whatever its source."""

import hashlib
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from hub.credentials import Authorization, nobody
from hub.errors import BadConfiguration
from hub.impersonation import Headers

Pem = Path | bytes
"""A certificate or a key: a file, or the content of one."""


@dataclass(frozen=True, slots=True)
class CredentialFile:
    """A file that is about to be read, and its state at that time."""

    path: Path
    state: tuple[int, int, int] | None
    """Modification time, inode and size; None if the file does not exist."""

    @classmethod
    def of(cls, path: Path) -> "CredentialFile":
        """Record the state of a file; do so before reading it, so that no change goes unnoticed."""
        try:
            # Follows links: a mounted Secret is updated by changing the target of a link.
            found = path.stat()
        except OSError:
            return cls(path, None)
        return cls(path, (found.st_mtime_ns, found.st_ino, found.st_size))


@dataclass(frozen=True, slots=True)
class Access:
    """Where an API server is, how to trust it, and which credentials to use."""

    host: str
    """Scheme, host and port, optionally a path; without a trailing slash."""
    tls: ssl.SSLContext | None = None
    """None for a server without TLS."""
    server_name: str | None = None
    """Name in the server's certificate, if it differs from the host."""
    proxy: str | None = None
    """Address of the HTTP proxy that the kubeconfig names."""
    authorization: Authorization = nobody
    """Returns the Authorization header; called before each request."""
    impersonation: Headers = ()
    """Headers that impersonate another user."""
    fingerprint: str = ""
    """Fingerprint of the TLS settings: if it changes, new connections are needed."""
    sources: tuple[CredentialFile, ...] = ()
    """Files that this was read from; when one changes, all of it is read again."""
    again: "Callable[[], Awaitable[Access]] | None" = None
    """Reads the same files again, for the same context; None if no file was read. Raises
    BadConfiguration."""


def fingerprint(*pems: Pem | None, verify: bool) -> str:
    """Return a text that identifies certificates and a key by their content. Raises OSError."""
    read = (each.read_bytes() if isinstance(each, Path) else each or b"" for each in pems)
    return " ".join([*(hashlib.sha256(each).hexdigest() for each in read), str(verify)])


def tls(
    host: str,
    *,
    authority: Pem | None = None,
    certificate: Pem | None = None,
    key: Pem | None = None,
    verify: bool = True,
) -> ssl.SSLContext | None:
    """Return the TLS context for a host; without an authority, trust those of this machine.

    None for a host without TLS. Raises BadConfiguration if the certificates cannot be used.
    """
    if not host.startswith("https"):
        return None
    try:
        context = _trusting(authority)
        if certificate:
            with _file(certificate) as file, _file(key) as key_file:
                assert file
                context.load_cert_chain(file, key_file)
    except OSError as error:  # an ssl.SSLError is one
        raise BadConfiguration(
            f"the certificates for {host} cannot be used ({error}): check "
            "certificate-authority, client-certificate and client-key in the kubeconfig"
        ) from error
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _trusting(authority: Pem | None) -> ssl.SSLContext:
    if isinstance(authority, bytes):
        # Only comments between the certificates can hold other characters.
        return ssl.create_default_context(cadata=authority.decode("ascii", "ignore"))
    return ssl.create_default_context(cafile=authority)


@contextmanager
def _file(pem: Pem | None) -> Iterator[Path | None]:
    """Write a certificate or key to a file, because Python cannot load them from memory."""
    if not isinstance(pem, bytes):
        yield pem
        return
    with NamedTemporaryFile() as file:
        file.write(pem)
        file.flush()
        yield Path(file.name)

"""What a client has to know to reach an API server, wherever it was found."""

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
"""A certificate or a key: a file, or what would be in it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that something is about to be read from, as it was then."""

    path: Path
    state: tuple[int, int, int] | None
    """When it was written, which file it is, how long it is; None where there is none."""

    @classmethod
    def of(cls, path: Path) -> "Source":
        """Look at a file; before it is read, so that a change in between is seen later."""
        try:
            # Follows links, as a mounted Secret is changed by changing where a link leads.
            found = path.stat()
        except OSError:
            return cls(path, None)
        return cls(path, (found.st_mtime_ns, found.st_ino, found.st_size))


@dataclass(frozen=True, slots=True)
class Access:
    """Where an API server is, how to trust it, and who we are there."""

    host: str
    """Scheme, host and port, perhaps a path; no slash at the end."""
    tls: ssl.SSLContext | None = None
    """None for a server that is reached without TLS."""
    server_name: str | None = None
    """Name that the server's certificate is for, where that is not the host's."""
    proxy: str | None = None
    """Address of the HTTP proxy that the kubeconfig names."""
    authorization: Authorization = nobody
    """What to send as Authorization, asked before each request."""
    impersonation: Headers = ()
    """Headers that make the requests those of somebody else."""
    fingerprint: str = ""
    """Of what TLS was made of: another one needs new connections."""
    sources: tuple[Source, ...] = ()
    """Files that all of this was read from; when one changes, it is read again."""
    again: "Callable[[], Awaitable[Access]] | None" = None
    """Reads the same files again, for the same context. None for what no file can change. Raises
    BadConfiguration."""


def fingerprint(*pems: Pem | None, verify: bool) -> str:
    """Return what tells certificates and a key from others. Raises OSError."""
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
    """Make what TLS needs for a host; without an authority, those of this machine are trusted.

    Raises BadConfiguration when the certificates cannot be used.
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
        # Only comments between the certificates can be anything else.
        return ssl.create_default_context(cadata=authority.decode("ascii", "ignore"))
    return ssl.create_default_context(cafile=authority)


@contextmanager
def _file(pem: Pem | None) -> Iterator[Path | None]:
    """Put a certificate or key into a file: Python does not read them from memory."""
    if not isinstance(pem, bytes):
        yield pem
        return
    with NamedTemporaryFile() as file:
        file.write(pem)
        file.flush()
        yield Path(file.name)

"""Small programs that stand in for the real ones, and a release server that publishes them."""

import hashlib
import io
import tarfile
import threading
from collections import Counter
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from deploy.local.programs import Build, Download, Program

WORKS = "#!/bin/sh\nexit 0\n"
DOES_NOT_RUN = "#!/bin/sh\nexit 1\n"

GO = """#!/bin/sh
# Does what `go build -o TARGET …` and `go install` do, and records folder and arguments.
echo "$PWD $*" >> "$CALLS"
while [ $# -gt 0 ]; do
  case "$1" in
    -o) target="$2" ;;
    *@v1) target="$GOBIN/$(basename "$1" @v1)" ;;
  esac
  shift
done
touch go.sum
printf '#!/bin/sh\\nexit 0\\n' > "$target"
"""
GO_IN_PAIRS = GO.replace(
    "touch go.sum",
    """i=0
while [ "$(wc -l < "$CALLS")" -lt 2 ]; do
  i=$((i + 1)); [ $i -lt 600 ] || exit 1; sleep 0.1
done""",
)
"""Waits until a second build is running."""
GO_ALONE = GO.replace(
    "touch go.sum", 'mkdir "$CALLS.lock" || exit 1; sleep 0.2; rmdir "$CALLS.lock"'
)
"""Fails if another build is running."""


def write_program(path: Path, text: str = WORKS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def thing(
    release: str = "http://127.0.0.1:9",
    *,
    name: str = "thing",
    recipe: Path | None = None,
    mirror: Download | None = None,
    takes: timedelta = timedelta(minutes=1),
) -> Program:
    """A program `thing`, published at `release`: by default an address where nothing listens."""
    return Program(
        name=name,
        version="v1",
        variable=f"FLEETGATE_{name.upper()}",
        download=Download(
            url=f"{release}/thing-{{system}}.tar.gz",
            checksums=f"{release}/SHA256SUMS",
            member="folder/thing",
            systems=("linux", "darwin"),
        ),
        mirror=mirror,
        build=Build(
            package=f"example.org/{name}", takes=takes, flags="-s", recipe=recipe, version="v1"
        ),
    )


def archive(text: str = WORKS) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as files:
        entry = tarfile.TarInfo("folder/thing")
        entry.size = len(text)
        files.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


class ReleaseServer:
    """Serves files over HTTP, and counts how often each was requested."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.requests: Counter[str] = Counter()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(files))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self, files: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.removeprefix("/")
                requests[name] += 1
                self.send_response(200 if name in files else 404)
                self.send_header("Content-Length", str(len(files.get(name, b""))))
                self.end_headers()
                self.wfile.write(files.get(name, b""))

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def release(name: str, content: bytes, *, digest: str | None = None) -> dict[str, bytes]:
    """The files of a release; pass a digest that does not match the content to forge one."""
    published = digest or hashlib.sha256(content).hexdigest()
    other = "0" * 64
    return {name: content, "SHA256SUMS": f"{other}  else.tar.gz\n{published}  {name}\n".encode()}

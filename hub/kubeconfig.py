"""Access to the API server from a kubeconfig, or from the pod that this process runs in."""

import os
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from hub import impersonation, plain_user, pod
from hub.access import Access, CredentialFile
from hub.errors import BadConfiguration
from hub.impersonation import NOT_IMPERSONATED, Impersonated
from hub.plain_user import KubeconfigEntry

HOME_KUBECONFIG = "~/.kube/config"
_AUTHORITY = "certificate-authority"


class Files:
    """The kubeconfig files of a path list, merged as in kubectl: the first entry of a name wins."""

    def __init__(self, paths: str) -> None:
        self.paths = paths
        files = [Path(part).expanduser() for part in paths.split(os.pathsep) if part]
        self.sources = tuple(CredentialFile.of(file) for file in files)
        self._documents = [(_read(file), file.parent) for file in files if file.exists()]
        if not self._documents:
            raise BadConfiguration(
                f"no kubeconfig at {paths}: name one with --kubeconfig or KUBECONFIG, "
                "or start a local fleet with `fleetgate local up`"
            )

    def entries(self, section: str) -> dict[str, KubeconfigEntry]:
        """Return the content of the `contexts`, `users` or `clusters`, by name."""
        found: dict[str, KubeconfigEntry] = {}
        for document, folder in self._documents:
            for entry in document.get(section) or []:
                content = entry.get(section.removesuffix("s")) or {}
                found.setdefault(str(entry.get("name")), KubeconfigEntry(content, folder))
        return found

    def context(self, name: str | None) -> str:
        """Return the context to use: `name`, or the current one. Raises BadConfiguration."""
        contexts = self.entries("contexts")
        have = f"it has: {', '.join(sorted(contexts)) or 'none'}"
        name = name or self._current_context()
        if not name:
            raise BadConfiguration(
                f"kubeconfig {self.paths} has no current-context: "
                f"choose one with --context ({have})"
            )
        if name not in contexts:
            raise BadConfiguration(f"kubeconfig {self.paths} has no context {name!r} ({have})")
        return name

    def cluster(self, context: str) -> KubeconfigEntry:
        """Return the cluster of a context. Raises BadConfiguration if it does not exist."""
        name = self.entries("contexts")[context].content.get("cluster", "")
        try:
            return self.entries("clusters")[name]
        except KeyError as error:
            raise BadConfiguration(
                f"kubeconfig {self.paths} cannot be used: "
                f"context {context!r} names cluster {name!r}, which does not exist"
            ) from error

    def user(self, context: str) -> KubeconfigEntry:
        """Return the user of a context; empty if it names none or an unknown one."""
        name = self.entries("contexts")[context].content.get("user", "")
        return self.entries("users").get(name) or KubeconfigEntry({}, Path())

    def _current_context(self) -> str:
        # The library uses the last current-context, kubectl the first, so pass it explicitly.
        named = (document.get("current-context") for document, _ in self._documents)
        return next((str(name) for name in named if name), "")


def contexts(path: Path | None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of contexts in the files that `load` would read. Raises BadConfiguration."""
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    return sorted(Files(paths or HOME_KUBECONFIG).entries("contexts"))


def cluster_to_hand_out(
    path: Path | None, *, context: str | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """Return the cluster of a context for someone elsewhere, with its CA certificates inline.

    It has no credentials, and no proxy, which may be reachable only from this machine. Reads the
    same files as `load`. Raises BadConfiguration.
    """
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    files = Files(paths or HOME_KUBECONFIG)
    cluster = files.cluster(files.context(context))
    try:
        authority = cluster.pem(_AUTHORITY)
        pem = authority.read_bytes() if isinstance(authority, Path) else authority
    except (OSError, ValueError) as error:
        raise BadConfiguration(f"kubeconfig {files.paths} cannot be used: {error}") from error
    left_out = {_AUTHORITY, "proxy-url"}
    kept = {name: value for name, value in cluster.content.items() if name not in left_out}
    return kept | ({f"{_AUTHORITY}-data": b64encode(pem).decode()} if pem else {})


def namespace(
    path: Path | None,
    *,
    context: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """Return the namespace that the context sets; empty if none, and in a pod.

    Raises BadConfiguration.
    """
    if pod.is_used(path, context, environment):
        return ""
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    files = Files(paths or HOME_KUBECONFIG)
    chosen = files.entries("contexts")[files.context(context)]
    return str(chosen.content.get("namespace") or "")


async def load(
    path: Path | None,
    *,
    context: str | None = None,
    environment: Mapping[str, str] = os.environ,
    acting_as: Impersonated = NOT_IMPERSONATED,
) -> Access:
    """Return the access to an API server from the first source that exists.

    These are: `path`; the environment's KUBECONFIG (one or more paths, as for kubectl); the service
    account when running in a pod; `~/.kube/config`. A user in `acting_as` is impersonated instead
    of the one that the kubeconfig names. Raises BadConfiguration.
    """
    if pod.is_used(path, context, environment):
        return await _of_pod(acting_as)
    paths = str(path) if path else environment.get("KUBECONFIG", "")
    files = Files(paths or HOME_KUBECONFIG)
    # Chosen once: a later switch of the current context applies to new processes only.
    return await _from_files(files, files.context(context), acting_as)


async def _of_pod(acting_as: Impersonated) -> Access:
    from hub import official

    return _impersonating(acting_as, official.of_pod(), again=partial(_of_pod, acting_as))


async def _from_files(files: Files, context: str, acting_as: Impersonated) -> Access:
    access = await _of_context(files, context)
    return replace(
        _impersonating(
            acting_as, access, again=partial(_once_more, files.paths, context, acting_as)
        ),
        sources=files.sources + access.sources,
    )


async def _once_more(paths: str, context: str, acting_as: Impersonated) -> Access:
    files = Files(paths)
    return await _from_files(files, files.context(context), acting_as)


def _impersonating(
    acting_as: Impersonated, access: Access, *, again: Callable[[], Awaitable[Access]]
) -> Access:
    headers = acting_as.headers or access.impersonation
    return replace(access, impersonation=headers, again=again)


async def _of_context(files: Files, context: str) -> Access:
    cluster, user = files.cluster(context), files.user(context)
    try:
        if plain_user.is_plain(user):
            return plain_user.access(cluster, user)
        authority = cluster.pem(_AUTHORITY)
        sources = (CredentialFile.of(authority),) if isinstance(authority, Path) else ()
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadConfiguration(f"kubeconfig {files.paths} cannot be used: {error}") from error
    from hub import official

    access = await official.with_plugin(
        files.paths,
        context,
        plugin=(user.content.get("exec") or {}).get("command", ""),
        impersonation=impersonation.headers(user.content),
    )
    return replace(access, sources=sources)


def _read(file: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"kubeconfig {file} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise BadConfiguration(f"kubeconfig {file} is not YAML") from error
    if not isinstance(document, dict):
        raise BadConfiguration(f"kubeconfig {file} is empty or not a kubeconfig")
    return document

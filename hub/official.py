"""Credentials obtained through the official Kubernetes client.

It runs credential plugins, refreshes the tokens of cloud providers that a kubeconfig names, and
reads the service account of a pod. Loading it takes longer than most commands run
(docs/decisions/0030), so import this module only where it is needed.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from kubernetes.aio import config
from kubernetes.aio.client import Configuration
from kubernetes.aio.config.incluster_config import SERVICE_CERT_FILENAME

from hub.access import Access, CredentialFile, fingerprint, tls
from hub.credentials import Authorization, Renewal, fixed
from hub.errors import BadConfiguration
from hub.impersonation import Headers


def of_pod() -> Access:
    """Return the access to the API server of the pod that this process runs in.

    Raises BadConfiguration.
    """
    configuration = Configuration()
    sources = (CredentialFile.of(Path(SERVICE_CERT_FILENAME)),)
    try:
        config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]
    except (config.ConfigException, OSError) as error:
        raise BadConfiguration(
            f"this looks like a pod, but its service account cannot be used: {error}; "
            "mount a service account token, or set KUBECONFIG"
        ) from error

    async def authorization() -> str:
        # The client rereads the file once a minute.
        return await configuration.get_api_key_with_prefix("BearerToken") or ""

    return replace(_access(configuration, authorization), sources=sources)


async def with_plugin(
    files: str, context: str, *, plugin: str, impersonation: Headers = ()
) -> Access:
    """Return the access to the API server of a context whose credentials come from a program.

    `plugin` is the command in the user's `exec`; empty for an `auth-provider`. Raises
    BadConfiguration.
    """
    configuration = Configuration()
    try:
        loader = await config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=files,
            context=context,
            client_configuration=configuration,
            persist_config=False,
        )
    except (config.ConfigException, OSError, ValueError, TypeError, AttributeError) as error:
        raise BadConfiguration(f"kubeconfig {files} cannot be used: {error}") from error
    token = configuration.api_key.get("BearerToken", "")
    if plugin and not (token or configuration.cert_file):
        # The library has logged the plugin's output, and would continue without credentials.
        raise BadConfiguration(
            f"the kubeconfig's credential plugin {plugin!r} returned no credentials: "
            "run it by hand to see why"
        )
    return _access(configuration, _authorization(loader, token), impersonation)


def _authorization(loader: Any, token: str) -> Authorization:  # noqa: ANN401 - it has no types
    if not hasattr(loader, "exec_plugin_expiry"):
        return fixed(token)

    async def source() -> str:
        await loader.load_from_exec_plugin()
        renewed: str = loader.token
        return renewed

    return Renewal(token, source)


def _access(
    configuration: Configuration, authorization: Authorization, impersonation: Headers = ()
) -> Access:
    host = configuration.host
    authority = _path(configuration.ssl_ca_cert)
    certificate, key = _path(configuration.cert_file), _path(configuration.key_file)
    return Access(
        host=host,
        fingerprint=fingerprint(authority, certificate, key, verify=configuration.verify_ssl),
        tls=tls(
            host,
            authority=authority,
            certificate=certificate,
            key=key,
            verify=configuration.verify_ssl,
        ),
        server_name=configuration.tls_server_name,
        proxy=configuration.proxy,
        authorization=authorization,
        impersonation=impersonation,
    )


def _path(named: str | None) -> Path | None:
    return Path(named) if named else None

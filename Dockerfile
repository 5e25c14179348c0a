# One image for workers, agents and the command line: `docker build --tag fleetgate .`
#
# The first stage installs exactly the versions in uv.lock and verifies each file's hash. The second
# has no pip, no uv, no compiler and no sources: Debian, its Python, and one virtual environment.

# The same Python that the tests run on. A release pins it by digest: docs/operations/releasing.md.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
ARG UV_VERSION=0.13.8
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv
RUN python3 -m venv /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir "uv==${UV_VERSION}"
# The environment is copied, so nothing in it may be a link into a cache.
ENV UV_PYTHON=/usr/bin/python3 \
    UV_PYTHON_DOWNLOADS=never \
    UV_PROJECT_ENVIRONMENT=/opt/fleetgate \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1
WORKDIR /src
# A separate layer for what changes rarely.
COPY pyproject.toml uv.lock ./
RUN /opt/uv/bin/uv sync --frozen --no-default-groups --extra tracing --no-install-project
COPY . .
RUN /opt/uv/bin/uv sync --frozen --no-default-groups --extra tracing --no-editable

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
    && useradd --uid 65532 --user-group --no-create-home --home-dir /tmp fleetgate
COPY --from=build /opt/fleetgate /opt/fleetgate
ARG VERSION=0.1.0
# A wrong label would be worse than none.
RUN test "$(/opt/fleetgate/bin/fleetgate --version)" = "fleetgate ${VERSION}"
LABEL org.opencontainers.image.title="fleetgate" \
      org.opencontainers.image.description="Roll a change through a fleet of Kubernetes clusters" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# Nothing is written outside /tmp, so the root file system can be read-only.
ENV PATH=/opt/fleetgate/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp
WORKDIR /tmp
# By number, so that Kubernetes can verify that it is not root.
USER 65532:65532
ENTRYPOINT ["fleetgate"]
CMD ["--help"]

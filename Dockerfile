# The service and its clients in one image: docker build -t llr . (docs/deploy.md)
FROM python:3.11.13-slim-bookworm AS base
# Kernels are compiled for this processor, so that they are right for every machine that runs the
# image and give the same bits on each. Any x86-64 of the last ten years will do; elsewhere build
# with --build-arg CPU=generic --build-arg CPU_FEATURES=
ARG CPU=x86-64-v3
ARG CPU_FEATURES=+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave
ENV PATH=/opt/llr/bin:$PATH \
    NUMBA_CPU_NAME=$CPU \
    NUMBA_CPU_FEATURES=$CPU_FEATURES \
    LLR_KERNELS=/opt/llr/kernels \
    PYTHONUNBUFFERED=1

FROM base AS guide
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY constraints.txt zensical.toml ./
RUN python -m venv /opt/guide && /opt/guide/bin/pip install -c constraints.txt zensical
COPY docs docs
COPY bench bench
COPY examples examples
COPY scripts/docs.py scripts/docs.py
RUN /opt/guide/bin/python scripts/docs.py

FROM base AS build
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_CONSTRAINT=/src/constraints.txt
WORKDIR /src
COPY constraints.txt pyproject.toml ./
# Dependencies are a layer of their own: a change of the sources does not install them again.
RUN python -m venv /opt/llr \
    && python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
       extras = p['project']['optional-dependencies']; \
       print(*p['build-system']['requires'], *p['project']['dependencies'], \
             *extras['postgres'], *extras['connect'], sep='\n')" > requirements.txt \
    && /opt/llr/bin/pip install --no-compile --requirement requirements.txt
COPY README.md LICENSE ./
COPY llr llr
COPY service service
COPY clients clients
COPY --from=guide /src/service/llr_service/guide/site service/llr_service/guide/site
# Layers keep whole seconds only, and numba compiles again where a source has another date.
RUN /opt/llr/bin/pip install --no-compile --no-deps --no-build-isolation . \
    && /opt/llr/bin/pip uninstall --yes pip setuptools \
    && find /opt/llr -type f -exec touch --date=2000-01-01 {} +
# outside of /src, whose modules are not the installed ones
WORKDIR /opt/llr
RUN /opt/llr/bin/python -c "import llr; llr.prepare()" \
    && install -d -m 0750 /volumes/llr

FROM base
COPY --from=build /opt/llr /opt/llr
COPY --from=build --chown=10001:10001 /volumes/ /var/lib/
ENV LLR_HOST=0.0.0.0 \
    LLR_PORT=8080 \
    LLR_STORE=sqlite:////var/lib/llr/llr.db
WORKDIR /var/lib/llr
VOLUME /var/lib/llr
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-m", "llr_service.ready"]
USER 10001:10001
CMD ["llr-service"]

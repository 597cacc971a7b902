# docker build -t tropalign .
# docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" tropalign pairs proteins.fa -o all.tsv
FROM python:3.12-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --no-install-recommends -y g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# An image runs on any machine.
RUN python -m pip wheel --no-cache-dir --no-deps -C cmake.define.TROPALIGN_ISAS=all --wheel-dir /wheels .

FROM python:3.12-slim-bookworm
LABEL org.opencontainers.image.title="tropalign" \
      org.opencontainers.image.description="Exact alignment of biological sequences at the speed of the machine it runs on" \
      org.opencontainers.image.licenses="BSD-3-Clause"
COPY --from=build /wheels /wheels
# The report extra draws pictures, parquet, bam and biom are other formats of tables, cluster is for --cluster and its workers,
# serve and postgres are for the server (packaging/server/compose.yaml).
# With a GPU: docker build --build-arg EXTRAS=report,parquet,bam,cluster,serve,postgres,cuda
ARG EXTRAS=report,parquet,bam,biom,cluster,serve,postgres
RUN python -m pip install --no-cache-dir "$(ls /wheels/*.whl)[${EXTRAS}]" \
    && rm -r /wheels \
    && useradd --no-create-home --uid 1000 tropalign \
    && install --directory --owner=1000 --group=1000 --mode=0700 /srv/tropalign
# Whoever --user names can write there: what was compiled for a GPU, and matplotlib's fonts.
ENV HOME=/tmp
USER 1000:1000
WORKDIR /data
ENTRYPOINT ["tropalign"]
CMD ["--help"]

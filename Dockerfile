# docker build -t tropalign . && docker run --rm -v "$PWD:/data" tropalign pairs proteins.fa -o all.tsv
FROM python:3.12-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --no-install-recommends -y g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim-bookworm
LABEL org.opencontainers.image.title="tropalign" \
      org.opencontainers.image.description="Exact alignment of biological sequences at the speed of the machine it runs on" \
      org.opencontainers.image.licenses="BSD-3-Clause"
COPY --from=build /wheels /wheels
# The report extra draws pictures; parquet and bam are other formats of tables.
RUN python -m pip install --no-cache-dir "$(ls /wheels/*.whl)[report,parquet,bam]" \
    && rm -r /wheels \
    && useradd --create-home --uid 1000 tropalign
USER 1000:1000
WORKDIR /data
ENTRYPOINT ["tropalign"]
CMD ["--help"]

# The broker with redis-server, so that `docker run` alone serves; docker-compose.yml gives it a Redis of its
# own container instead. Run it with --stop-timeout 40: the broker drains for up to 10 seconds, and its Redis then
# writes its log for up to 15.

FROM swift:6.3-bookworm AS build
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    libhiredis-dev libssl-dev libcurl4-openssl-dev \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /belfry
# Less what .dockerignore names. The manifest wants the folders of all targets, those of the tests too.
COPY . .
# The C libraries come from the system, Swift's own go into the executable: the image below has no toolchain.
RUN swift build --configuration release --product belfry --static-swift-stdlib \
  && install "$(swift build --configuration release --static-swift-stdlib --show-bin-path)/belfry" /usr/local/bin/

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    libhiredis0.14 libssl3 libcurl4 libstdc++6 redis-server ca-certificates curl tzdata \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --no-create-home --home-dir /var/lib/belfry belfry \
  && install --directory --mode=0700 --owner=belfry --group=belfry /var/lib/belfry
COPY --from=build /usr/local/bin/belfry /usr/local/bin/belfry

USER belfry
WORKDIR /var/lib/belfry
# The secret and, unless a Redis is configured, all notifications.
VOLUME /var/lib/belfry
# In a container the loopback would be reached by nobody; what is published, and to whom, is said where the
# container is run.
ENV BELFRY_LISTEN=0.0.0.0:8080 BELFRY_DATA=/var/lib/belfry
EXPOSE 8080
# Alive, not ready: while Redis is away a broker that is started again is of no more use than one that waits.
# With a certificate it speaks TLS only; whose name that has is not for the container itself to check.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["sh", "-c", "curl -sfo /dev/null http://127.0.0.1:8080/healthz || curl -sfko /dev/null https://127.0.0.1:8080/healthz"]
ENTRYPOINT ["belfry"]
CMD ["serve"]

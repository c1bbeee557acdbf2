# Image of the manager: `docker build -t quartet:0.1.0 .`; for two architectures
# `docker buildx build --platform linux/amd64,linux/arm64 …`. A release passes both bases with their digests:
# `--build-arg BUILD_BASE=node:24-slim@sha256:… --build-arg RUN_BASE=…@sha256:…`.
ARG BUILD_BASE=node:24-slim
ARG RUN_BASE=gcr.io/distroless/nodejs24-debian12:nonroot
# Of the agent: with a shell for its commands.
ARG CONFD_BASE=node:24-slim

# The bundle is the same for all architectures, so it is built on the builder's own.
FROM --platform=$BUILDPLATFORM ${BUILD_BASE} AS build
WORKDIR /src
COPY . .
RUN npx --yes "$(node -p 'require("./package.json").packageManager')" install --frozen-lockfile
RUN node --conditions=quartet-source packages/manager/build.ts \
 && node --conditions=quartet-source packages/confd-agent/build.ts

# Image of the confd agent: `docker build --target confd -t quartet-confd:0.1.0 .`. What a check_cmd calls comes with
# `--build-arg CONFD_PACKAGES=nginx-light` (Debian's packages).
FROM ${CONFD_BASE} AS confd
ARG CONFD_PACKAGES=
RUN [ -z "$CONFD_PACKAGES" ] || { apt-get update && apt-get install -y --no-install-recommends $CONFD_PACKAGES \
 && rm -rf /var/lib/apt/lists/*; }
WORKDIR /app
COPY --from=build /src/packages/confd-agent/dist/quartet-confd.mjs \
     /src/packages/confd-agent/dist/quartet-confd.mjs.map \
     /src/packages/confd-agent/dist/quartet-confd.LICENSES.txt /app/
USER 65532:65532
ENV NODE_ENV=production MALLOC_ARENA_MAX=2
ENTRYPOINT ["node", "--max-semi-space-size=1", "/app/quartet-confd.mjs"]

FROM ${RUN_BASE}
WORKDIR /app
COPY --from=build /src/packages/manager/dist/manager.mjs /src/packages/manager/dist/manager.mjs.map \
     /src/packages/manager/dist/manager.LICENSES.txt /app/
USER 65532:65532
ENV NODE_ENV=production MALLOC_ARENA_MAX=2
# `NODE_OPTIONS=--enable-source-maps` maps stacks to the sources, for 27 MiB more.
# The base has no shell; its Node stands outside PATH.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=4", "/app/manager.mjs"]
CMD ["run"]

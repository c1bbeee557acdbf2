# Image of the manager: `docker build -t quartet:0.1.0 .`; for two architectures
# `docker buildx build --platform linux/amd64,linux/arm64 …`. A release passes both bases with their digests:
# `--build-arg BUILD_BASE=node:24-slim@sha256:… --build-arg RUN_BASE=…@sha256:…`.
ARG BUILD_BASE=node:24-slim
ARG RUN_BASE=gcr.io/distroless/nodejs24-debian12:nonroot

# The bundle is the same for all architectures, so it is built on the builder's own.
FROM --platform=$BUILDPLATFORM ${BUILD_BASE} AS build
WORKDIR /src
COPY . .
RUN npx --yes "$(node -p 'require("./package.json").packageManager')" install --frozen-lockfile
RUN node --conditions=quartet-source packages/manager/build.ts

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

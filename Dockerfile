# crawlnode in a container: compiled once, run without compiler, npm or root. Spiders and settings are mounted at
# /project, or copied there by an image that is built on this one (docs/docker.md).
#
# Debian's slim image rather than Alpine: it is the C library crawlnode is tested on.
ARG NODE=node:20-slim

FROM ${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The package's own `prepare` would build before the sources are here; dependencies need no install scripts.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/bundle.mjs scripts/
COPY src src
RUN node scripts/build.mjs

FROM ${NODE} AS dependencies
WORKDIR /crawlnode
COPY package.json package-lock.json ./
# `prepare` runs here too and would look for the compiler that --omit=dev leaves out.
RUN npm ci --omit=dev --ignore-scripts

FROM ${NODE}
# One arena of malloc for all threads: V8's compilers leave much behind in theirs (docs/performance.md, "Memory").
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
WORKDIR /crawlnode
COPY package.json LICENSE ./
COPY bin/crawlnode.js bin/
COPY config config
COPY --from=dependencies /crawlnode/node_modules node_modules
COPY --from=build /build/dist dist
RUN chmod 755 bin/crawlnode.js \
 && ln -s /crawlnode/bin/crawlnode.js /usr/local/bin/crawlnode \
 && mkdir /project && chown node:node /project
# What V8 compiles of the executable is kept for whoever runs it, with a root file system that is read-only too.
ENV NODE_COMPILE_CACHE=/crawlnode/cache
RUN crawlnode crawl --help > /dev/null && chmod -R a+rX cache
USER node
WORKDIR /project
# Exec form, and node itself: SIGTERM of `docker stop` reaches the process that drains.
ENTRYPOINT ["node", "/crawlnode/bin/crawlnode.js"]
CMD ["--help"]

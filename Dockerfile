# crawlnode in a container: compiled once, run without compiler, npm or root. Spiders and settings are mounted at
# /project, or copied there by an image that is built on this one (docs/guide/deploying.md).
#
# Debian's slim image rather than Alpine: it is the C library crawlnode is tested on.
ARG NODE=node:20-slim

FROM ${NODE} AS build
WORKDIR /crawlnode
COPY package.json package-lock.json ./
# The package's own `prepare` would build before the sources are here; dependencies need no install scripts.
RUN npm ci --omit=dev --ignore-scripts
COPY tsconfig.json ./
COPY scripts/build.mjs scripts/build-state.mjs scripts/
COPY src src
RUN node scripts/build.mjs

FROM ${NODE}
# What a node's memory is bound by (docs/internals/tuning.md, "Memory"), as `--workers` does it for its nodes.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 NODE_OPTIONS=--max-semi-space-size=16
WORKDIR /crawlnode
COPY package.json LICENSE ./
COPY bin/crawlnode.js bin/
COPY config config
COPY --from=build /crawlnode/node_modules node_modules
COPY --from=build /crawlnode/dist dist
RUN chmod 755 bin/crawlnode.js \
 && ln -s /crawlnode/bin/crawlnode.js /usr/local/bin/crawlnode \
 && mkdir /project && chown node:node /project
# With Node 22 and later, compiled code is part of the image, and so is there with a root file system that is read-only too. Node
# keeps it for each user id, so the user who crawls makes it.
ENV NODE_COMPILE_CACHE=/crawlnode/cache
RUN mkdir --mode=700 cache && chown node:node cache
USER node
RUN node -e "Promise.all(fs.readdirSync('/crawlnode/dist/chunks').map((name) => import('/crawlnode/dist/chunks/' + name)))"
WORKDIR /project
# Exec form, and node itself: SIGTERM of `docker stop` reaches the process that drains.
ENTRYPOINT ["node", "/crawlnode/bin/crawlnode.js"]
CMD ["--help"]

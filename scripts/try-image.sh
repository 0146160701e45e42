#!/bin/sh
# Build the image of the Dockerfile, and crawl with it: scripts/try-image.sh (as root, on Debian or Ubuntu).
#
# It needs no Docker and no registry of images: mmdebstrap makes a base image of Debian's packages and this machine's Node, and buildah
# builds on it and runs it. It proves that each step of the Dockerfile works, that the image crawls as the user "node" on a root
# file system that this user cannot write, that process 1 gets SIGTERM and ends with its work given back, and that nothing else is left
# running. Without the tools it says which are missing, and ends with 0.
set -eu
cd "$(dirname "$0")/.."

for tool in buildah mmdebstrap node npm; do
  command -v "$tool" >/dev/null || { echo "try-image: skipped: $tool is not installed (apt-get install buildah mmdebstrap)"; exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo 'try-image: skipped: it needs root'; exit 0; }

base=localhost/node:20-slim
image=localhost/crawlnode
work=$(mktemp -d)
container=
site=
cleanup() {
  [ -z "$site" ] || kill "$site" 2>/dev/null || true
  [ -z "$container" ] || buildah rm "$container" >/dev/null 2>&1 || true
  buildah rmi "$image" "$base" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

echo "try-image: a base image of Debian and Node $(node --version)"
mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$work/root"
mkdir -p "$work/root/usr/local/bin" "$work/root/usr/local/lib/node_modules"
cp "$(command -v node)" "$work/root/usr/local/bin/node"
cp -r "$(npm root --global)/npm" "$work/root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
chroot "$work/root" useradd --create-home --uid 1000 node
container=$(buildah from scratch)
buildah add --quiet "$container" "$work/root" / >/dev/null
buildah commit --quiet "$container" "$base" >/dev/null
buildah rm "$container" >/dev/null
container=

echo 'try-image: the image of the Dockerfile'
# What this machine needs to reach the registry of npm packages: its certificates and the settings of npm.
set -- --volume /etc/ssl/certs:/etc/ssl/certs:ro
for file in "${HOME}/.npmrc:/root/.npmrc" /usr/etc/npmrc:/usr/local/etc/npmrc; do
  [ ! -e "${file%%:*}" ] || set -- "$@" --volume "$file:ro"
done
buildah bud --quiet --isolation chroot --network host --build-arg "NODE=$base" "$@" --tag "$image" . >/dev/null

echo 'try-image: a crawl with it'
mkdir -p "$work/project/spiders"
cat >"$work/project/crawlnode.yaml" <<'YAML'
ALLOW_PRIVATE_ADDRESSES: true
ROBOTSTXT_OBEY: false
DOWNLOAD_DELAY: 0.05
YAML
cat >"$work/project/spiders/pages.ts" <<'TS'
import { type Response, Spider } from 'crawlnode';
export default class Pages extends Spider {
  name = 'pages';
  startUrls = [`http://127.0.0.1:${process.env.SITE_PORT}/1`];
  *parse(response: Response) {
    yield { url: response.url };
    yield* response.followAll('a', this.parse);
  }
}
TS
chown -R 1000:1000 "$work/project"
node -e '
  const site = require("node:http").createServer(({ url }, answer) => {
    const page = Number(url.slice(1));
    answer.setHeader("content-type", "text/html");
    answer.end(page < 60 ? `<a href="/${page + 1}">next</a>` : "the end");
  });
  site.listen(0, "127.0.0.1", () => console.log(site.address().port));
  setTimeout(() => process.exit(), 300_000).unref();
' >"$work/port" &
site=$!
while [ ! -s "$work/port" ]; do sleep 0.1; done
container=$(buildah from "$image")
crawl="exec node /crawlnode/bin/crawlnode.js crawl pages --exit-when-done -o items.jsonl"
in_image() {
  buildah run --isolation chroot --network host --user node --env "SITE_PORT=$(cat "$work/port")" \
    --volume "$work/project:/project" "$container" -- sh -c "$1"
}
in_image 'touch /crawlnode/x' 2>/dev/null && { echo 'try-image: FAILED: the user node can write to /crawlnode'; exit 1; }

# The first run is ended by SIGTERM in the middle, the second goes on where it stopped.
in_image "$crawl & echo \$! >/project/pid; wait" >"$work/first.log" 2>&1 &
run=$!
while [ "$(cat "$work/project/items.jsonl" 2>/dev/null | wc -l)" -lt 10 ]; do sleep 0.1; done
started=$(date +%s)
kill -TERM "$(cat "$work/project/pid")"
wait "$run" || true
drained=$(($(date +%s) - started))
first=$(wc -l <"$work/project/items.jsonl")
in_image "$crawl" >"$work/second.log" 2>&1 || { cat "$work/second.log"; echo 'try-image: FAILED: the second run'; exit 1; }
items=$(sort -u "$work/project/items.jsonl" | wc -l)
all=$(wc -l <"$work/project/items.jsonl")
left=$(pgrep -cf '^node /crawlnode/bin/crawlnode.js crawl pages' || true)
echo "try-image: SIGTERM after $first pages, drained in $drained s; then $items of 60 pages, $((all - items)) twice, $left processes left"
[ "$items" -eq 60 ] && [ "$all" -eq 60 ] && [ "$first" -lt 60 ] && [ "$left" -eq 0 ] || { echo 'try-image: FAILED'; exit 1; }
echo "try-image: ok ($(buildah images --format '{{.Size}}' "$image" | head -n 1))"

#!/usr/bin/env bash
# Builds the testbed into a cache outside the checkout, unless the binary for
# this very source is already there, and prints its path on stdout.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
cache=${ROLEWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rolewright}
kubernetes=v1.36.3

# Every file that takes part in the build, with its path.
hash=$(
    cd "$here"
    find . -type f ! -name '*_test.go' \( -name '*.go' -o -name go.mod -o -name go.sum -o -name build.sh \) -print0 |
        LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-16
)
binary=$cache/testbed-$hash

mkdir -p "$cache"
exec 9>"$cache/testbed.lock"
if [ ! -x "$binary" ]; then
    flock 9
fi
if [ ! -x "$binary" ]; then
    rm -f "$cache"/testbed-*.tmp.* # of builds that were killed
    echo "building testbed: about six minutes when Go's build cache is cold" >&2
    version=k8s.io/component-base/version
    temporary=$binary.tmp.$$
    trap 'rm -f "$temporary"' EXIT
    (
        cd "$here"
        CGO_ENABLED=0 go build -p 2 -trimpath -o "$temporary" -ldflags "-s -w \
            -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=36" . >&2
    )
    mv "$temporary" "$binary"
fi

# Keep this binary and the one before it: another checkout may still run that.
touch "$binary"
ls -t "$cache" | grep -E '^testbed-[0-9a-f]{16}$' | tail -n +3 | while read -r old; do
    rm -f "$cache/$old"
done

echo "$binary"

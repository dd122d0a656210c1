#!/usr/bin/env bash
# Builds a program of ours around somebody's Go code into a cache outside the
# checkout, unless the binary for this very source is already there, and prints
# its path on stdout. `build.sh` builds testbed itself, `build.sh crossplane`
# Crossplane's RBAC manager, with custom resource definitions in a folder
# `BINARY.crds` beside it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
cache=${ROLEWRIGHT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rolewright}
name=${1:-testbed}
kubernetes=v1.36.3

case $name in
testbed)
    module=$here
    cost="about six minutes"
    version=k8s.io/component-base/version
    flags="-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=36"
    ;;
crossplane)
    module=$here/crossplane
    cost="about three minutes"
    flags="-s -w"
    ;;
*)
    echo "error: there is no program \`$name\` to build; hint: testbed or crossplane" >&2
    exit 1
    ;;
esac

# Every file that takes part in the build, with its path.
hash=$(
    cd "$module"
    find . "$here/build.sh" -path ./crossplane -prune -o -type f ! -name '*_test.go' \
        \( -name '*.go' -o -name go.mod -o -name go.sum -o -name build.sh \) -print0 |
        LC_ALL=C sort -z | xargs -0 sha256sum | sed "s|$here/||" | sha256sum | cut -c 1-16
)
binary=$cache/$name-$hash

# Files of modules that tests read, named after their module and folder there.
definitions() {
    local label=$1 path=$2 pattern=$3 folder file
    folder=$(cd "$module" && go list -m -f '{{.Dir}}' "$path")
    mkdir -p "$temporary.crds/$label"
    (cd "$folder" && find . -type f -path "$pattern" -print0) | while IFS= read -r -d '' file; do
        install -m 644 "$folder/$file" "$temporary.crds/$label/$(tr / - <<<"${file#./}")"
    done
}

mkdir -p "$cache"
exec 9>"$cache/$name.lock"
if [ ! -x "$binary" ]; then
    flock 9
fi
if [ ! -x "$binary" ]; then
    rm -rf "$cache/$name"-*.tmp.* "$binary.crds" # of builds that were killed
    echo "building $name: $cost when Go's build cache is cold" >&2
    temporary=$binary.tmp.$$
    trap 'rm -rf "$temporary" "$temporary.crds"' EXIT
    (cd "$module" && CGO_ENABLED=0 go build -p 2 -trimpath -o "$temporary" -ldflags "$flags" . >&2)
    if [ "$name" = crossplane ]; then
        definitions crossplane github.com/crossplane/crossplane/v2 './cluster/crds/*.yaml'
        definitions ocm open-cluster-management.io/api '*.crd.yaml'
        mv "$temporary.crds" "$binary.crds"
    fi
    mv "$temporary" "$binary"
fi

# Keep this binary and the one before it: another checkout may still run that.
touch "$binary"
ls -t "$cache" | grep -E "^$name-[0-9a-f]{16}\$" | tail -n +3 | while read -r old; do
    rm -rf "${cache:?}/$old" "${cache:?}/$old.crds"
done

echo "$binary"

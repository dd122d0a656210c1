#!/usr/bin/env bash
# Vets and tests the testbed with the flags of build.sh, so that both share Go's
# build cache: without them the first run compiles Kubernetes again.
set -euo pipefail

cd "$(dirname "$0")"
export CGO_ENABLED=0
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
    echo "not formatted: $unformatted" >&2
    exit 1
fi
go vet -p 2 -trimpath ./...
go test -p 2 -trimpath "$@" ./...

cd crossplane
go vet -p 2 -trimpath .

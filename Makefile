# Names for the things one does here; the work is in cargo, `cargo xtask` and testbed/build.sh. `make` alone lists them.

# macOS still ships make 3.81, which would run each line of a recipe in a shell of its own.
ifeq ($(filter oneshell,$(.FEATURES)),)
$(error this Makefile needs GNU make 3.82 or later; hint: `brew install make`, then `gmake`)
endif

.DEFAULT_GOAL := help
.NOTPARALLEL:
.ONESHELL:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Seconds for each fuzz target, decisions for `make oracle`, rows for `make bench`, arguments for `make run`.
T ?= 60
N ?= 1000000
ONLY ?=
ARGS ?= up

CARGO_FUZZ := 0.13.2

# Tells the suites where Kubernetes' own code is: ROLEWRIGHT_TESTBED, given by the user or built where Go is present.
define find_testbed
if ! command -v go >/dev/null && [ "$${CI:-}" = true ]; then
    echo "error: there is no Go, and with CI=true nothing may be skipped" >&2
    exit 1
fi
if [ -z "$${ROLEWRIGHT_TESTBED:-}" ] && command -v go >/dev/null; then
    ROLEWRIGHT_TESTBED=$$(testbed/build.sh)
    export ROLEWRIGHT_TESTBED
fi
endef

# The same for Crossplane's RBAC manager: ROLEWRIGHT_CROSSPLANE.
define find_crossplane
if [ -z "$${ROLEWRIGHT_CROSSPLANE:-}" ] && command -v go >/dev/null; then
    ROLEWRIGHT_CROSSPLANE=$$(testbed/build.sh crossplane)
    export ROLEWRIGHT_CROSSPLANE
fi
endef

# For targets that mean nothing without it.
define need_testbed
$(find_testbed)
if [ -z "$${ROLEWRIGHT_TESTBED:-}" ]; then
    echo "error: \`make $@\` compares with Kubernetes' own code and needs Go, or ROLEWRIGHT_TESTBED" >&2
    exit 1
fi
endef

.PHONY: run
run: ## Run rolewright; ARGS="--help" passes other arguments than `up`
	cargo run --release -- $(ARGS)

.PHONY: test
test: ## Run every test that this machine can run, and say what is skipped
	@if [ -n "$${KUBEBUILDER_ASSETS:-}" ]; then
	    for program in kube-apiserver etcd; do
	        if [ ! -x "$$KUBEBUILDER_ASSETS/$$program" ]; then
	            echo "error: KUBEBUILDER_ASSETS is \`$$KUBEBUILDER_ASSETS\`, which has no \`$$program\`" >&2
	            exit 1
	        fi
	    done
	fi
	$(find_testbed)
	$(find_crossplane)
	if [ -z "$${ROLEWRIGHT_CROSSPLANE:-}" ]; then
	    echo "skipped, because there is no Go: the peers suite (Crossplane's RBAC manager on our server)"
	fi
	if [ -z "$${ROLEWRIGHT_TESTBED:-}" ]; then
	    echo "skipped, because there is no Go: the oracle suites (our answers against Kubernetes' own code)"
	    if [ -n "$${KUBEBUILDER_ASSETS:-}" ]; then
	        echo "not skipped: the real API server suites; they use KUBEBUILDER_ASSETS"
	    else
	        echo "skipped, because there is no Go: the real API server suites (or set KUBEBUILDER_ASSETS)"
	    fi
	fi
	if [ -z "$${ROLEWRIGHT_TESTBED:-}" ] && ! command -v kubectl >/dev/null; then
	    echo "skipped, because there is neither Go nor kubectl: the tours of docs, the five commands of \`up\`, its screens, and \
	what is seen of it while it runs"
	fi
	cargo test --workspace --all-features
	if command -v go >/dev/null; then
	    testbed/test.sh
	else
	    echo "skipped, because there is no Go: the testbed's own tests"
	fi

.PHONY: bench
bench: ## Measure beside Kubernetes' own code; ONLY=name runs the rows with that text in their name
	@$(find_testbed)
	if [ -z "$${ROLEWRIGHT_TESTBED:-}" ]; then
	    echo "skipped, because there is no Go: the peer's side of every row"
	fi
	cargo xtask bench $(if $(ONLY),'$(ONLY)')

.PHONY: oracle
oracle: ## Compare N random decisions with Kubernetes' own authorizer
	@$(need_testbed)
	ROLEWRIGHT_ORACLE_DECISIONS=$(N) cargo test -p rolewright-testkit --release --test oracle -- --nocapture

.PHONY: mutants
mutants: ## Plant mistakes into the engine and require that the tests catch each; ONLY=name plants one
	@$(need_testbed)
	cargo xtask mutants $(if $(ONLY),--only '$(ONLY)')

.PHONY: fuzz
fuzz: ## Fuzz every target for T seconds with the installed nightly
	@if ! cargo +nightly --version >/dev/null; then
	    echo "error: fuzzing needs a nightly toolchain; hint: \`rustup toolchain install nightly\`" >&2
	    exit 1
	fi
	if ! cargo fuzz --version >/dev/null 2>&1; then
	    cargo install cargo-fuzz --version $(CARGO_FUZZ) --locked
	fi
	cd fuzz
	for target in $$(cargo +nightly fuzz list); do
	    echo "== $$target"
	    cargo +nightly fuzz run "$$target" -- -max_total_time=$(T)
	done

.PHONY: gen
gen: ## Refresh the facts about Kubernetes, and the code and pages that are made
	cargo xtask gen

.PHONY: fmt
fmt: ## Format everything
	@cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	if command -v gofmt >/dev/null; then gofmt -w testbed; fi

.PHONY: lint
lint: fetch fmt-check clippy fuzz-check doc tidy check-each gen-check ## Everything that CI checks before the tests

# The steps of `make lint`, one by one; .ci/run calls them by these names.
.PHONY: fetch fmt-check clippy fuzz-check doc tidy check-each gen-check
fetch:
	cargo fetch --locked
fmt-check:
	@cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	if command -v gofmt >/dev/null; then
	    unformatted=$$(gofmt -l testbed)
	    if [ -n "$$unformatted" ]; then
	        printf 'not formatted; run `make fmt`:\n%s\n' "$$unformatted" >&2
	        exit 1
	    fi
	fi
clippy:
	cargo clippy --workspace --all-targets --all-features -- -D warnings
# A workspace of its own, which shares what is built already.
fuzz-check:
	cargo check --locked --manifest-path fuzz/Cargo.toml --no-default-features --target-dir "$${CARGO_TARGET_DIR:-target}"
doc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features
tidy:
	cargo xtask tidy
check-each:
	cargo xtask check-each
gen-check:
	cargo xtask gen --check

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

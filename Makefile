# Every job by one word. `make test` is what CI runs.
CARGO ?= cargo
.PHONY: test-fleet test-s3 check-fleet quickstart build test test-libtorch fmt lint soak gnugo kill-match laws bench-rules \
	bench-search bench-parallel fuzz store-accept store-speed move-runs

## Build in release mode and run the main job: 6×6 self-play training from an empty folder.
quickstart: build
	./target/release/tengen loop --config configs/quickstart.toml

build:
	$(CARGO) build --release --locked -p tengen-cli

## Formatting, lints, tests, docs.
test: fmt lint
	$(CARGO) test --workspace --locked
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

## The feature `libtorch` on the CPU: fetches LibTorch (0.9 GB), builds beside the default build, which
## shares all crates with it that don't know of LibTorch, tests.
## One selection of packages for both commands, so that nothing is built twice.
LIBTORCH_TESTS = --locked -p tengen-network -p tengen-trainer -p tengen-cli --features libtorch
test-libtorch:
	set -e; eval "$$(scripts/libtorch.sh cpu)"; \
	$(CARGO) clippy $(LIBTORCH_TESTS) --all-targets -- -D warnings; \
	$(CARGO) test $(LIBTORCH_TESTS) --lib --bins --test devices

fmt:
	$(CARGO) fmt --all -- --check

lint:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

## Fifty random kill -9s of a running loop, the store checked after each (minutes).
soak: build
	python3 scripts/kill_soak.py --binary target/release/tengen --kills 50

## Everything that the fleet is judged by: ten minutes of kills, freezes and crashes, of an open transaction
## and of fuzzing side by side; sleepers, full disks, two matchmakers, forgeries (needs PostgreSQL's programs).
test-fleet:
	scripts/fleet/test_fleet.sh

## Networks in a bucket, the feature `s3`: against a server that misbehaves, and a real S3 (moto's, from PyPI).
test-s3:
	set -e; MOTO_SERVER="$$(scripts/moto.sh)"; export MOTO_SERVER; \
	$(CARGO) clippy --locked -p tengen-blob --features s3 --all-targets -- -D warnings; \
	$(CARGO) test --locked -p tengen-blob --features s3

## The deployment files of scripts/fleet, with whatever programs are here to check them (minutes).
check-fleet: build
	scripts/fleet/check.sh target/release/tengen

## One game each at 5×5 and 9×9 against GNU Go (Debian package gnugo).
gnugo: build
	python3 scripts/gnugo_game.py --binary target/release/tengen --size 5
	python3 scripts/gnugo_game.py --binary target/release/tengen --size 9

## A match killed twenty times ends with the games of one left alone.
kill-match: build
	python3 scripts/kill_match.py --binary target/release/tengen --kills 20

## The rules' laws on 100,000 random games of each rule set, one set after another; deep perft.
## LAWS=chinese takes the tests with that in their name alone.
laws:
	$(CARGO) test --release --locked -p tengen-rules --test rules -- --ignored --nocapture --test-threads 1 $(LAWS)

## Speed of the rules and of the search, by processor time, with signatures.
bench-rules:
	$(CARGO) run --release --locked -p tengen-rules --example speed

bench-search:
	$(CARGO) test --release --locked -p tengen-search --test speed -- --ignored --nocapture

## One search on two threads beside two searches (needs two idle cores to tell).
bench-parallel:
	$(CARGO) test --release --locked -p tengen-analysis --test parallel -- --ignored --nocapture

## Ten minutes of fuzzing for each reader of bytes from elsewhere (needs `cargo install cargo-fuzz`).
## Paths are whole because the sessions of `gtp` run in a folder of their own.
fuzz:
	cd fuzz && for target in $$(ls fuzz_targets | sed 's/\.rs$$//'); do \
		mkdir -p corpus/$$target && \
		RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --sanitizer none $$target \
			$$PWD/corpus/$$target $$PWD/seeds/$$target -- -max_total_time=600 -timeout=60 \
			$$(ls $$PWD/dict/$$target.dict 2>/dev/null | sed 's/^/-dict=/') || exit 1; \
	done

## What a PostgreSQL server of its own takes from eight workers a second, and how long leases take beside a
## transaction open for ten minutes.
store-accept:
	$(CARGO) run --release --locked -p tengen-store --features test-server --example store_accept

## What appending and reading games costs in a file.
store-speed:
	$(CARGO) run --release --locked -p tengen-store --example store_speed

## A hundred thousand games from a file to a server, and from a server to a file.
move-runs:
	$(CARGO) test --release --locked -p tengen-store --test contract -- --ignored --nocapture hundred_thousand

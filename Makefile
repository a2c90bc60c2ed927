# Every job by one word. `make test` is what CI runs.
CARGO ?= cargo
.PHONY: quickstart build test fmt lint doc soak gnugo

## Build in release mode and run the main job: 6×6 self-play training from an empty folder.
quickstart: build
	./target/release/tengen loop --config configs/quickstart.toml

build:
	$(CARGO) build --release --locked -p tengen-cli

## Formatting, lints, tests, docs.
test: fmt lint
	$(CARGO) test --workspace --locked
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

fmt:
	$(CARGO) fmt --all -- --check

lint:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

## Fifty random kill -9s of a running loop, the store checked after each (minutes).
soak: build
	python3 scripts/kill_soak.py --binary target/release/tengen --kills 50

## One game each at 5×5 and 9×9 against GNU Go (Debian package gnugo).
gnugo: build
	python3 scripts/gnugo_game.py --binary target/release/tengen --size 5
	python3 scripts/gnugo_game.py --binary target/release/tengen --size 9

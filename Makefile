# Every target prepares the machine first (tools/setup; well under a second when it is prepared).
.PHONY: build test playthrough test-peers wheel install uninstall quickstart bench soak fuzz format lint lint-all clean
SHELL := /bin/bash
BUILD ?= build
ARGS ?=
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_mtime,include_file_ctime

build:
	@tools/build $(BUILD)

test: build
	@tools/run_tests $(BUILD)

# Writes tests/journeys/playthrough/sample.txt anew: the life of a sample, which a test compares.
playthrough: build
	@$(BUILD)/tests/journeys/playthrough/playthrough $(BUILD)/src/gym/referee/tritonsmith-referee \
		tests/journeys/playthrough/sample.txt --write

# Trainers and clients of others (TRL, SkyRL, verifiers, MCP, OpenEnv, openai), pinned from PyPI, drive the gym.
test-peers: build
	@tools/test_peers $(BUILD)

# dist/tritonsmith-VERSION-py3-none-linux_x86_64.whl: the program and the Python package.
wheel: build
	@tools/wheel $(BUILD)

# The program, the library with which it reads Parquet, its completion for bash and its man page (docs/install.md).
PREFIX ?= $(HOME)/.local
parquet = lib/libtritonsmith_parquet.so
bash_completion = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tritonsmith
man_page = $(DESTDIR)$(PREFIX)/share/man/man1/tritonsmith.1
install: build
	@install -D $(BUILD)/tritonsmith $(DESTDIR)$(PREFIX)/bin/tritonsmith
	@[ ! -e $(BUILD)/$(parquet) ] || install -D $(BUILD)/$(parquet) $(DESTDIR)$(PREFIX)/$(parquet)
	@mkdir -p $(dir $(bash_completion)) $(dir $(man_page))
	@$(BUILD)/tritonsmith completion bash >$(bash_completion)
	@$(BUILD)/tritonsmith completion man >$(man_page)
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/tritonsmith"

uninstall:
	@rm -f $(DESTDIR)$(PREFIX)/bin/tritonsmith $(DESTDIR)$(PREFIX)/$(parquet) $(bash_completion) $(man_page)

quickstart: build
	@$(BUILD)/tritonsmith quickstart $(ARGS)

bench: build
	@bench/run $(BUILD)

# 20,000 jobs while the gym's processes are killed at random.
soak: build
	@python3 tests/soak.py $(BUILD)/tritonsmith --jobs 20000 --rare 500 --pause 8 --batch 16 --backend evaluate $(ARGS)

# Each fuzz target for so many seconds.
SECONDS_EACH ?= 60
fuzz:
	@tools/fuzz $(SECONDS_EACH)

format: build
	@tools/lint format

# What CI checks: formatting, folder rules, that the benchmarks compile, clang-tidy and sanitizers on the folders without torch.
lint: build
	@tools/lint quick $(BUILD)

lint-all: build
	@tools/lint all $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan build-fuzz

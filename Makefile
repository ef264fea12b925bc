# Every target prepares the machine first (tools/setup; well under a second when it is prepared).
.PHONY: build test quickstart bench format lint lint-all clean
SHELL := /bin/bash
BUILD ?= build
ARGS ?=
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_mtime,include_file_ctime

build:
	@tools/build $(BUILD)

test: build
	@tools/run_tests $(BUILD)

quickstart: build
	@$(BUILD)/tritonsmith quickstart $(ARGS)

bench: build
	@bench/run $(BUILD)

format: build
	@tools/lint format

# What CI checks: formatting, folder rules, clang-tidy and sanitizers on the folders without torch.
lint: build
	@tools/lint quick $(BUILD)

lint-all: build
	@tools/lint all $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan

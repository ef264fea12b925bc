#!/usr/bin/env python3
"""Measures how long imports of large data sets take, and how much memory.

    python bench/dataset_import.py

It writes a Parquet file with KernelBook's columns and as many rows, and a JSON array of 500 MB, into a temporary folder.
Then `tasks import` reads both, without and with the look at the first 1,000 tasks. It needs the Python that has pyarrow.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import kernelbook  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=ROOT / "build" / "tritonsmith")
    parser.add_argument("--rows", type=int, default=18_000, help="of the Parquet file")
    parser.add_argument("--megabytes", type=int, default=500, help="of the JSON array")
    return parser.parse_args()


def row(number, code_bytes=8_000):
    """A row with KernelBook's columns, whose two texts of Triton code have about so many bytes each."""
    code = "".join(f"tmp{line} = tl.load(in_ptr{line % 7} + ({number} + {line}))\n" for line in range(code_bytes // 40))
    repository = f"owner/repository{number % 900}"
    return kernelbook.row(number, original_triton_code=code, triton_code=code + f"\nclass Scaled{number}New:\n    pass\n",
                          repo_name=repository, repo_link=f"https://example.org/{repository}", stars=number % 5000, sha=f"{number:040x}")


def write_parquet(path, count):
    writer = None
    for first in range(0, count, 1000):
        table = pa.Table.from_pylist([row(i) for i in range(first, min(first + 1000, count))])
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def write_array(path, size):
    with open(path, "w") as file:
        number = 0
        while file.tell() < size:
            file.write(("," if number else "[") + json.dumps(row(number)) + "\n")
            number += 1
        file.write("]")
    return number


def measured(binary, path, out, *options):
    """Runs the import. Returns its seconds and its largest memory in MB."""
    start = time.monotonic()
    pid = os.posix_spawn(binary, [binary, "tasks", "import", path, "--out", out, *options], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"the import of {path} failed")
    return time.monotonic() - start, usage.ru_maxrss / 1000


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as held:
        folder = pathlib.Path(held)
        parquet, array = folder / "kernelbook.parquet", folder / "array.json"
        write_parquet(parquet, options.rows)
        count = write_array(array, options.megabytes * 1_000_000)
        for path, rows in ((parquet, options.rows), (array, count)):
            for words in (("--no-lint",), ()):
                seconds, megabytes = measured(options.binary, path, folder / "out.jsonl", *words)
                print(f"{path.name} ({path.stat().st_size / 1e6:.0f} MB, {rows:,} rows) {' '.join(words)}: {seconds:.1f} s, {megabytes:.0f} MB",
                      flush=True)


if __name__ == "__main__":
    main()

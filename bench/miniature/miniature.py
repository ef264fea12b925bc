#!/usr/bin/env python3
"""The papers in miniature: what each method adds, on a small model from scratch and the built-in curriculum.

    bench/miniature/miniature.py --out runs/miniature                    the first cells, one seed, at most 9.5 minutes
    bench/miniature/miniature.py --out runs/miniature                    again: goes on (exit code 75: not done yet)
    bench/miniature/miniature.py --out runs/miniature --cells all --seeds 1 2 3

Makes supervised data that holds honest, lazy, sham, mistaken and mended answers in stated shares, warms one model up,
then runs every cell (cells.py) from it: reinforcement learning, evaluation on held-out tasks, and what was paid for
judged again. Everything lies in --out; a call that is killed or out of time is gone on with by the next. Leaves
summary.md and report.html. Without a GPU the cells that need timings are left out, and said to be.
"""
import argparse
import pathlib
import platform
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cells import CELLS, FIRST, FULL, TINY
from phases import OutOfTime, Study
from summary import summarise

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_DONE = 75  # EX_TEMPFAIL: call again


def find_gpu():
    if not shutil.which("nvidia-smi"):
        return None
    asked = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                           capture_output=True, text=True)
    return asked.stdout.strip().splitlines()[0] if asked.returncode == 0 and asked.stdout.strip() else None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="where everything goes")
    parser.add_argument("--binary", default=ROOT / "build" / "tritonsmith")
    parser.add_argument("--cells", nargs="+", default=FIRST, help=f"all, or some of: {', '.join(CELLS)}")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--seconds", type=float, default=570, help="after which this call stops, to be gone on with")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"], help="where the model computes")
    parser.add_argument("--tiny", action="store_true", help="seconds on a CPU: every part runs, nothing is measured")
    return parser.parse_args()


def main():
    options = arguments()
    gpu = find_gpu()
    names = list(CELLS) if options.cells == ["all"] else options.cells
    unknown = [name for name in names if name not in CELLS]
    if unknown:
        sys.exit(f"no such cell: {', '.join(unknown)}; there are {', '.join(CELLS)}")
    left_out = [name for name in names if CELLS[name].needs_timing and gpu is None]
    names = [name for name in names if name not in left_out]
    study = Study(options.binary, options.out, TINY if options.tiny else FULL, options.device, gpu is not None,
                  time.monotonic() + options.seconds)
    is_done = True
    try:
        with study.gym():
            study.run(names, options.seeds)
    except OutOfTime:
        is_done = False
    facts = [f"command: `{' '.join(sys.argv)}`", f"machine: {gpu or 'no GPU'}, {platform.machine()}",
             f"date: {time.strftime('%Y-%m-%d')}"]
    print(summarise(study, names, left_out, options.seeds, facts))
    if not is_done:
        print("out of time: the same command goes on from here")
        return NOT_DONE
    study.write_report()
    print(f"summary: {study.out / 'summary.md'}\nreport: {study.out / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Studies the papers in miniature: what each method adds to a small model from scratch on the built-in curriculum.

    bench/miniature/miniature.py --out runs/miniature                    the first cells, one seed, at most 9.5 minutes
    bench/miniature/miniature.py --out runs/miniature                    a second call goes on (exit code 75: not done)
    bench/miniature/miniature.py --out runs/miniature --cells all --seeds 1 2 3
    bench/miniature/miniature.py --out runs/miniature --pack study.tar.gz          on machines that keep nothing
    bench/miniature/miniature.py --out runs/miniature --rejudge-only     only the part that needs no GPU, elsewhere

It makes supervised data with honest, lazy, sham, mistaken and repaired answers in stated shares and warms one model up.
From this model it runs every cell (cells.py): reinforcement learning, and evaluation on held-out tasks. After all cells it
judges the rewarded kernels again. Everything lies in --out. If a call is killed or runs out of time, the next call goes on.
It writes summary.md and report.html. Without a GPU it leaves out the cells that need timings, and says so.
"""
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cells import CELLS, FIRST, FULL, TINY
from command import NOT_DONE, chosen_scale, find_gpu, parser_for
from pack import pack, unpack
from phases import OutOfTime, Study
from summary import summarise

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    parser = parser_for(__doc__, FULL, "cells.py")
    parser.add_argument("--binary", default=ROOT / "build" / "tritonsmith")
    parser.add_argument("--cells", nargs="+", default=FIRST, help=f"all, or some of: {', '.join(CELLS)}")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--rejudge-only", action="store_true",
                        help="only judge again what finished cells were paid for, and sum up: needs no GPU")
    return parser.parse_args()


def chosen_cells(options, has_gpu):
    """Returns the cells that this machine can run, and those that it cannot."""
    names = list(CELLS) if options.cells == ["all"] else options.cells
    unknown = [name for name in names if name not in CELLS]
    if unknown:
        sys.exit(f"no such cell: {', '.join(unknown)}; there are {', '.join(CELLS)}")
    left_out = [name for name in names if CELLS[name].needs_timing and not has_gpu and not options.rejudge_only]
    return [name for name in names if name not in left_out], left_out


def stop(*_):
    raise OutOfTime


def run(study, names, options):
    """Runs the phases. Returns whether all are done."""
    try:
        with study.gym():
            if options.rejudge_only:
                study.rejudge_all(names, options.seeds)
            else:
                study.run(names, options.seeds)
    except OutOfTime:
        return False
    return True


def main():
    began = time.monotonic()
    options = arguments()
    scale, gpu = chosen_scale(options, FULL, TINY), find_gpu()
    names, left_out = chosen_cells(options, gpu is not None)
    if options.pack and options.pack.exists() and not options.out.exists():
        unpack(options.pack, options.out)
    study = Study(options.binary, options.out, scale, options.device, gpu, began + options.seconds)
    signal.signal(signal.SIGTERM, stop)
    is_done = False
    try:
        is_done = run(study, names, options)
    finally:  # also after a failure, because the records show its cause
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        text = summarise(study, names, left_out, options.seeds, f"command: `{' '.join(sys.argv)}`")
        if is_done:
            study.write_report()
        if options.pack:
            print(f"packed: {pack(options.out, options.pack) / 2**20:.1f} MiB in {options.pack}", flush=True)
    print(text)
    if not is_done:
        print("out of time: the same command goes on from here")
        return NOT_DONE
    print(f"summary: {study.out / 'summary.md'}\nreport: {study.out / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

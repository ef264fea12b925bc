#!/usr/bin/env python3
"""A larger model teaches a smaller one: students with and without distillation before reinforcement learning.

    bench/miniature/larger_teacher.py build --out runs/teacher                      no limit of time
    bench/miniature/larger_teacher.py build --out runs/teacher --seconds 580        exit code 75: the same call goes on
    bench/miniature/larger_teacher.py build --out runs/tiny --tiny                  every part on a CPU; measures nothing

PROGRAMS is a build folder, or a folder that holds `tritonsmith` and `tritonsmith-referee`. The script trains a teacher on the
quickstart's curriculum by `sft` and `rl`, and asks it for kernels by `tasks distil`. Students of a twentieth of its size then
go through the arms of arms.py, for each seed. Each model is evaluated on held-out tasks. Everything lies in --out; it
writes summary.md. No phase needs a GPU, but on a CPU the full size takes hours.
"""
import functools
import os
import pathlib
import signal
import sys
import time

sys.path[:0] = [str(folder) for folder in pathlib.Path(__file__).resolve().parents[:2]]  # also bench/

from arms import ARMS, FULL, TINY
from command import NOT_DONE, chosen_scale, find_gpu, parser_for
from distil_phases import Distillation
from distil_summary import summarise
from pack import distillation_files, pack, unpack
from phases import OutOfTime
from programs import program


def arguments():
    parser = parser_for(__doc__, FULL, "arms.py")
    parser.add_argument("programs", type=pathlib.Path, help="a folder that holds the programs")
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS, help="which arms (default: all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], help="seeds of the students (default: 1 2 3)")
    return parser.parse_args()


def run(study, options):
    """Runs the phases. Returns whether all are done."""
    try:
        with study.gym():
            study.run(options.arms, options.seeds)
    except OutOfTime:
        return False
    return True


def main():
    began = time.monotonic()
    options = arguments()
    os.environ.setdefault("TRITONSMITH_REFEREE", program(options.programs, "tritonsmith-referee"))
    if options.pack and options.pack.exists() and not options.out.exists():
        unpack(options.pack, options.out)
    study = Distillation(program(options.programs, "tritonsmith"), options.out, chosen_scale(options, FULL, TINY), options.device,
                         find_gpu(), began + options.seconds)
    signal.signal(signal.SIGTERM, lambda *_: setattr(study, "stop_at", time.monotonic()))
    is_done = False
    try:
        is_done = run(study, options)
    finally:  # also after a failure, because the records show its cause
        text = summarise(study, options.arms, options.seeds, f"command: `{' '.join(sys.argv)}`")
        if options.pack:
            files = functools.partial(distillation_files, models_needed=study.models_needed(options.arms, options.seeds))
            print(f"packed: {pack(options.out, options.pack, files) / 2**20:.1f} MiB in {options.pack}", flush=True)
    print(text)
    if not is_done:
        print("out of time: the same command goes on from here")
        return NOT_DONE
    print(f"summary: {study.out / 'summary.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

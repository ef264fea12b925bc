"""What the commands of both studies share: options, sizes, the machine's GPU and the exit code for "not done"."""
import argparse
import dataclasses
import math
import pathlib
import shutil
import subprocess
import sys

NOT_DONE = 75  # EX_TEMPFAIL: the caller should call again


def find_gpu():
    if not shutil.which("nvidia-smi"):
        return None
    asked = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                           capture_output=True, text=True)
    return asked.stdout.strip().splitlines()[0] if asked.returncode == 0 and asked.stdout.strip() else None


def numbers_of(scale):
    return [field.name for field in dataclasses.fields(scale) if isinstance(getattr(scale, field.name), int)]


def parser_for(doc, scale, file):
    """Returns a parser with the options of every study. `file` holds the sizes of `scale`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path, help="where everything goes")
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help=f"stop after so long, with exit code {NOT_DONE}; the same call continues (default: no limit)")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"], help="where the models compute")
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE",
                        help="pack what is needed to continue into FILE, FILE.1 and so on at the end, and begin from "
                             "there if --out does not exist")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", dest="scale",
                        help=f"another size than {file}'s: " + ", ".join(numbers_of(scale)))
    parser.add_argument("--tiny", action="store_true", help="a minute on a CPU: every part runs, nothing is measured")
    return parser


def chosen_scale(options, full, tiny):
    numbers, changed = numbers_of(full), {}
    for each in options.scale:
        name, _, number = each.partition("=")
        if name not in numbers or not number.isdigit():
            sys.exit(f"--set {each}: one of {', '.join(numbers)} and a whole number, as in --set {numbers[0]}=120")
        changed[name] = int(number)
    return dataclasses.replace(tiny if options.tiny else full, **changed)

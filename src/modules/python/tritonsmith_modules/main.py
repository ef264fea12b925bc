"""Reads a question from standard input and writes the task, or why there is none, to standard output, both as JSON."""

import json
import sys

from .problem import Problem
from .task import make_task


def main():
    sys.setrecursionlimit(20000)  # syntax trees and chains of definitions are walked by recursion
    question = json.load(sys.stdin)
    try:
        answer = make_task(question)
    except Problem as problem:
        answer = {"error": str(problem)}
    except RecursionError:
        answer = {"error": f"{question['target']}: its code is nested too deeply to be joined into one file"}
    json.dump(answer, sys.stdout)

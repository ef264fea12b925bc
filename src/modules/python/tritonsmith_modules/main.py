"""Reads a question from standard input and writes the answer to standard output, both as JSON.

It makes a task of the user's code, or reads the constructor's arguments of a task's own source."""

import json
import sys

from .constructor import constructor_arguments
from .problem import Problem
from .task import make_task


def main():
    sys.setrecursionlimit(20000)  # syntax trees and chains of definitions are walked by recursion
    question = json.load(sys.stdin)
    try:
        answer = constructor_arguments(question["source"]) if "source" in question else make_task(question)
    except Problem as problem:
        answer = {"error": str(problem)}
    except RecursionError:
        answer = {"error": f"{question.get('target', 'the module')}: its code is nested too deeply to be joined into one file"}
    json.dump(answer, sys.stdout)

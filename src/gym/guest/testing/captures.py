"""Captures and their plans, for tests of captures and of the compiler."""

from tritonsmith_guest.capture import candidate_request, capture
from tritonsmith_guest.warm import warm

import candidate_modules

warm()


def capture_task(source):
    return capture({"role": "task", "source": source, "path": "task.py", "target": "sm_90"})


TASK_PLAN = capture_task(candidate_modules.TASK)["plan"]


def capture_candidate(source):
    return capture(candidate_request(TASK_PLAN, source, "candidate.py"))


def good_plan(name):
    return capture_candidate(candidate_modules.GOOD[name])["plan"]


def launches(plan):
    return [step["launch"] for step in plan["steps"] if "launch" in step]

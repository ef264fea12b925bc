"""Problem: says in one line why a module cannot become a task, and what to do about it."""


class Problem(Exception):
    pass

"""Answers questions about the process as an ordinary one would, and answers them otherwise in each call of forward.

No kernel's work depends on the time of day, on a file's name or on how many threads the CPU has. A file that branches on such
answers shows itself, because its calls then differ. The answers are plausible: each could be given by some ordinary process.
Only a candidate's own code gets them.
"""

import datetime
import logging
import os
import sys
import threading
import time

import torch

from .guards import is_called_by_candidate

DAY_AND_MORE = 86_400 + 2_222.618  # seconds between calls: many calls see all hours, and all fractions of a second
THREADS, DEVICES, REFERENCES = (8, 1, 64, 4), (1, 8, 2, 4), (3, 9, 5, 31)
BLOCKS = (412_000, 96_000, 2_310_000)
SEEDS = (67_280_421_310_721, 42, 0, 2**63 - 25)  # the first one is that of a process that nobody seeded
FRAMES = (0, 61, 9, 34)  # so many callers a program has above forward, beyond the guest's own
FIRST_PROCESS, PROCESSES = 7_213, 4_194_304  # Linux gives numbers below the second one
LOADS = ((1.4, 1.2, 1.1), (0.0, 0.01, 0.05), (37.2, 30.8, 24.1))
# What the module is called, and where it lies: by the call of forward, after the first one.
NAMES = (("model_new", "/opt/app/model_new.py"), ("__main__", "/home/user/main.py"), ("kernel", "/home/user/kernels/kernel.py"))

_call = 0            # the number of the call in progress, from 0
_asks = False        # whether a candidate has asked what has another answer in each call
_asks_versions = False  # whether it asked for a tensor's version


def begin_capture():
    global _call, _asks, _asks_versions
    _call, _asks, _asks_versions = 0, False, False


def asks():
    """Whether a candidate's code asked for what has another answer in each call, such as the time. Only many calls then show what
    it makes of the answer."""
    return _asks


def note_question():
    global _asks
    _asks = True


def share(step):
    """Returns a number from 0 to 1, another one in each call. Many calls see numbers near every such number."""
    return (0.31 + _call * step) % 1.0


def choice(answers):
    return answers[_call % len(answers)]


def note_version():
    global _asks_versions
    _asks_versions = True
    note_question()


def asks_versions():
    """Whether a candidate's code asked how often a tensor was written in place."""
    return _asks_versions


def set_versions(tensors, versions):
    torch._C._autograd._unsafe_set_version_counter(tuple(tensors), tuple(versions))


def version_of_inputs():
    """Returns how often an input was written in place since it was made. Those of the first call are new."""
    return 1 if _call and _call % 4 == 0 else _call * _call


def process_number():
    note_question()
    return 2 + (FIRST_PROCESS + _call * 1_618_033) % (PROCESSES - 2)


def pool_size():
    """Returns how many threads run operators beside each other. A process sets that as it likes."""
    note_question()
    return 1 + (7 + _call * 31) % 256


def from_below(function, frames=None):
    """Calls the function as deep in the stack as a program may. Each call of forward has its own depth."""
    frames = choice(FRAMES) if frames is None else frames
    return function() if frames == 0 else from_below(function, frames - 1)


class in_call:
    """While the context is open, answers are those of a call with this number, in a module with these names."""

    def __init__(self, number, names):
        self.number, self.names = number, names

    def __enter__(self):
        global _call
        _call = self.number
        self.before = {name: self.names[name] for name in ("__name__", "__file__") if name in self.names}
        if self.number and len(self.before) == 2:
            self.names["__name__"], self.names["__file__"] = NAMES[self.number % len(NAMES)]

    def __exit__(self, *error):
        global _call
        _call = 0
        self.names.update(self.before)


def ahead():
    """Returns by how many seconds a candidate's clocks are ahead."""
    note_question()
    return _call * DAY_AND_MORE


def varied(module, name, answers):
    """Answers a candidate's question by the number of the call, and everybody else's as before."""
    real = getattr(module, name)

    def answer(*args, **kwargs):
        return answers[_call % len(answers)] if is_called_by_candidate() else real(*args, **kwargs)
    setattr(module, name, answer)


def asked(module, name, answer):
    """Answers a candidate's question by a function, and everybody else's as before."""
    real = getattr(module, name)
    setattr(module, name, lambda *args, **kwargs: answer() if is_called_by_candidate() else real(*args, **kwargs))


class ProcessOfLog:
    """Replaces LogRecord.process."""

    def __get__(self, record, kind=None):
        if record is None:
            return self
        return process_number() if is_called_by_candidate() else vars(record).get("process")

    def __set__(self, record, value):
        vars(record)["process"] = value


def shift_clocks():
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        shift_clock(name, 1.0)
        shift_clock(f"{name}_ns", 1_000_000_000)
    shift_calendar("localtime", time.localtime, 0)
    shift_calendar("gmtime", time.gmtime, 0)
    shift_calendar("ctime", time.ctime, 0)
    shift_calendar("strftime", lambda text, seconds, strftime=time.strftime, parts=time.localtime: strftime(text, parts(seconds)), 1)
    datetime.datetime, datetime.date = shifted_date(datetime.datetime), shifted_date(datetime.date)


def shift_clock(name, unit):
    real = getattr(time, name)

    def clock():
        return real() + type(unit)(ahead() * unit) if is_called_by_candidate() else real()
    setattr(time, name, clock)


def shift_calendar(name, of_seconds, count, now=time.time):
    """`of_seconds(*args, seconds)` answers for a moment. A caller who names no moment gives `count` arguments."""
    real = getattr(time, name)

    def answer(*args):
        if len(args) == count and is_called_by_candidate():
            return of_seconds(*args, now() + ahead())
        return real(*args)
    setattr(time, name, answer)


class DateType(type):
    """The type of a class that replaces one of datetime's. Dates that others made are dates, too."""

    def __instancecheck__(cls, value):
        return isinstance(value, cls.__mro__[1])


def shifted_date(real):
    def shifted(asked):
        def answer(cls, *args, **kwargs):
            now = asked(*args, **kwargs)
            return now + datetime.timedelta(seconds=ahead()) if is_called_by_candidate() else now
        return classmethod(answer)
    names = [name for name in ("now", "utcnow", "today") if hasattr(real, name)]
    return DateType(real.__name__, (real,), {name: shifted(getattr(real, name)) for name in names})


class Flags(tuple):
    """Replaces sys.flags: the flags of a Python that was started without options."""
    USUAL = {"isolated": 0, "no_user_site": 0, "dont_write_bytecode": 0, "ignore_environment": 0, "no_site": 0, "safe_path": False,
             "hash_randomization": 1, "optimize": 0, "utf8_mode": 0, "dev_mode": False, "debug": 0, "verbose": 0, "quiet": 0}

    def __getattr__(self, name):
        if name in self.USUAL:
            return self.USUAL[name]
        return getattr(_flags, name)

    def __repr__(self):
        return repr(_flags)


_flags, _getrefcount = sys.flags, sys.getrefcount


def references_of(value):
    """Replaces sys.getrefcount. The recorder has references of its own to each tensor."""
    return REFERENCES[_call % len(REFERENCES)] if isinstance(value, torch.Tensor) else _getrefcount(value) - 1


def install():
    varied(torch, "get_num_threads", THREADS)
    varied(os, "getloadavg", LOADS)
    varied(sys, "getallocatedblocks", BLOCKS)
    varied(torch.cuda, "device_count", DEVICES)
    varied(torch.accelerator, "device_count", DEVICES)
    asked(torch, "get_num_interop_threads", pool_size)
    varied(torch.cuda, "initial_seed", SEEDS)
    varied(torch.cuda.random, "initial_seed", SEEDS)
    for module, name in ((os, "getpid"), (os, "getppid"), (threading, "get_native_id")):
        asked(module, name, process_number)
    logging.LogRecord.process = ProcessOfLog()
    sys.getrefcount = references_of
    shift_clocks()
    sys.flags = Flags(Flags.USUAL.get(name, getattr(_flags, name)) for name in (
        "debug", "inspect", "interactive", "optimize", "dont_write_bytecode", "no_user_site", "no_site", "ignore_environment",
        "verbose", "bytes_warning", "quiet", "hash_randomization", "isolated", "dev_mode", "utf8_mode", "warn_default_encoding",
        "safe_path", "int_max_str_digits"))

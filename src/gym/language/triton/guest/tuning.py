"""Plays a tuning: calls what a file gives an autotuner for the time of its tuning, as the autotuner would.

Triton tunes in the first launch, and only there calls the file's own benchmark, and the hooks of the autotuner around each run. A
capture has all configs as choices, and runs none. A file may find out whether a tuning took place, by such a call or by what an
autotuner keeps of it. So the first launch of each key plays the tuning. Nothing of it is recorded.
"""

import contextlib

import triton
from triton.runtime.autotuner import Autotuner

from . import guards, process_answers
from .errors import CaptureStop, first_stop, forget_stop

QUANTILES = (0.5, 0.2, 0.8)
SECONDS = (0.41, 17.9, 0.052, 3.7)  # that a tuning takes, by the call
UNANSWERED = ("not_captured", "data_dependent", "unsupported_launch")  # what only a run could answer


def key_of(tuner, kwargs):
    """Returns what Triton keeps a chosen config by."""
    named = {name: value for name, value in {**tuner.nargs, **kwargs}.items() if name in tuner.arg_names}
    types = [str(value.dtype) for value in named.values() if hasattr(value, "dtype")]
    return tuple([named[key] for key in tuner.keys if key in named] + types)


def timings_of(configs):
    """Returns times of which those of another config are the best in each call."""
    best = process_answers.choice(configs)
    return {config: [0.25 if config is best else 0.5 + position / 64] * 3 for position, config in enumerate(configs)}


def play(launches, tuner, configs, kwargs):
    """Plays the tuning of a launch if it is the first one with its key. `tuner.nargs` are the arguments by name."""
    if not isinstance(tuner, Autotuner) or len(tuner.configs) < 2:
        return
    key = key_of(tuner, kwargs)
    if key in tuner.cache and (tuner, key) not in launches.tuned:
        return  # the file chose a config itself
    timings = timings_of(configs)
    if key not in tuner.cache:
        launches.tuned.add((tuner, key))
        for config in configs:
            run_by_benchmark(launches, tuner, config, kwargs)
        with ignored(launches):
            tuner.pre_hook({**tuner.nargs, **kwargs, **configs[0].all_kwargs()}, reset_only=True)
    tuner.cache[key] = min(timings, key=timings.get)
    tuner.configs_timings = timings


def run_by_benchmark(launches, tuner, config, kwargs):
    named = {**tuner.nargs, **kwargs, **config.all_kwargs()}

    def run():
        if config.pre_hook:
            config.pre_hook(named)
        tuner.pre_hook(named)
        tuner.post_hook(named, exception=None)
    benchmark = tuner._do_bench
    with ignored(launches):
        if is_given(benchmark):
            benchmark(run, quantiles=QUANTILES)
        else:
            run()


def is_given(benchmark):
    """Whether the file gives the benchmark. Triton's own would measure."""
    return benchmark is not None and getattr(benchmark, "__module__", None) != Autotuner.__module__


@contextlib.contextmanager
def ignored(launches):
    """Records nothing. What ends here, because no time can be measured, ends no capture. Tampering does."""
    earlier, collected, launches.collected = first_stop(), launches.collected, []
    try:
        with launches.recorder.pause():
            yield
    except CaptureStop as stopped:
        if stopped.error_class not in UNANSWERED:
            raise
    except Exception:  # the file's own: a tuning would end in it, too
        pass
    finally:
        launches.collected = collected
        stopped = first_stop()
        if earlier is None and stopped is not None and stopped.error_class in UNANSWERED:
            forget_stop()


class BenchTime:
    """Is Autotuner.bench_time, which an autotuner has once it has tuned."""

    def __get__(self, tuner, kind=None):
        if tuner is None or not tuner.cache:
            raise AttributeError("'Autotuner' object has no attribute 'bench_time'")
        return process_answers.choice(SECONDS)


def hooks_of_launches():
    """Returns Triton's own hooks around every launch and around the loading of a kernel."""
    found = ("launch_enter_hook", "launch_exit_hook", "kernel_load_start_hook", "kernel_load_end_hook")
    return [getattr(triton.knobs.runtime, name) for name in found]


def refuse_hooks(known):
    """Ends the capture if the file put a hook among Triton's own. A capture launches nothing, so no hook is called."""
    if any(now is not before or now.calls for now, before in zip(hooks_of_launches(), known)):
        guards.stop("hooks Triton's launches, which calls code that no capture sees")


def install():
    Autotuner.bench_time = BenchTime()

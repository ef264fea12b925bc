"""warm() does once, before the zygote forks, everything that each guest would otherwise do for the first time."""

import gc
import importlib
import logging
import warnings

from tritonsmith_guest import bytecode
from tritonsmith_guest.languages import LANGUAGES

# Importing these modules imports everything that warm() needs from the environment.
LARGE_MODULES = ["torch", "torch._dynamo", *(name for language in LANGUAGES for name in language.MODULES)]


def preload(bytecode_folder, names=LARGE_MODULES):
    """Imports the large modules, while the process may still write bytecode."""
    warnings.simplefilter("ignore")
    with bytecode.kept_in(bytecode_folder, names[0]):
        for name in names:
            importlib.import_module(name)


def warm(thorough=True):
    """Imports torch and the kernel languages, installs the virtual GPU, and captures samples once. Never makes a CUDA context."""
    import torch
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)  # torch logs a whole traceback if a candidate's shapes do not fit
    torch.set_num_threads(1)
    from . import guards, own_operators, process_answers, recorder, virtual_gpu, whole_operators
    recorder.install()
    virtual_gpu.install()
    whole_operators.install()
    for language in LANGUAGES:
        language.install()
    own_operators.install()
    process_answers.install()
    guards.install()
    # Almost all that the imports made stays, and takes the collector a tenth of the start to search. Collect only what follows.
    gc.freeze()

    def capture_samples():
        for language in LANGUAGES if thorough else ():
            language.warm_up(captured)
    guards.know_originals(capture_samples)
    gc.collect()
    gc.freeze()


def captured(request):
    from .capture import capture
    answer = capture(request)
    if "error" in answer:
        raise RuntimeError(f"a capture that must work failed: {answer['error']['message']} ({answer['error']['line']})")
    return answer["plan"]

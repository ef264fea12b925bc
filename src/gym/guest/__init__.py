"""The package `tritonsmith_guest` holds the Python that the gym runs in guests and compile workers.

The zygote and its guests use `warm` and `capture`. Compile workers use `compile_jobs`. None of these makes a CUDA context.
`python_reference` is the Python reference: it runs trusted tasks beside a referee, on the referee's GPU.
"""

import os

# torch and numpy read these variables when they are imported. A zygote must have one thread and must see no GPU.
if os.environ.get("TRITONSMITH_PYTHON_REFERENCE") != "1":
    os.environ.update(CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

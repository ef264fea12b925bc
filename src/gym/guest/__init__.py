"""What the gym runs in its guests and compile workers, as the package `tritonsmith_guest`.

`warm` and `capture` serve the zygote and its guests, `compiler` the compile workers: none of them makes a CUDA context.
`reference_shell` runs trusted tasks beside a referee, on its GPU.
"""

import os

# Read when torch and numpy are imported: a zygote must have one thread only, and no eyes for a GPU.
if os.environ.get("TRITONSMITH_REFERENCE_SHELL") != "1":
    os.environ.update(CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

"""What the gym runs in its guests and compile workers, as the package `tritonsmith_guest`.

`warm` and `capture` serve the zygote and its guests, `compiler` the compile workers. Nothing here makes a CUDA context.
"""

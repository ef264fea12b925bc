"""Makes a Triton solution of a PyTorch module from what torch.compile's Inductor writes for it, on a machine without a GPU.

    inductor.py       runs Inductor over the module, on fake tensors and the virtual GPU, and takes its source text
    shortcuts.py      leaves out what torch would do for nobody
    decompositions.py writes operators that Inductor leaves to torch as others
    kernels.py        turns each generated kernel into a plain @triton.jit function; tidy.py makes its body readable
    layout.py         lays the text out
    sharing.py        makes one kernel of several that differ only in their numbers
    calls.py          turns the generated launches and operators into the body of a forward
    products.py       has matrix products as Triton, for solutions that leave torch no arithmetic
    solution.py       puts the module's own constructor, the kernels and the forward into one file
    given.py          rewrites a solution of a data set that uses Inductor's runtime, from its text alone; given_calls.py and
                      given_kernels.py read its functions, and given_pair.py is what a guest runs for it
    pair.py           is what a guest runs: one request, one answer

It runs in a sandboxed guest, because the module is foreign code.
"""

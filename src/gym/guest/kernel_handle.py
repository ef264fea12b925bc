"""Replacements for a tensor while Triton specialises a launch, and for the compiled kernel that a launch returns."""

from types import SimpleNamespace

from .errors import CaptureStop

# These options change the compiled code, and a plan holds them. All other options must keep their default.
CARRIED = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Pointer:
    """Holds what Triton's specialisation reads from a tensor: its type and the alignment of its first element."""

    def __init__(self, tensor):
        self.dtype = tensor.dtype
        self.address = 256 + tensor.storage_offset() * tensor.element_size()

    def data_ptr(self):
        return self.address


class Code(dict):
    """Holds a kernel's code by stage. The guest stops at Triton IR. A compile worker makes the later stages after the
    capture, so nothing can read them here."""

    LATER = ("ttgir", "llir", "ptx", "cubin", "sass")

    def __missing__(self, stage):
        if stage in self.LATER:
            raise CaptureStop("not_captured", f"a kernel's {stage} cannot be read by a capture, which ends at Triton IR (ttir)")
        raise KeyError(f"Unknown key: '{stage}'")

    def get(self, stage, default=None):
        return self[stage] if stage in self or stage in self.LATER else default


class KernelHandle:
    """A launch or `warmup` returns this. Registers and shared memory are nominal, because nothing is compiled yet."""

    def __init__(self, launches, function, index, names):
        self.launches, self.function, self.index, self.names = launches, function, index, names
        kernel = launches.kernels[index]
        self.name, self.asm = kernel["name"], Code(ttir=kernel["ttir"])
        self.metadata = SimpleNamespace(shared=0, **{key: kernel[key] for key in ("name", *CARRIED) if key in kernel})
        self.n_regs, self.n_spills, self.n_max_threads = 32, 0, 1024

    def _init_handles(self): pass

    def __getitem__(self, grid):
        """Returns a function that launches this specialisation. Like Triton's, it takes all arguments by position."""
        def launch(*args):
            given = dict(zip(self.function.arg_names, args))
            return self.launches.launch(self, grid, [given[name] for name in self.names], given)
        return launch

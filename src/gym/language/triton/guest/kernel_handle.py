"""Replacements for a tensor while Triton specialises a launch, and for the compiled kernel that a launch returns."""

import functools
import hashlib

from triton.compiler import compiler

from .errors import CaptureStop
from .private import keeper
from .triton_driver import VirtualDriver

# These options change the compiled code, and a plan holds them. All other options must keep their default.
CARRIED = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion")


keep_launch, launch_of = keeper()  # a handle's function launch(grid, given), which a candidate must not reach


class Pointer:
    """Holds what Triton's specialisation reads from a tensor: its type and the alignment of its first element."""

    def __init__(self, tensor, dtype):
        self.dtype = dtype
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


class Metadata:
    """What Triton says about a compiled kernel, of which it has a copy. Only the shared memory needs a part of the compiler."""

    def __init__(self, kernel, target):
        self._kernel, self.target, self.warp_size, self.cluster_dims = kernel, target, target.warp_size, (1, 1, 1)
        self.name, self.num_warps, self.num_stages, self.num_ctas = (
            kernel[key] for key in ("name", "num_warps", "num_stages", "num_ctas"))
        self.maxnreg, self.tmem_size, self.global_scratch_size = kernel.get("maxnreg"), 0, 0

    @functools.cached_property
    def shared(self):
        from .compiler import shared_bytes
        try:
            return shared_bytes({**self._kernel, "target": f"sm_{self.target.arch}"})
        except Exception as error:  # the passes raise many kinds
            raise CaptureStop("compile_error", f"{type(error).__name__}: {error}") from None


class CompiledKernel(compiler.CompiledKernel):
    """A launch or `warmup` returns this in place of Triton's own class of that name. Registers are nominal, because only ptxas counts them, and no guest runs it."""

    n_regs, n_spills, n_max_threads = 32, 0, 1024
    module = function = 1  # handles of the CUDA driver: anything but None
    packed_metadata = ()

    def __init__(self, kernel, launch):
        """`kernel` is a copy of the plan's. `launch(grid, values)` launches it with arguments by position."""
        keep_launch(self, launch)
        self.name, self.asm = kernel["name"], Code(ttir=kernel["ttir"])
        self.metadata = Metadata(kernel, VirtualDriver().get_current_target())
        self.hash = hashlib.sha256(kernel["ttir"].encode()).hexdigest()

    def _init_handles(self): pass
    def launch_metadata(self, grid, stream, *args): return None
    def result(self): return self

    def __getitem__(self, grid):
        """Returns a function that launches this specialisation. Like Triton's, it takes all arguments by position."""
        launch = launch_of(self)
        return lambda *args, stream=None: launch(grid, args)

    def run(self, grid_0, grid_1, grid_2, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook, *args):
        return self[grid_0, grid_1, grid_2](*args)

"""Says whether the functions of a file use only what ordinary kernels need: sizes and types of tensors, functions of tensors, launches,
streams, and what the file itself keeps.

Nothing of it counts calls without being seen (kept_state.py). What else a file may use, such as a setting of a library or an object of
one, may count them.
"""

import dis
import types

import torch

from .languages import PACKAGES

MODULES = ("torch", "math", "typing", *PACKAGES)
NAMES = set("""
shape dtype device stride numel size dim ndim contiguous view reshape flatten unsqueeze squeeze t T mT transpose permute expand clone detach to cuda
float half bfloat16 int long bool double data requires_grad is_contiguous is_cuda is_floating_point element_size nelement new_empty new_zeros
new_ones zero_ fill_ copy_ split chunk unbind view_as expand_as narrow select movedim swapaxes itemsize layout
empty empty_like empty_strided zeros zeros_like ones ones_like full full_like arange tensor as_tensor stack cat broadcast_to
broadcast_shapes as_strided
float16 float32 float64 int8 int16 int32 int64 uint8 float8_e4m3fn float8_e5m2 strided contiguous_format channels_last preserve_format
Tensor Size nn functional Module Parameter Buffer Linear LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d
ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding EmbeddingBag ModuleList Sequential init register_buffer register_parameter add_module
no_grad randn rand library ops aten autograd Function apply save_for_backward saved_tensors
weight bias eps running_mean running_var momentum in_features out_features in_channels out_channels kernel_size padding dilation groups
num_groups num_channels num_features normalized_shape elementwise_affine training num_embeddings embedding_dim padding_idx output_padding
cdiv next_power_of_2 language constexpr autotune Config heuristics jit grid
current_stream get_device_properties multi_processor_count get_device_capability is_available
__init__ append extend items keys values get format join startswith endswith
sqrt ceil floor log log2 exp pi inf prod rsqrt pow
kaiming_uniform_ kaiming_normal_ xavier_uniform_ uniform_ normal_ zeros_ ones_ constant_ orthogonal_
num_batches_tracked track_running_stats input_size hidden_size num_layers weight_ih weight_hh bias_ih bias_hh weight_v weight_g
Stream Event stream wait_stream record_stream record record_event wait wait_event synchronize CUDAGraph graph replay
TensorDescriptor from_tensor set_allocator program_id load store kwargs amp autocast compiler is_compiling is_scripting is_tracing
assert_size_stride empty_strided_cuda _empty_strided_cuda _empty_strided_cpu _reinterpret_tensor _cuda_getCurrentRawStream
get_raw_stream raw_current allocate _DeviceGuard set_device run finfo iinfo item tolist
""".split())
# Functions of tensors keep nothing.
NAMES |= {name for home in (torch._C._VariableFunctions, torch.nn.functional, torch.nn) for name in dir(home)
          if not name.startswith("_") and callable(getattr(home, name))}
BUILTINS = set("""super list isinstance len float int zip range tuple max min str enumerate bool abs all any sum dict set print sorted round divmod
pow map reversed slice staticmethod property hasattr type ImportError Exception RuntimeError ValueError TypeError NotImplementedError AssertionError KeyError
IndexError""".split())
MODULES_OWN = vars(torch.nn.Module).keys() | vars(torch.nn.Module()).keys()


def shifts_of_names():
    """Returns, by operation, how many low bits of its argument are flags. The others are the index of a name. This differs from one
    version of Python to the next, so dis is asked about a sample."""
    text = """class Sample(list):
    def sample(self):
        a.b, c.d(), super().e, super().f()"""
    code = compile(text, "sample", "exec").co_consts[0].co_consts
    code = next(each for each in code if isinstance(each, types.CodeType))
    return {each.opcode: next(shift for shift in range(4) if code.co_names[each.arg >> shift:][:1] == (each.argval,))
            for each in dis.get_instructions(code) if each.argval in ("c", "b", "d", "e", "f")}


SHIFTS = shifts_of_names()
GLOBAL, EXTENDED, IMPORT = (dis.opmap[name] for name in ("LOAD_GLOBAL", "EXTENDED_ARG", "IMPORT_NAME"))
OF_SUPER = {code for name, code in dis.opmap.items() if "SUPER" in name}
# Operations that leave a local variable on the stack, with the bits of the argument that say which. Two may load two at once.
LOADED_LAST = {dis.opmap[name]: bits for name, bits in (
    ("LOAD_FAST", -1), ("LOAD_FAST_BORROW", -1), ("LOAD_FAST_LOAD_FAST", 15), ("LOAD_FAST_BORROW_LOAD_FAST_BORROW", 15),
    ("STORE_FAST_LOAD_FAST", 15)) if name in dis.opmap}


def are_usual(functions, names):
    """Whether the functions use only what is usual. `names` are those of their file."""
    return all(is_usual(code, names) for function in functions for code in codes_in(function.__code__))


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def is_usual(code, names):
    text, is_self, more = code.co_code, False, 0
    for operation, low in zip(text[::2], text[1::2]):
        argument, more = more << 8 | low, 0
        if operation == EXTENDED:
            more = argument
            continue
        name = code.co_names[argument >> SHIFTS[operation]] if operation in SHIFTS else None
        if operation == GLOBAL:
            if not (is_usual_value(names[name]) if name in names else name in BUILTINS):
                return False
        elif name is not None:
            is_own = is_self and operation not in OF_SUPER and name not in MODULES_OWN and not name.startswith("__")
            if name not in NAMES and not is_own:
                return False
        elif operation == IMPORT:
            return False
        is_self = operation in LOADED_LAST and argument & LOADED_LAST[operation] == 0
    return True


def is_usual_value(value):
    if isinstance(value, types.ModuleType):
        return value.__name__.split(".")[0] in MODULES
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        home = str(value.__module__)
        return home == "candidate_module" or home.split(".")[0] in (*MODULES, "tritonsmith_guest") and value.__name__ in NAMES
    return True

"""Converts Python values to the values of docs/plan.md, and back."""

import math

import torch

from .errors import CaptureStop

DTYPES = {str(d).removeprefix("torch."): d for d in (
    torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16, torch.int32,
    torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex32, torch.complex64,
    torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
NONE = {"none": True}


def dtype_name(dtype):
    if dtype not in NAMES:
        raise CaptureStop("not_captured", f"tensors of type {dtype} are not supported")
    return NAMES[dtype]


def number(value):
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def integer(value):
    if not -2**63 <= value < 2**63:
        raise CaptureStop("not_captured", "an integer exceeds 64 bits")
    return {"i": value}


def plain_number(value):
    """Returns the number that Python holds for a value of a class that derives from int or float. C reads this number, whatever the
    methods of the class say. Any other value is returned as it is."""
    if type(value) in (int, float, bool):
        return value
    return int.__pos__(value) if isinstance(value, int) else float.__pos__(value) if isinstance(value, float) else value


def encode(value, index_of):
    """Returns a value of the plan. `index_of` returns a tensor's index in the plan."""
    if isinstance(value, torch.Tensor):
        return {"t": index_of(value)}
    if value is None:
        return NONE
    if isinstance(value, bool):
        return {"b": value}
    if isinstance(value, (int, torch.SymInt)):
        return integer(plain_number(value) if isinstance(value, int) else int(value))
    if isinstance(value, float):
        return {"f": number(plain_number(value))}
    if isinstance(value, str):
        return {"s": str.__str__(value)}
    if isinstance(value, (list, torch.Size)):
        return {"list": [encode(item, index_of) for item in value]}
    if isinstance(value, tuple):
        return {"tuple": [encode(item, index_of) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[str(key), encode(item, index_of)] for key, item in value.items()]}
    return encode_rare(value)


def encode_rare(value):
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.device) and value.type in ("cpu", "cuda", "meta"):
        return {"device": value.type}
    if value is torch.strided:
        return {"layout": "strided"}
    if isinstance(value, torch.memory_format):
        return {"memory_format": str(value).removeprefix("torch.")}
    if isinstance(value, complex):
        return {"complex": [number(value.real), number(value.imag)]}
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return encode(value.item(), None)
    raise CaptureStop("not_captured", f"a value of type {type(value).__name__} has no form in a plan")


def decode(value, tensor_of):
    """Returns the Python value. `tensor_of` returns the tensor for an index."""
    (form, inner), = value.items()
    if form == "t":
        return tensor_of(inner)
    if form == "list":
        return [decode(item, tensor_of) for item in inner]
    if form == "tuple":
        return tuple(decode(item, tensor_of) for item in inner)
    if form == "dict":
        return {key: decode(item, tensor_of) for key, item in inner}
    if form == "f":
        return float(inner)
    if form == "none":
        return None
    if form == "complex":
        return complex(float(inner[0]), float(inner[1]))
    if form == "dtype":
        return DTYPES[inner]
    if form == "device":
        return torch.device(inner)
    if form in ("layout", "memory_format"):
        return getattr(torch, inner)
    return inner  # "i", "b", "s"

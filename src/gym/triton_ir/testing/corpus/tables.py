"""The elementwise operations of the corpus: expression, input dtypes and ranges, output dtype. No torch import here."""
from dataclasses import dataclass

FLOATS = ("float32", "float16", "bfloat16", "float64")
INTEGERS = ("int8", "int16", "int32", "int64")


@dataclass
class Entry:
    name: str
    expression: str
    inputs: tuple      # variable names in the expression
    dtypes: tuple      # dtypes of the inputs
    ranges: tuple      # (low, high) of each input
    out: str           # dtype of the output
    tolerance: float = 1.0
    reference: str = ""  # a torch expression over fp64 inputs, if the interpreter lacks the operation or computes it wrongly
    exact: bool = False  # the reference takes the inputs in their own dtype


# name: expression, range; in fp32 and fp64
UNARY = {
    "exp": ("tl.exp(x)", (-4, 4)), "exp2": ("tl.exp2(x)", (-6, 6)), "log": ("tl.log(x)", (0.01, 9)),
    "log2": ("tl.log2(x)", (0.01, 9)), "sqrt": ("tl.sqrt(x)", (0, 9)), "rsqrt": ("tl.rsqrt(x)", (0.1, 9)),
    "sin": ("tl.sin(x)", (-9, 9)), "cos": ("tl.cos(x)", (-9, 9)), "erf": ("tl.erf(x)", (-3, 3)),
    "floor": ("tl.floor(x)", (-9, 9)), "ceil": ("tl.ceil(x)", (-9, 9)), "sigmoid": ("tl.sigmoid(x)", (-6, 6)),
    "sqrt_rn": ("tl.sqrt_rn(x)", (0, 9)),
}
# in all float dtypes
SIMPLE = {
    "neg": "-x", "abs": "tl.abs(x)", "double": "x + x", "square": "x * x", "relu": "tl.maximum(x, 0.0)",
    "affine": "x * 3.0 + 0.5", "where": "tl.where(x > 0, x, x * 0.25)", "clamp": "tl.clamp(x, -0.5, 0.75)",
    "reciprocal_shifted": "1.0 / (x * x + 1.0)", "silu": "x * tl.sigmoid(x.to(tl.float32))",
    "leaky": "tl.where(x >= 0, x, 0.01 * x)", "hardtanh": "tl.minimum(tl.maximum(x, -1.0), 1.0)",
}
BINARY = {
    "add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / (tl.abs(y) + 0.5)", "max": "tl.maximum(x, y)",
    "min": "tl.minimum(x, y)", "select": "tl.where(x < y, x, y * 2)", "less": "(x < y).to(tl.float32)",
    "equal": "(x == y).to(tl.float32)", "not_equal": "(x != y).to(tl.float32)", "greater_equal": "(x >= y).to(tl.float32)",
    "max_nan": "tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)", "min_nan": "tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)",
}
FLOAT32_BINARY = {
    "fma": "tl.fma(x, y, x)", "div_rn": "tl.div_rn(x, y)", "fdiv": "tl.fdiv(x, y)", "remainder": "x % y",
    "rational": "(x + y) / (x * x + 1.0)", "pow_by_exp": "tl.exp(y * tl.log(tl.abs(x) + 0.1))",
    "clamp_by": "tl.clamp(x, -tl.abs(y), tl.abs(y))", "and_mask": "tl.where((x > 0) & (y > 0), x, y)",
    "or_mask": "tl.where((x > 0) | (y > 0), x, y)", "xor_mask": "tl.where((x > 0) ^ (y > 0), x, y)",
    "not_mask": "tl.where(~(x > 0), x, y)",
}
INTEGER_BINARY = {
    "add": "x + y", "sub": "x - y", "mul": "x * y", "and": "x & y", "or": "x | y", "xor": "x ^ y",
    "floor_division": "x // y", "modulo": "x % y", "max": "tl.maximum(x, y)", "min": "tl.minimum(x, y)",
    "less": "(x < y).to(tl.int32)", "equal": "(x == y).to(tl.int32)", "shift_left": "x << (y & 7)",
    "shift_right": "x >> (y & 7)", "select": "tl.where(x > y, x - y, y - x)", "cdiv": "tl.cdiv(x, y)",
    "true_division": "x / y",
}
INTEGER_UNARY = {"neg": "-x", "abs": "tl.abs(x)", "invert": "~x", "square": "x * x"}
# SIMPLE and BINARY as torch expressions. The interpreter cannot compute in bf16, and its maximum returns NaN in cases in
# which the chip's does not.
IN_TORCH = {
    "neg": "-x", "abs": "x.abs()", "double": "x + x", "square": "x * x", "relu": "torch.fmax(x, z)",
    "affine": "x * 3.0 + 0.5", "where": "torch.where(x > 0, x, x * 0.25)",
    "clamp": "torch.fmin(torch.fmax(x, z - 0.5), z + 0.75)", "reciprocal_shifted": "1.0 / (x * x + 1.0)",
    "silu": "x * torch.sigmoid(x.float())", "leaky": "torch.where(x >= 0, x, 0.01 * x)",
    "hardtanh": "torch.fmin(torch.fmax(x, z - 1), z + 1)",
    "add": "x + y", "sub": "x - y", "mul": "x * y", "div": "(x.float() / (y.abs() + 0.5).float())",
    "max": "torch.fmax(x, y)", "min": "torch.fmin(x, y)", "select": "torch.where(x < y, x, y * 2)", "less": "(x < y)",
    "equal": "(x == y)", "not_equal": "(x != y)", "greater_equal": "(x >= y)", "max_nan": "torch.maximum(x, y)",
    "min_nan": "torch.minimum(x, y)",
}
# libdevice: reference in torch, range
LIBDEVICE = {
    "acos": ("torch.acos(x)", (-1, 1)), "acosh": ("torch.acosh(x)", (1, 9)), "asin": ("torch.asin(x)", (-1, 1)),
    "asinh": ("torch.asinh(x)", (-9, 9)), "atan": ("torch.atan(x)", (-9, 9)), "atanh": ("torch.atanh(x)", (-0.9, 0.9)),
    "cbrt": ("torch.sign(x) * torch.abs(x) ** (1 / 3)", (-9, 9)), "ceil": ("torch.ceil(x)", (-9, 9)),
    "cos": ("torch.cos(x)", (-9, 9)), "cosh": ("torch.cosh(x)", (-4, 4)), "cospi": ("torch.cos(math.pi * x)", (-3, 3)),
    "erf": ("torch.erf(x)", (-3, 3)), "erfc": ("torch.erfc(x)", (-3, 3)), "erfinv": ("torch.erfinv(x)", (-0.999, 0.999)),
    "erfcx": ("torch.special.erfcx(x)", (-2, 9)), "exp": ("torch.exp(x)", (-4, 4)), "exp2": ("torch.exp2(x)", (-4, 4)),
    "exp10": ("10 ** x", (-3, 3)), "expm1": ("torch.expm1(x)", (-2, 2)), "floor": ("torch.floor(x)", (-9, 9)),
    "j0": ("torch.special.bessel_j0(x)", (0, 9)), "j1": ("torch.special.bessel_j1(x)", (0, 9)),
    "y0": ("torch.special.bessel_y0(x)", (0.2, 9)), "y1": ("torch.special.bessel_y1(x)", (0.2, 9)),
    "cyl_bessel_i0": ("torch.special.i0(x)", (-5, 5)), "cyl_bessel_i1": ("torch.special.i1(x)", (-5, 5)),
    "lgamma": ("torch.lgamma(x)", (0.2, 9)), "tgamma": ("torch.exp(torch.lgamma(x))", (0.5, 6)),
    "log": ("torch.log(x)", (0.1, 9)), "log10": ("torch.log10(x)", (0.1, 9)), "log1p": ("torch.log1p(x)", (-0.9, 9)),
    "log2": ("torch.log2(x)", (0.1, 9)), "normcdf": ("torch.special.ndtr(x)", (-3, 3)),
    "normcdfinv": ("torch.special.ndtri(x)", (0.01, 0.99)), "nearbyint": ("torch.round(x)", (-9, 9)),
    "rcbrt": ("x ** (-1 / 3)", (0.1, 9)), "rint": ("torch.round(x)", (-9, 9)), "rsqrt": ("torch.rsqrt(x)", (0.1, 9)),
    "round": ("torch.sign(x) * torch.floor(torch.abs(x) + 0.5)", (-9, 9)), "sin": ("torch.sin(x)", (-9, 9)),
    "sinh": ("torch.sinh(x)", (-4, 4)), "sinpi": ("torch.sin(math.pi * x)", (-3, 3)), "sqrt": ("torch.sqrt(x)", (0, 9)),
    "tan": ("torch.tan(x)", (-1, 1)), "tanh": ("torch.tanh(x)", (-4, 4)), "trunc": ("torch.trunc(x)", (-9, 9)),
    "abs": ("torch.abs(x)", (-9, 9)),
}
LIBDEVICE_FAST = {
    "fast_cosf": ("torch.cos(x)", (-3, 3)), "fast_sinf": ("torch.sin(x)", (-3, 3)), "fast_expf": ("torch.exp(x)", (-3, 3)),
    "fast_logf": ("torch.log(x)", (0.1, 9)), "fast_log2f": ("torch.log2(x)", (0.1, 9)), "fast_tanf": ("torch.tan(x)", (-1, 1)),
    "saturatef": ("torch.clamp(x, 0, 1)", (-2, 2)),
}
LIBDEVICE_BINARY = {
    "atan2": ("torch.atan2(x, y)", (-3, 3)), "copysign": ("torch.copysign(x, y)", (-3, 3)),
    "fdim": ("torch.clamp(x - y, min=0)", (-3, 3)), "fmod": ("torch.fmod(x, y)", (0.5, 5)),
    "hypot": ("torch.hypot(x, y)", (-3, 3)), "pow": ("torch.pow(x, y)", (0.2, 3)),
    "remainder": ("x - y * torch.round(x / y)", (0.5, 5)), "rhypot": ("1 / torch.hypot(x, y)", (0.2, 3)),
}
# casts: from, to, range
CAST_TYPES = {"int8": "tl.int8", "int16": "tl.int16", "int32": "tl.int32", "int64": "tl.int64", "uint8": "tl.uint8",
              "uint32": "tl.uint32", "float16": "tl.float16", "bfloat16": "tl.bfloat16", "float32": "tl.float32",
              "float64": "tl.float64", "bool": "tl.int1"}
BITCASTS = (("float32", "int32"), ("int32", "float32"), ("float16", "int16"), ("int16", "float16"), ("bfloat16", "int16"),
            ("int16", "bfloat16"), ("float64", "int64"), ("int64", "float64"))


def float_entries():
    for dtype in ("float32", "float64"):
        for name, (expression, bounds) in UNARY.items():
            if name == "sqrt_rn" and dtype == "float64":
                continue
            yield Entry(f"unary_{name}_{dtype}", expression, ("x",), (dtype,), (bounds,), dtype)
    for dtype in FLOATS:
        for name, expression in SIMPLE.items():
            if name == "silu" and dtype == "float64":
                continue
            reference = IN_TORCH[name] if dtype == "bfloat16" or name in ("relu", "clamp", "hardtanh", "silu") else ""
            yield Entry(f"simple_{name}_{dtype}", expression, ("x",), (dtype,), ((-3, 3),), dtype, 1.0, reference, True)
        for name, expression in BINARY.items():
            reference = IN_TORCH[name] if dtype == "bfloat16" or name in ("max", "min") else ""
            yield Entry(f"binary_{name}_{dtype}", expression, ("x", "y"), (dtype, dtype), ((-3, 3), (-3, 3)), dtype, 1.0, reference, True)
    for name, expression in FLOAT32_BINARY.items():
        yield Entry(f"binary_{name}", expression, ("x", "y"), ("float32", "float32"), ((-3, 3), (0.3, 3)), "float32", 4.0)
    yield Entry("mixed_half_and_float", "x * y + 1.0", ("x", "y"), ("float16", "float32"), ((-3, 3), (-3, 3)), "float32")
    yield Entry("mixed_half_and_brain", "x.to(tl.float32) * y.to(tl.float32)", ("x", "y"), ("float16", "bfloat16"), ((-3, 3), (-3, 3)), "float32")
    yield Entry("mixed_int_and_float", "x * y", ("x", "y"), ("int32", "float32"), ((-90, 90), (-3, 3)), "float32")
    yield Entry("gelu", "0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))", ("x",), ("float32",), ((-4, 4),), "float32")
    yield Entry("gelu_tanh", "0.5 * x * (1.0 + libdevice.tanh(0.79788456 * (x + 0.044715 * x * x * x)))", ("x",),
                ("float32",), ((-4, 4),), "float32", 4.0, "torch.nn.functional.gelu(x, approximate='tanh')")
    yield Entry("mish", "x * libdevice.tanh(tl.log(1.0 + tl.exp(x)))", ("x",), ("float32",), ((-4, 4),), "float32", 4.0,
                "torch.nn.functional.mish(x)")
    yield Entry("softplus", "tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(x)))", ("x",), ("float32",), ((-9, 30),), "float32", 4.0)
    yield Entry("elu", "tl.where(x > 0, x, tl.exp(x) - 1.0)", ("x",), ("float32",), ((-4, 4),), "float32", 4.0)
    yield Entry("tanh_by_sigmoid", "2.0 * tl.sigmoid(2.0 * x) - 1.0", ("x",), ("float32",), ((-4, 4),), "float32", 4.0)


def integer_entries():
    for dtype in INTEGERS:
        for name, expression in INTEGER_BINARY.items():
            out = "int32" if name in ("less", "equal") else "float32" if name == "true_division" else dtype
            yield Entry(f"integer_{name}_{dtype}", expression, ("x", "y"), (dtype, dtype), ((-100, 100), (1, 60)), out)
        for name, expression in INTEGER_UNARY.items():
            yield Entry(f"integer_{name}_{dtype}", expression, ("x",), (dtype,), ((-100, 100),), dtype)
    for name in ("floor_division", "modulo", "shift_right", "less", "max", "min"):
        expression = INTEGER_BINARY[name]
        for dtype in ("uint8", "uint32"):
            out = "int32" if name == "less" else dtype
            yield Entry(f"unsigned_{name}_{dtype}", expression, ("x", "y"), (dtype, dtype), ((0, 250), (1, 60)), out)
    yield Entry("umulhi_int32", "tl.umulhi(x, y)", ("x", "y"), ("uint32", "uint32"), ((0, 2**31), (0, 2**31)), "uint32")
    yield Entry("umulhi_int64", "tl.umulhi(x, y)", ("x", "y"), ("int64", "int64"), ((0, 2**62), (0, 2**62)), "int64")
    yield Entry("negative_division", "x // y", ("x", "y"), ("int32", "int32"), ((-100, 100), (-60, -1)), "int32")
    yield Entry("negative_modulo", "x % y", ("x", "y"), ("int32", "int32"), ((-100, 100), (-60, -1)), "int32")
    yield Entry("overflowing_add", "x + y", ("x", "y"), ("int32", "int32"), ((2**31 - 99, 2**31 - 1), (1, 99)), "int32")
    yield Entry("overflowing_mul", "x * y", ("x", "y"), ("int32", "int32"), ((-2**31, 2**31 - 1), (-2**31, 2**31 - 1)), "int32")


def libdevice_entries():
    for dtype, scale in (("float32", 4.0), ("float64", 100.0)):
        for name, (reference, bounds) in LIBDEVICE.items():
            if "bessel" in reference and dtype == "float64":  # torch's Bessel functions have 8 correct digits
                continue
            yield Entry(f"libdevice_{name}_{dtype}", f"libdevice.{name}(x)", ("x",), (dtype,), (bounds,), dtype, scale, reference)
        for name, (reference, bounds) in LIBDEVICE_BINARY.items():
            yield Entry(f"libdevice_{name}_{dtype}", f"libdevice.{name}(x, y)", ("x", "y"), (dtype, dtype), (bounds, bounds), dtype, scale, reference)
    for name, (reference, bounds) in LIBDEVICE_FAST.items():
        yield Entry(f"libdevice_{name}", f"libdevice.{name}(x)", ("x",), ("float32",), (bounds,), "float32", 10.0, reference)
    yield Entry("libdevice_popc", "libdevice.popc(x)", ("x",), ("int32",), ((0, 2**31 - 1),), "int32", 1.0,
                "torch.tensor([bin(int(i)).count('1') for i in x])")
    yield Entry("libdevice_clz", "libdevice.clz(x)", ("x",), ("int32",), ((0, 2**31 - 1),), "int32", 1.0,
                "torch.tensor([32 - int(i).bit_length() for i in x])")
    yield Entry("libdevice_float2int_rn", "libdevice.float2int_rn(x)", ("x",), ("float32",), ((-99, 99),), "int32", 1.0, "torch.round(x)")
    yield Entry("libdevice_ldexp", "libdevice.ldexp(x, y)", ("x", "y"), ("float32", "int32"), ((-3, 3), (-4, 4)), "float32", 1.0, "x * 2.0 ** y")
    yield Entry("libdevice_isnan", "libdevice.isnan(x).to(tl.int32)", ("x",), ("float32",), ((-3, 3),), "int32", 1.0, "torch.isnan(x).int()")
    yield Entry("libdevice_isinf", "libdevice.isinf(x).to(tl.int32)", ("x",), ("float32",), ((-3, 3),), "int32", 1.0, "torch.isinf(x).int()")


def cast_entries():
    for source in CAST_TYPES:
        for target, written in CAST_TYPES.items():
            if source == target or source == "bool" and target in ("float16", "bfloat16"):
                continue
            low = 0 if "uint" in source + target else -100
            out = "int8" if target == "bool" else target
            expression = f"x.to({written})" if target != "bool" else "x.to(tl.int1).to(tl.int8)"
            reference = "x.to(torch.float64)" if target == "bfloat16" else ""
            yield Entry(f"cast_{source}_to_{target}", expression, ("x",), (source,), ((low, 100),), out, 0.1, reference, True)
    for source, target in BITCASTS:
        bounds = (-3, 3) if source.startswith("float") or source == "bfloat16" else (0, 15000)
        yield Entry(f"bitcast_{source}_to_{target}", f"x.to({CAST_TYPES[target]}, bitcast=True)", ("x",), (source,), (bounds,), target)
    for eighth, written in (("float8_e4m3fn", "tl.float8e4nv"), ("float8_e5m2", "tl.float8e5")):
        for wide in ("float32", "float16", "bfloat16"):
            yield Entry(f"cast_{eighth}_to_{wide}", f"x.to({CAST_TYPES[wide]})", ("x",), (eighth,), ((-9, 9),), wide, 1.0, "x")
            yield Entry(f"cast_{wide}_to_{eighth}", f"x.to({written})", ("x",), (wide,), ((-9, 9),), eighth, 0.01, "x")


def all_entries():
    for entries in (float_entries, integer_entries, libdevice_entries, cast_entries):
        yield from entries()

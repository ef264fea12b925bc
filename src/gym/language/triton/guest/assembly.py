"""Which inline assembly a kernel may hold: instructions that Triton's language lacks, and the operations on bits that go with
them. They compute from registers alone. The waits for another launch (tl.extra.cuda.gdc_wait) do nothing in a plan, whose
launches run one after the other. The evaluator knows the same ones (gym/triton_ir/execute/assembly_instructions.cc).
"""

import re

# A word in braces stands for each of its parts.
INSTRUCTIONS = """
    mov.{b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64}
    {ex2.approx lg2.approx rcp.approx rcp.rn sqrt.approx sqrt.rn rsqrt.approx sin.approx cos.approx tanh.approx}.{f32 ftz.f32}
    {tanh.approx ex2.approx}.{f16 bf16 f16x2 bf16x2 ftz.f16 ftz.bf16 ftz.f16x2 ftz.bf16x2}
    {add sub mul add.rn sub.rn mul.rn fma.rn min max neg abs}.{f16x2 bf16x2 ftz.f16x2 ftz.bf16x2}
    cvt.rn.f16x2.{e4m3x2 e5m2x2 e2m1x2 f32} cvt.rn.satfinite.{e4m3x2 e5m2x2}.{f16x2 f32} cvt.rn.satfinite.e2m1x2.f32
    cvt.rn.bf16x2.f32 cvt.rn.{f16 bf16}.f32 cvt.f32.{f16 bf16} cvt.rna.tf32.f32
    {cvt.rni cvt.rni.sat cvt.rzi cvt.rzi.sat cvt.rmi cvt.rpi}.{s8 u8 s16 u16 s32 u32}.f32
    cvt.rn.f32.{s8 u8 s16 u16 s32 u32} {cvt.s32 cvt.u32}.{s8 u8 s16 u16 s32 u32} cvt.sat.{s8 u8 s16 u16 s32 u32}.s32
    cvt.pack.sat.{s8 u8}.s32.b32
    {and or xor not shl}.{b16 b32 b64} shr.{b16 b32 b64 u16 u32 u64 s32} lop3.b32 prmt.b32 bfe.{u32 s32} bfi.b32 popc.b32 clz.b32
    {add sub mul.lo mad.lo}.{s32 u32} dp4a.{s32 u32}.{s32 u32}
    griddepcontrol.{wait launch_dependents}
"""
STATEMENT = re.compile(r"([\w.]+)((?:[^;{}]|\{[^;{}]*\})*)")
DECLARATION = re.compile(r"\s+\.(?:[bus](?:8|16|32|64)|f(?:16|32|64|16x2))((?:\s*,?\s*[A-Za-z_]\w*(?:<\d{1,3}>)?)+)\s*")
OPERANDS = re.compile(r"[\s\w$,{}-]*")
WORD = re.compile(r"[\w$]+")
NUMBER = re.compile(r"\d\w*|\$\d{1,3}")
CONSTRAINTS = re.compile(r"=&?[hrfld](?:,=&?[hrfld])*(?:,[hrfld])*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def expanded(words):
    """Returns every name that the words stand for."""
    names = set()
    for word in re.findall(r"(?:\{[^}]*\}|[^\s{}])+", words):
        made = [""]
        for part in re.findall(r"\{[^}]*\}|[^{}]+", word):
            choices = part[1:-1].split() if part.startswith("{") else [part]
            made = [one + choice for one in made for choice in choices]
        names.update(made)
    return names


NAMES = expanded(INSTRUCTIONS)


def first_unknown(text, constraints):
    """Returns what is not allowed in a block of assembly, or None."""
    if CONSTRAINTS.fullmatch(constraints) is None:
        return f"the constraints {constraints}"
    if not text.isascii() or "\0" in text or "\\" in text:
        return "signs that are not ASCII"
    if text.count("{") != text.count("}"):
        return "a brace without its counterpart"
    text, position, declared = COMMENT.sub(" ", text), 0, set()
    while (position := re.compile(r"[\s{};]*").match(text, position).end()) < len(text):
        statement = STATEMENT.match(text, position)
        if statement is None:
            return f"`{text[position:position + 60]}`"
        position = statement.end()
        name, operands = statement.groups()
        declaration = DECLARATION.fullmatch(operands) if name == ".reg" else None
        if declaration is not None:
            declared.update(names_of(declaration.group(1)))
        elif name not in NAMES or OPERANDS.fullmatch(operands) is None or any(
                NUMBER.fullmatch(word) is None and word not in declared for word in WORD.findall(operands)):
            return f"`{statement.group().strip()[:60]}`"
    return None


def names_of(declaration):
    """Returns the registers that a declaration names: r0 and r1 for `r<2>`."""
    for name, count in re.findall(r"([A-Za-z_]\w*)(?:<(\d+)>)?", declaration):
        yield from (f"{name}{k}" for k in range(int(count))) if count else [name]

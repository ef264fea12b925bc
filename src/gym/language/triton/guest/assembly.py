"""Which inline assembly a kernel may hold: instructions that Triton's language lacks, and the operations that go with
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
    {add sub mul min max neg abs add.rn sub.rn mul.rn fma.rn}.{f32 ftz.f32}
    {setp.eq setp.ne setp.lt setp.le setp.gt setp.ge}.{f32 ftz.f32 s32 u32}
    {setp.equ setp.neu setp.ltu setp.leu setp.gtu setp.geu setp.num setp.nan}.{f32 ftz.f32}
    selp.{b16 b32 b64 u16 u32 u64 s16 s32 s64 f32}
    cvt.rn.f16x2.{e4m3x2 e5m2x2 e2m1x2 f32} cvt.rn.satfinite.{e4m3x2 e5m2x2}.{f16x2 f32} cvt.rn.satfinite.e2m1x2.f32
    cvt.rn.bf16x2.f32 cvt.rn.{f16 bf16}.f32 cvt.f32.{f16 bf16} cvt.rna.tf32.f32
    {cvt.rni cvt.rni.sat cvt.rzi cvt.rzi.sat cvt.rmi cvt.rpi}.{s8 u8 s16 u16 s32 u32}.f32
    cvt.rn.f32.{s8 u8 s16 u16 s32 u32} {cvt.s32 cvt.u32}.{s8 u8 s16 u16 s32 u32} cvt.sat.{s8 u8 s16 u16 s32 u32}.s32
    cvt.pack.sat.{s8 u8}.s32.b32
    {and or xor not shl}.{b16 b32 b64} shr.{b16 b32 b64 u16 u32 u64 s32} lop3.b32 prmt.b32 bfe.{u32 s32} bfi.b32 popc.b32 clz.b32
    {add sub mul.lo mad.lo}.{s32 u32} dp4a.{s32 u32}.{s32 u32}
    griddepcontrol.{wait launch_dependents}
"""
STATEMENT = re.compile(r"(?:@(!?)\s*([A-Za-z_]\w*)\s+)?([\w.]+)((?:[^;{}]|\{[^;{}]*\})*)")
DECLARATION = re.compile(r"\s+\.(?:pred|[bus](?:8|16|32|64)|f(?:16|32|64|16x2))((?:\s*,?\s*[A-Za-z_]\w*(?:<\d{1,3}>)?)+)\s*")
OPERANDS = re.compile(r"[\s\w$.,{}-]*")
WORD = re.compile(r"[\w$.]+")
REGISTER = re.compile(r"\$\d+|\b[A-Za-z_]\w*")
NUMBER = re.compile(r"\d\w*|\d+\.\d*|\$\d{1,3}")
CONSTRAINTS = re.compile(r" *=&?[hrfld] *(?:, *=&?[hrfld] *)*(?:, *[hrfld] *)*")
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


def why_refused(text, constraints):
    """Returns why a block of assembly is not allowed, or None."""
    if CONSTRAINTS.fullmatch(constraints) is None:
        return f"the constraints {constraints} are not known"
    if not text.isascii() or "\0" in text or "\\" in text:
        return "it holds signs that are not ASCII"
    if text.count("{") != text.count("}"):
        return "it has a brace without its counterpart"
    text, position, declared = COMMENT.sub(" ", text), 0, set()
    results, operands = constraints.count("="), constraints.count(",") + 1
    written = WrittenRegisters(f"${k}" for k in range(results, operands))
    while (position := re.compile(r"[\s{};]*").match(text, position).end()) < len(text):
        statement = STATEMENT.match(text, position)
        if statement is None:
            return f"`{text[position:position + 60]}` is no instruction"
        position = statement.end()
        unless, predicate, name, words = statement.groups()
        declaration = DECLARATION.fullmatch(words) if name == ".reg" and predicate is None else None
        if declaration is not None:
            made = set(names_of(declaration.group(1)))
            declared |= made
            written.forget(made)
        elif name not in NAMES or predicate not in (None, *declared) or OPERANDS.fullmatch(words) is None or any(
                NUMBER.fullmatch(word) is None and word not in declared for word in WORD.findall(words)):
            return f"`{statement.group().strip()[:60]}` is not in the list of instructions"
        elif (register := written.unwritten_of(words, predicate, unless == "!")) is not None:
            return f"`{register}` is read where it may be unwritten"
    unwritten = [f"${k}" for k in range(results) if written.has_written and not written.may_read(f"${k}", None)]
    return f"its result `{unwritten[0]}` is not always written" if unwritten else None


class WrittenRegisters:
    """Knows which registers a block has written so far.

    A register may be written under a predicate and under its opposite. Until then it may only be read under the predicate
    under which it was written. A predicate that is written again is another one."""

    def __init__(self, registers):
        self.always, self.partly, self.times, self.has_written = set(registers), set(), {}, False

    def forget(self, registers):
        self.always -= registers
        self.partly = {(register, key) for register, key in self.partly if register not in registers}

    def may_read(self, register, key):
        return register in self.always or (register, key) in self.partly

    def unwritten_of(self, words, predicate, unless):
        """Follows an instruction. Returns a register that it may not read, or None."""
        first, *others = re.findall(r"\{[^}]*\}|[^,{}]+", words.strip()) or [""]
        key, opposite = ((predicate, self.times.get(predicate, 0), value) for value in (unless, not unless))
        if predicate is None:
            key = None
        elif predicate not in self.always:
            return predicate
        for register in (word for other in others for word in REGISTER.findall(other)):
            if not self.may_read(register, key):
                return register
        for register in REGISTER.findall(first):
            self.has_written = True
            self.times[register] = self.times.get(register, 0) + 1
            if key is None or (register, opposite) in self.partly:
                self.always.add(register)
            else:
                self.partly.add((register, key))
        return None


def names_of(declaration):
    """Returns the registers that a declaration names: r0 and r1 for `r<2>`."""
    for name, count in re.findall(r"([A-Za-z_]\w*)(?:<(\d+)>)?", declaration):
        yield from (f"{name}{k}" for k in range(int(count))) if count else [name]

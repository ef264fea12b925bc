"""compile_kernel(request) turns the text of Triton IR into a cubin. It runs in a jailed, long-lived compile worker.

request = {"ttir": text, "num_warps", "num_stages", "num_ctas", "maxnreg" and "enable_fp_fusion" (optional), "target": "sm_90"}
The answer is {"cubin": base64, "name", "registers", "spills", "shared_bytes"} or {"error": {"class", "message", "line", ...}}.
With "ptx" in the request, that text is assembled in place of the PTX made here; with "ptx" or "wants_ptx", the answer has the
"ptx" made here. compiler_pool.cc has checked an edited text before, and compares it with the one made here afterwards.

The text may be hostile. So this module checks it before Triton's own passes see it: it allows only known dialects, only
inline assembly that computes (assembly.py), no addresses made of integers, and no library but libdevice. Nothing is
cached here, and ptxas and cuobjdump are the only programs that are started.
"""

import base64
import collections
import os
import re
import signal
import subprocess
import sys
import tempfile

from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend, get_ptxas

from . import assembly
from .device_properties import chip_of
from .worker import PROGRAM_KILLED

DIALECTS = {"tt", "arith", "math", "scf", "cf", "ub", "builtin"}
# tl.debug_barrier, whose name depends on Triton's version, and tl.assume.
BESIDES = {"gpu.barrier", "ttg.barrier", "ttg.local_barrier", "llvm.intr.assume"}
OPERATIONS = re.compile(r"^\s*(?:%[\w#:, %]+ = )?\"?([a-z_]\w*)\.([\w.]+)", re.MULTILINE)
REFUSED = {"tt.int_to_ptr": "pointers made of integers"}
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# Inline assembly as Triton prints it.
ASSEMBLY = re.compile(r'\btt\.elementwise_inline_asm "((?:[^"\\]|\\(?:[0-9A-F]{2}|["\\]))*)" '
                      r'\{constraints = "([^"\\]*)", packed_element = \d+ : i32, pure = (?:true|false)\}')
ESCAPED = re.compile(r'\\([0-9A-F]{2}|["\\])')
DOTTED = re.compile(r"(?<![\w.%@^$])([A-Za-z_]\w*)\.([A-Za-z_][\w.]*)")
MODULE = re.compile(r"^\s*(?:builtin\.)?module\b.*$", re.MULTILINE)
FUNCTION_LINE = re.compile(r"^\s*tt\.func\b.*$", re.MULTILINE)
# Triton turns names of private functions into plain words for PTX. All other names reach PTX unchanged.
FUNCTION = re.compile(r'\s*tt\.func (?:public @\w+|private @(?:[\w.$]+|"[^"\\]*"))\(.*\)(?: -> .*?)?'
                      r"(?: attributes \{noinline = \w+\})? \{")
ESCAPE = re.compile(r'^(?!\s*tt\.(?:print|assert)\b).*\\', re.MULTILINE)
SYMBOL = re.compile(r'symbol = "([^"]*)"')
LIBRARY = re.compile(r'libpath = "([^"]*)"|libname = "([^"]*)"')
TENSOR_MEMORY = 512  # columns of a multiprocessor of sm_100
MEMORY = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "LDSM", "STSM", "ATOM", "RED", "LDGSTS", "UBLKCP", "UTMA")
MOST_INSTRUCTIONS = 10
# An assembler lives for 20 ms. Page faults and small requests for memory would take a third more.
FEW_FAULTS = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "MALLOC_TOP_PAD_": str(8 << 20), "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
              "MALLOC_TRIM_THRESHOLD_": str(512 << 20)}


class Refused(Exception):
    def __init__(self, error_class, message):
        super().__init__(message)
        self.error_class = error_class


def backend_for(target):
    match = re.fullmatch(r"sm_(\d+)", target)
    if match is None:
        raise Refused("bad_request", f"the target {target!r} is not known")
    return CUDABackend(GPUTarget("cuda", int(match.group(1)), 32))


def check_name(name):
    if name in REFUSED:
        raise Refused("refused_ir", f"{REFUSED[name]} ({name}) may not be used in a kernel")
    if name.split(".")[0] not in DIALECTS and name not in BESIDES:
        raise Refused("refused_ir", f"{name} is not allowed in a kernel")


def check_text(text):
    """Checks the operations, libraries and symbols of the text.

    This runs before anything parses the text, and again on the text that Triton prints of the parsed module. No trick of
    notation survives the second check."""
    for dialect, operation in OPERATIONS.findall(text):
        check_name(f"{dialect}.{operation}")
    for path, name in LIBRARY.findall(text):
        if path or name not in ("", "libdevice"):
            raise Refused("refused_ir", f"the library {path or name} may not be used in a kernel")
    for symbol in SYMBOL.findall(text):
        if re.fullmatch(r"__nv_\w+", symbol) is None:
            raise Refused("refused_ir", f"the function {symbol} is none of libdevice's")


def without_assembly(text):
    """Checks the inline assembly of a module as Triton prints it, and returns the text without it."""
    for block, constraints in ASSEMBLY.findall(text):
        plain = ESCAPED.sub(lambda sign: chr(int(sign[1], 16)) if len(sign[1]) == 2 else sign[1], block)
        if why := assembly.why_refused(plain, constraints):
            raise Refused("refused_ir", f"inline assembly may only compute from registers: {why}")
    text = ASSEMBLY.sub("tt.elementwise_inline_asm", text)
    if text.count("tt.elementwise_inline_asm") != len(re.findall(r"\btt\.elementwise_inline_asm [%(-]", text)):
        raise Refused("refused_ir", "inline assembly that Triton does not print in this form")
    return text


def check_attributes(text):
    """Checks attributes, which LLVM reads too (`llvm.module_asm` is PTX), and characters that could end a comment or a
    name in PTX."""
    if ESCAPE.search(text):
        raise Refused("refused_ir", "a string that is no message holds signs that Triton does not write")
    for dialect, rest in DOTTED.findall(STRING.sub('""', text)):
        check_name(f"{dialect}.{rest}")
    if [line.strip() for line in MODULE.findall(text)] != ["module {"]:
        raise Refused("refused_ir", "only one module without attributes is a kernel")
    for line in FUNCTION_LINE.findall(text):
        if FUNCTION.fullmatch(line) is None:
            raise Refused("refused_ir", "a function has a name or attributes that Triton does not write, or no body")


def check_module(module):
    text = without_assembly(module.str_nodebug())
    check_text(text)
    check_attributes(text)
    found = []
    module.walk(lambda operation: found.append(operation.get_name()))
    for name in set(found):
        check_name(name)
    if "tt.func" not in found or not re.search(r"tt\.func public @\w+", text):
        raise Refused("bad_ir", "the Triton IR holds no kernel")  # the passes would abort the process


def parse(text, context):
    with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:  # Triton parses files only
        file.write(text)
        file.flush()
        try:
            module = ir.parse_mlir_module(file.name, context)
        except RuntimeError as error:
            raise Refused("bad_ir", f"the Triton IR does not parse: {error}") from None
    module.context = context
    return module


def run_ptxas(ptx, options, capability):
    """Runs ptxas as CUDABackend.make_cubin does, but keeps its report on registers and spills."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        flags = [] if options.enable_fp_fusion else ["--fmad=false"]
        suffix = "a" if capability >= 90 else ""
        done = subprocess.run([get_ptxas(capability).path, *flags, "-v", f"--gpu-name=sm_{capability}{suffix}",
                               source, "-o", cubin], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, close_fds=True, check=False, env={**os.environ, **FEW_FAULTS})
        if done.returncode < 0:  # tritonsmith finds the cause with a fresh worker
            os._exit(PROGRAM_KILLED if done.returncode == -signal.SIGKILL else 70)
        if done.returncode:
            raise Refused("compile_error", f"ptxas: {done.stderr.strip()[-1500:] or done.returncode}")
        with open(cubin, "rb") as file:
            return file.read(), done.stderr


def assemble_edited(ptx, options, capability):
    """Assembles a text that somebody edited. The errors name lines of that text."""
    try:
        return run_ptxas(ptx, options, capability)
    except Refused as error:
        lines = re.findall(r"kernel\.ptx, line (\d+); (?:error|fatal)\s*: (.*)", str(error))
        told = "; ".join(f"line {line}: {message.strip()}" for line, message in lines[:8])
        raise Refused("compile_error", f"the edited PTX does not assemble: {told or str(error)}") from None


def instructions_of(cubin):
    """Returns the number of machine instructions and the most frequent of them, those that reach memory first."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        try:
            done = subprocess.run([knobs.nvidia.cuobjdump.path, "-sass", file.name], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        except OSError:
            return ""  # the kernel is none the worse for it
    names = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)", done.stdout, re.MULTILINE)
    counts = collections.Counter(name for name in names if name != "NOP")
    if not counts:
        return ""
    memory = [name for name in sorted(counts) if name.startswith(MEMORY)]
    others = [name for name, _ in counts.most_common() if name not in memory]
    shown = ", ".join(f"{counts[name]} {name}" for name in (memory + others)[:MOST_INSTRUCTIONS])
    return f"{sum(counts.values())} instructions, among them {shown}"


def number_in(pattern, text):
    match = re.search(pattern, text)
    return int(match.group(1)) if match else 0


def lower_to_llvm(request, backend):
    """Returns the LLVM IR, the options and Triton's metadata, among them the shared memory."""
    names = ("num_warps", "num_stages", "num_ctas", "maxnreg")
    given = {name: request[name] for name in names if request.get(name)}
    options = backend.parse_options({**given, "enable_fp_fusion": request.get("enable_fp_fusion", True)})
    check_text(request["ttir"])
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = parse(request["ttir"], context)
    check_module(module)
    metadata = {}
    with knobs.compilation.scope():  # captures in this process want lines in their IR
        knobs.compilation.disable_line_info = True  # PTX would hold a file's name unchanged
        module = backend.make_ttgir(module, metadata, options, backend.target.arch)
        llir = backend.make_llir(module, metadata, options, backend.target.arch)
    return llir, options, metadata


def shared_bytes(request):
    """Returns the shared memory of a block. A guest may ask for it, because it needs no ptxas."""
    return lower_to_llvm(request, backend_for(request["target"]))[2]["shared"]


def lower(request):
    backend = backend_for(request["target"])
    capability = backend.target.arch
    llir, options, metadata = lower_to_llvm(request, backend)
    ptx = backend.make_ptx(llir, metadata, options, capability)
    edited = request.get("ptx")
    cubin, log = assemble_edited(edited, options, capability) if edited else run_ptxas(ptx, options, capability)
    available = chip_of(request["target"])["shared_memory_per_block_optin"]
    if metadata["shared"] > available:
        raise Refused("out_of_resources", f"shared memory: {metadata['shared']} bytes needed, {available} available")
    if (metadata["tmem_size"] or 0) > TENSOR_MEMORY:
        raise Refused("out_of_resources", f"tensor memory: {metadata['tmem_size']} columns needed, {TENSOR_MEMORY} available")
    shown = {"ptx": ptx} if edited or request.get("wants_ptx") else {}
    if edited:
        shown["instructions"] = instructions_of(cubin)
    return {**shown, "cubin": base64.b64encode(cubin).decode(), "name": metadata["name"],
            "registers": number_in(r"Used (\d+) registers", log),
            "spills": number_in(r"(\d+) bytes spill stores", log) // 4, "shared_bytes": metadata["shared"],
            "scratch_bytes": metadata["global_scratch_size"],
            "num_warps": metadata.get("num_warps", options.num_warps)}


def compile_kernel(request):
    """Returns the answer. It never raises."""
    try:
        return lower(request)
    except Refused as error:
        return failure(error.error_class, str(error))
    except Exception as error:
        told = what_passes_tell(request) if "PassManager" in str(error) else ""
        return failure("compile_error", f"{type(error).__name__}: {error}{told}")


def what_passes_tell(request):
    """Lowers once more, and returns what Triton's passes print about their failure, such as "; Other parent ops are not supported"."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        own = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            lower_to_llvm(request, backend_for(request["target"]))
        except Exception:  # as before
            pass
        finally:
            os.dup2(own, 2)
            os.close(own)
        file.seek(0)
        told = re.findall(r"\b(?:error|note): (.*)", file.read(1 << 20).decode(errors="replace"))
    return "".join(f"; {each.strip()[:300]}" for each in told[:3])


def failure(error_class, message):
    """Returns an error without a line. Only compiler_pool.cc knows the line of the candidate's source."""
    return {"error": {"class": error_class, "message": message[:4000], "line": 0, "excerpt": ""}}

"""Links into a kernel only the functions of libdevice that it calls.

libdevice is NVIDIA's library of functions such as erf and pow. Triton parses the whole library for each kernel that calls one
of them, which takes a third of such a kernel's compilation. Here the library is read once, as text. A kernel's compilation
then parses a few functions. The machine code is the same.
"""

import re
import tempfile
from pathlib import Path

from triton._C.libtriton import ir, llvm

DECLARED = re.compile(r"^declare [^@\n]*@(__nv_\w+)\(", re.MULTILINE)
DEFINED = re.compile(r"^(?:declare|define) [^@\n]*@([\w.]+)\(|^@([\w.]+) = ")
USED = re.compile(r"@([\w.]+)")
NAME = re.compile(r'"(__nv_\w+)"')


class Library:
    """The library's functions and variables as LLVM's text, by name."""

    def __init__(self, text):
        self.texts, self.used, self.frame = {}, {}, []
        for part in parts_of(text):
            found = DEFINED.match(part)
            if found is None:
                self.frame.append(part)  # types, attributes and metadata
                continue
            name = found[1] or found[2]
            self.texts[name] = part
            self.used[name] = set(USED.findall(part)) - {name}

    def excerpt(self, names):
        """Returns a library with these functions and all that they use, in the order of the whole one. Returns None if one
        is missing."""
        needed, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name not in self.texts:
                return None
            if name not in needed:
                needed.add(name)
                waiting.extend(self.used[name])
        parts = [self.visible(part) if name in names else part for name, part in self.texts.items() if name in needed]
        return "\n".join([*self.frame, *parts])

    @staticmethod
    def visible(part):
        return part.replace("define internal ", "define ", 1)


def parts_of(text):
    """Cuts a module into its functions and its other lines."""
    function = []
    for line in text.split("\n"):
        if function or line.startswith("define "):
            function.append(line)
            if line == "}":
                yield "\n".join(function)
                function = []
        elif line and not line.startswith(";"):
            yield line


def module_of(names):
    """Returns an LLVM module that declares these functions. Their types do not matter: a definition replaces them."""
    context = ir.context()
    ir.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("module {\n" + "".join(f"llvm.func @{name}()\n" for name in names) + "}\n")
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    llvm.init_targets()
    declared = llvm.to_module(module, llvm.context())
    llvm.attach_datalayout(declared, "nvptx64-nvidia-cuda", "sm_90", "")
    return declared


def read(path):
    """Returns the library, with the functions that triton.language.extra.libdevice names."""
    from triton.language.extra.cuda import libdevice
    module = module_of(sorted(set(NAME.findall(Path(libdevice.__file__).read_text(encoding="utf-8")))))
    link_whole(module, [path])
    return Library(str(module))


link_whole = llvm.link_extern_libs
_libraries = {}  # by their paths


def link(module, paths):
    """Replaces Triton's function, which links whole libraries."""
    names = set(DECLARED.findall(str(module)))
    if len(paths) != 1 or not names:
        return link_whole(module, paths)
    if paths[0] not in _libraries:
        _libraries[paths[0]] = read(paths[0])
    excerpt = _libraries[paths[0]].excerpt(names)
    if excerpt is None:
        return link_whole(module, paths)
    with tempfile.NamedTemporaryFile("w", suffix=".ll") as file:
        file.write(excerpt)
        file.flush()
        return link_whole(module, [file.name])


def install():
    llvm.link_extern_libs = link

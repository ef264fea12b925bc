// Tests each rule together with its honest counterpart.
#include "inspect/inspect.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "inspect/testing/candidates.h"

namespace tritonsmith::inspect {
namespace {

TEST(Inspect, FindsNothingInAnHonestKernel) {
  EXPECT_EQ(inspect_kernel(kHonest, Policy::strict), std::vector<Finding>{});
}

TEST(Inspect, RejectsWhatIsNoPython) {
  EXPECT_EQ(rejects(kHonest + "def f(:\n"), Rules{"syntax_error"});
  EXPECT_EQ(
      with_line("match x:\n    case [1, *_]: pass\ny = lambda: (yield)\nprint(f\"{y!r:>{3}}\")"),
      Rules{});
}

TEST(Inspect, RejectsFilesWithoutKernelOrEntryPoint) {
  EXPECT_EQ(rejects(kImports + model("return x\n")), Rules{"no_triton_kernel"});
  EXPECT_EQ(rejects(kImports + kKernel + "def run(x):\n    add_kernel[(1,)](x, x, 4, BLOCK=4)\n"),
            Rules{"no_entry_point"});
  EXPECT_EQ(
      rejects(kImports + kKernel +
              "class Fast(nn.Module):\n    def forward(self, x):\n"
              "        add_kernel[(1,)](x, x, 4, BLOCK=4)\n        return x\nModelNew = Fast\n"),
      Rules{});
}

TEST(Inspect, WarnsOfKernelsThatNothingSeemsToLaunch) {
  const auto warned = [](const std::string& source) { return rules(source, Severity::warn); };
  EXPECT_EQ(warned(kImports + kKernel + model("return x\n")), Rules{"kernel_not_launched"});
  const std::string guard = "if __name__ == \"__main__\":\n    add_kernel[(1,)](1)\n";
  EXPECT_EQ(warned(kImports + kKernel + model("return x\n") + guard), Rules{"kernel_not_launched"});
  EXPECT_EQ(rejects(kImports + "def make():\n    return triton.jit(text)\n" +
                    model("make()[(1,)](x)\nreturn x\n")),
            Rules{});
}

TEST(Inspect, KnowsTheManyWaysToLaunch) {
  const auto launched_by = [](const std::string& forward) {
    return rejects(kImports + kKernel + model(forward));
  };
  EXPECT_EQ(launched_by("k = add_kernel\nk[(1,)](x)\nreturn x\n"), Rules{});
  EXPECT_EQ(launched_by("self.k = add_kernel\nself.k[(1,)](x)\nreturn x\n"), Rules{});
  EXPECT_EQ(launched_by("run = add_kernel[(1,)]\nrun(x)\nreturn x\n"), Rules{});
  EXPECT_EQ(launched_by("for k in (add_kernel, add_kernel):\n    k[(1,)](x)\nreturn x\n"), Rules{});
  EXPECT_EQ(launched_by("add_kernel.run(x, grid=(1,))\nreturn x\n"), Rules{});
  EXPECT_EQ(rejects(kImports + kKernel + "def go(kernel, x):\n    kernel[(1,)](x)\n" +
                    model("go(add_kernel, x)\nreturn x\n")),
            Rules{});
  EXPECT_EQ(rejects(kImports + "def raw(x):\n    pass\nfast = triton.jit(raw)\n" +
                    model("fast[(1,)](x)\nreturn x\n")),
            Rules{});
  EXPECT_EQ(rejects("from triton import jit, autotune, Config\n" + kImports +
                    "@autotune(configs=[Config({})], key=[])\n@jit\ndef k(x):\n    pass\n" +
                    model("k[(1,)](x)\nreturn x\n")),
            Rules{});
}

TEST(Inspect, RejectsTorchThatComputesUnderStrictOnly) {
  EXPECT_EQ(in_forward("y = torch.matmul(y, x)"), Rules{"torch_compute"});
  EXPECT_EQ(in_forward("y = F.relu(y)"), Rules{"torch_compute"});
  EXPECT_EQ(in_forward("y = self.linear(y)"), Rules{"torch_compute"});
  EXPECT_EQ(in_forward("y = x.softmax(-1)"), Rules{"torch_compute"});
  EXPECT_EQ(in_forward("y = torch.msort(y)"), Rules{"torch_compute"});
  EXPECT_EQ(in_forward("y = x.nanmedian()"), Rules{"torch_compute"});
  EXPECT_EQ(in_forward("y = x.add_(x)"), Rules{"torch_compute"});
  EXPECT_EQ(in_forward("n = torch.bincount(x)"), Rules{"torch_compute"});
  EXPECT_EQ(rejects(kImports + kKernel + model("y = F.relu(x)\n" + kLaunch + "return y\n"),
                    Policy::fused),
            Rules{});
}

// A module of the candidate's own that launches a kernel, and a ModelNew with these lines in
// its constructor.
std::string holding(const std::string& constructor, const std::string& forward) {
  std::string entry = model(forward);
  const std::string_view layer = "        self.linear = nn.Linear(4, 4)\n";
  entry.replace(entry.find(layer), layer.size(), "        " + constructor + "\n");
  return kImports + kKernel +
         "class Own(nn.Module):\n    def __init__(self, layer=None):\n"
         "        super().__init__()\n        self.norm = nn.LayerNorm(4)\n\n"
         "    def forward(self, x):\n        y = torch.empty_like(x)\n        " +
         kLaunch + "        return y\n\n" + entry;
}

TEST(Inspect, TellsContainersOfOwnModulesFromContainersOfLayers) {
  const auto contained = [](const std::string& container) {
    return rejects(holding("self.blocks = " + container, "return self.blocks(x)\n"));
  };
  EXPECT_EQ(contained("nn.Sequential(*[Own(i) for i in range(3)])"), Rules{});
  EXPECT_EQ(contained("nn.Sequential(Own(nn.Linear(4, 4)), nn.Identity())"), Rules{});
  for (const char* container : {"nn.Sequential(nn.Linear(4, 4))", "nn.Sequential(Own(), nn.GELU())",
                                "nn.Sequential(*[nn.Linear(4, 4) for i in range(3)])",
                                "nn.Sequential(Own(), nn.Sequential(*list([nn.ReLU()])))"})
    EXPECT_EQ(contained(container), Rules{"torch_compute"}) << container;
}

TEST(Inspect, LooksForLayersInTheClassThatCallsThem) {
  const auto held = [](const std::string& constructor) {
    return rejects(holding(constructor, "return self.norm(x)\n"));
  };
  EXPECT_EQ(held("self.norm = Own()"), Rules{});  // the inner module's `norm` is torch's
  EXPECT_EQ(held("self.norm = nn.LayerNorm(4); self.norm = Own(self.norm)"), Rules{});
  EXPECT_EQ(held("self.norm: nn.Module; self.norm = nn.LayerNorm(4)"), Rules{"torch_compute"});
}

TEST(Inspect, LetsTorchAllocateReshapeAndAnswerQuestions) {
  EXPECT_EQ(in_forward("y = y.view(-1).contiguous().to(torch.float32).reshape(x.shape)"), Rules{});
  EXPECT_EQ(in_forward("z = torch.zeros(x.shape[0], device=x.device, dtype=torch.int32)"), Rules{});
  EXPECT_EQ(in_forward("sms = torch.cuda.get_device_properties(x.device).multi_processor_count"),
            Rules{});
  EXPECT_EQ(in_forward("scale = 1.0 / math.sqrt(max(1, x.shape[-1])); total = sum([1, 2])"),
            Rules{});
  EXPECT_EQ(in_forward("w = self.linear.weight; b = min(1024, triton.next_power_of_2(w.shape[0]))"),
            Rules{});
}

TEST(Inspect, OnlyWarnsOfFallbacksBehindConditions) {
  const std::string source =
      kImports + kKernel +
      model("if not x.is_cuda:\n    return torch.relu(x)\ny = torch.empty_like(x)\n" + kLaunch +
            "return y\n");
  EXPECT_EQ(rejects(source), Rules{});
  EXPECT_EQ(rules(source, Severity::warn), Rules{"torch_fallback"});
}

TEST(Inspect, NotesLaunchesWhoseFailureIsCaught) {
  const auto body = [](const std::string& forward) {
    return rules(kImports + kKernel + model(forward), Severity::note);
  };
  EXPECT_EQ(body("y = x\ntry:\n    " + kLaunch + "except Exception:\n    y = x\nreturn y\n"),
            Rules{"guarded_launch"});
  EXPECT_EQ(body("y = x\ntry:\n    " + kLaunch +
                 "except Exception as e:\n    raise RuntimeError('x') from e\nreturn y\n"),
            Rules{});
  EXPECT_EQ(body("y = x\ntry:\n    " + kLaunch + "finally:\n    pass\nreturn y\n"), Rules{});
  EXPECT_EQ(body("import contextlib\ny = x\nwith contextlib.suppress(Exception):\n    " + kLaunch +
                 "return y\n"),
            Rules{"guarded_launch"});
  EXPECT_EQ(rules(kImports + kKernel + "def go(x, y):\n    " + kLaunch +
                      model("y = x\ntry:\n    go(x, y)\nexcept:\n    pass\nreturn y\n"),
                  Severity::note),
            Rules{"guarded_launch"});
  EXPECT_EQ(with_line("try:\n    from triton.language.extra import libdevice\nexcept "
                      "ImportError:\n    libdevice = None"),
            Rules{});
}

TEST(Inspect, RejectsUsesOfTheReference) {
  EXPECT_EQ(in_forward("y = Model()(x)"), Rules{"uses_reference"});
  // A service renames the classes of other code in this way.
  const auto named = [](const std::string& built) {
    return rejects(kImports + kKernel +
                   "class Net(nn.Module):\n    def forward(self, x):\n        return x\n"
                   "class Part(nn.Module):\n    def forward(self, x):\n        return x\n"
                   "class NetNew(nn.Module):\n    def __init__(self):\n        self.part = " +
                   built +
                   "()\n    def forward(self, x):\n        add_kernel[(1,)](x, x, 4, BLOCK=4)\n"
                   "        return self.part(x)\n\n\nModelNew = NetNew\n");
  };
  EXPECT_EQ(named("Net"), Rules{"uses_reference"});
  EXPECT_EQ(named("Part"), Rules{});
  EXPECT_EQ(with_line("from reference import Model"), Rules{"uses_reference"});
  EXPECT_EQ(with_line("from reference import get_inputs"), Rules{});
  EXPECT_EQ(with_line("from reference import get_inputs\nget_inputs()").front(), "uses_reference");
  EXPECT_EQ(with_line("import __main__"), Rules{"uses_reference"});
  const std::string copy = "class Model(nn.Module):\n    def forward(self, x):\n        return x\n";
  EXPECT_EQ(with_line(copy + "if __name__ == '__main__':\n    print(Model()(1))"), Rules{});
  EXPECT_EQ(rejects(kImports + copy + kKernel + model("y = Model()(x)\n" + kLaunch + "return y\n")),
            Rules{"uses_reference"});
}

TEST(Inspect, RejectsDynamicCode) {
  EXPECT_EQ(with_line("eval('1')"), Rules{"dynamic_code"});
  EXPECT_EQ(with_line("e = exec\ne('1')"), Rules{"dynamic_code"});
  EXPECT_EQ(with_line("\uFF45val('1')"), (Rules{"disguised_text", "dynamic_code"}));
  EXPECT_EQ(with_line("import importlib\nimportlib.reload(torch)"), Rules{"dynamic_code"});
  EXPECT_EQ(with_line("import importlib\nimportlib.import_module('tor' + 'ch')"), Rules{});
  EXPECT_EQ(with_line("import importlib\nimportlib.import_module('subprocess').run(1)"),
            Rules{"process_access"});
  EXPECT_EQ(with_line("import importlib.util as u\nhas = u.find_spec('apex') is not None"),
            Rules{});
  EXPECT_EQ(with_line("import typing\ntyping.get_type_hints(int)"), Rules{"dynamic_code"});
  EXPECT_EQ(with_line("from sympy import lambdify\nlambdify(1)"),
            (Rules{"dynamic_code", "import_not_allowed"}));
  EXPECT_EQ(with_line("from typing import Optional"), Rules{});
  EXPECT_EQ(with_line("import re\npattern = re.compile('a')\nmodel = nn.Identity().eval()"),
            Rules{});
  EXPECT_EQ(rejects("# coding: rot13\n" + kHonest), Rules{"disguised_text"});
  EXPECT_EQ(rejects("# -*- coding: utf-8 -*-\n" + kHonest), Rules{});
}

TEST(Inspect, RejectsLookingIntoTheProcess) {
  for (const char* line :
       {"import gc\ngc.get_objects()", "import sys\nsys._getframe(1)",
        "import sys\nx = sys.modules['a']", "import inspect\ninspect.stack()",
        "f = add_kernel.__globals__", "x = ().__class__.__base__",
        "from inspect import currentframe as c\nc()", "x = e.__traceback__.tb_frame.f_back"})
    EXPECT_EQ(with_line(line).front(), "introspection") << line;
  EXPECT_EQ(with_line("import sys\nold = sys.version_info < (3, 8)\nimport inspect"), Rules{});
  EXPECT_EQ(with_line("name = ModelNew().__class__.__name__"), Rules{});
}

TEST(Inspect, LetsAClassNameItselfToSuperOnly) {
  EXPECT_EQ(in_forward("super(self.__class__, self).extra_repr()"), Rules{});
  EXPECT_EQ(in_forward("super(__class__, self).extra_repr()"), Rules{});
  for (const char* line :
       {"super(x.__class__, x).sum()", "super(ModelNew, self.__class__)", "print(self.__class__)",
        "super(self.__class__.__base__, self)", "self.__class__ = nn.Linear",
        "super = print\nsuper(self.__class__, self)",
        "g = lambda super: super(self.__class__, self)"}) {
    const Rules found = in_forward(line);
    EXPECT_NE(std::ranges::find(found, "introspection"), found.end()) << line;
  }
}

TEST(Inspect, RejectsMonkeypatches) {
  for (const char* line :
       {"torch.matmul = None", "torch.cuda.Event.elapsed_time = lambda *a: 0", "F.relu = 1",
        "E = torch.cuda.Event\nsetattr(E, 'record', None)", "torch.Tensor.__eq__ = None",
        "nn.Linear.forward = None", "del torch.sum", "triton.jit = lambda f: f",
        "getattr(torch, 'nn').Module = None", "math.sqrt, b = 1, 2", "vars(torch)['matmul'] = None",
        "torch.cuda.__dict__.update(Event=None)",
        "type.__setattr__(torch.cuda.Event, 'record', None)", "y.cpu = lambda: y",
        "globals()['tolerance'] = 1"})
    EXPECT_EQ(with_line(line), Rules{"monkeypatch"}) << line;
  EXPECT_EQ(with_line("torch.backends.cuda.matmul.allow_tf32 = True"), Rules{});
  EXPECT_EQ(
      with_line(
          "ctx.stride = 3\nModelNew.block = 3\nclass C:\n    torch = 1\nsetattr(ModelNew, 'a', 1)"),
      Rules{});
}

TEST(Inspect, RejectsFilesProcessesNetworkAndThreads) {
  EXPECT_EQ(with_line("open('/etc/passwd').read()"), Rules{"file_access"});
  EXPECT_EQ(with_line("from pathlib import Path\nPath(1)"),
            (Rules{"file_access", "import_not_allowed"}));
  EXPECT_EQ(with_line("import os as o\no.listdir('.')"), Rules{"file_access"});
  EXPECT_EQ(with_line("import subprocess\nsubprocess.run(1)"),
            (Rules{"process_access", "import_not_allowed"}));
  EXPECT_EQ(with_line("from os import _exit\n_exit(0)"), Rules{"process_access"});
  EXPECT_EQ(with_line("import socket\nsocket.socket()"),
            (Rules{"network_access", "import_not_allowed"}));
  EXPECT_EQ(with_line("import threading\nthreading.Thread()"), Rules{"threads"});
  EXPECT_EQ(with_line("import threading\nlock = threading.Lock()"), Rules{});
  EXPECT_EQ(with_line("import threading\nx = [threading]"), Rules{"threads"});
  EXPECT_EQ(with_line("import time\ntime.sleep(3)"), Rules{"waits"});
  EXPECT_EQ(with_line("import tritonsmith_guest"), Rules{"uses_judge"});
  EXPECT_EQ(with_line("import os\nhere = os.path.join('a', 'b')\nx.open = 1\nprint('done')"),
            Rules{});
}

TEST(Inspect, TellsReadingTheEnvironmentFromChangingIt) {
  EXPECT_EQ(with_line("import os\nos.environ['TRITON_INTERPRET'] = '1'"),
            Rules{"environment_write"});
  EXPECT_EQ(with_line("import os\nos.environ.update(A='1')"), Rules{"environment_write"});
  EXPECT_EQ(with_line("import os\nx = os.environ.get('A')"), Rules{});
  EXPECT_EQ(rules(kHonest + "import os\nx = os.environ['A']\n", Severity::warn),
            Rules{"environment_read"});
}

TEST(Inspect, LetsAFilePrint) {
  for (const char* line :
       {"import sys\nprint('a', file=sys.stderr)", "import sys\nsys.stderr.write('a')",
        "from sys import stderr\nprint('a', file=stderr, flush=True)",
        "import sys\nsys.stdout.flush()", "import traceback\ntraceback.print_exc()",
        "import sys, traceback\ntraceback.print_exc(limit=3, file=sys.stdout)",
        "from traceback import print_exc\nprint_exc()", "import gc\ngc.collect()",
        "import logging, sys\nlogging.basicConfig(stream=sys.stderr)",
        "import logging, sys\nh = logging.StreamHandler(sys.stdout)",
        "triton.knobs.autotuning.print = True"})
    EXPECT_EQ(with_line(line), Rules{}) << line;
  for (const char* line :
       {"import sys\nprint(sys.stderr)", "import sys\nf(sys.stderr)", "import sys\nx = sys.stderr",
        "import sys\nsys.stderr = f", "import sys\nf(file=sys.stderr)",
        "import sys\nx = sys.stderr.write", "import sys\nx = sys.stderr.buffer",
        "import sys\nsys.stderr.write.__self__", "import sys\nsys.stdout.fileno()",
        "import sys\ndef print(x, file):\n    pass\nprint(1, file=sys.stderr)"})
    EXPECT_FALSE(with_line(line).empty()) << line;
  for (const char* line :
       {"import traceback\nx = traceback.format_exc()",
        "import traceback\ntraceback.print_exc(file=f)",
        "import traceback\ntraceback.print_exc(None, f)",
        "import traceback\ntraceback.print_stack()", "import traceback\nx = traceback.print_exc",
        "import gc\nx = gc.collect()", "import gc\ngc.get_objects()",
        "import gc\ngc.collect()\nx = gc", "import traceback\nx = [traceback]",
        "import traceback\ntraceback.print_exc(**f)", "import gc\nif gc.collect() > 9:\n    pass"})
    EXPECT_FALSE(with_line(line).empty()) << line;
  EXPECT_EQ(with_line("triton.knobs.autotuning.cache = True"), Rules{"monkeypatch"});
  EXPECT_EQ(with_line("triton.knobs.runtime.interpret = True"), Rules{"monkeypatch"});
}

TEST(Inspect, LetsAFileAskWhetherASizeIsKnown) {
  EXPECT_EQ(with_line("from torch.fx.experimental.symbolic_shapes import guard_or_true\n"
                      "x = guard_or_true(n < 9)"),
            Rules{});
  EXPECT_EQ(with_line("from torch.fx.experimental import symbolic_shapes as s\n"
                      "x = s.guard_size_oblivious(n == 0)"),
            Rules{});
  for (const char* line :
       {"from torch.fx.experimental.symbolic_shapes import ShapeEnv\nx = ShapeEnv()",
        "from torch.fx.experimental import symbolic_shapes as s\nx = s",
        "from torch.fx.experimental import symbolic_shapes as s\nx = s.guard_or_true.x"})
    EXPECT_EQ(with_line(line), Rules{"torch_compiler"}) << line;
}

TEST(Inspect, NamesWhatStandsInAKernelsPlace) {
  const auto message = [](const std::string& source) {
    for (const Finding& each : inspect_kernel(source, Policy::strict))
      if (each.rule == "no_triton_kernel") return each.message;
    return std::string();
  };
  const std::string model =
      "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return ";
  EXPECT_EQ(message(model + "x"), "there is no `@triton.jit` kernel");
  EXPECT_NE(message(model + "torch.ops.mine.f(x)").find("`torch.ops.mine.f`"), std::string::npos);
  EXPECT_NE(message("from triton.experimental import gluon\n@gluon.jit\ndef f(x):\n    pass\n" +
                    model + "x")
                .find("Gluon kernels are not judged"),
            std::string::npos);
}

TEST(Inspect, RejectsOtherCompilersAndOtherLanguages) {
  EXPECT_EQ(with_line("f = torch.compile(F.relu)"), Rules{"torch_compiler"});
  EXPECT_EQ(with_line("f = getattr(torch, 'compile')"), Rules{"torch_compiler"});
  EXPECT_EQ(with_line("@torch.jit.script\ndef f(x):\n    return x"), Rules{"torch_compiler"});
  EXPECT_EQ(with_line("from torch.utils.cpp_extension import load_inline\nload_inline()"),
            Rules{"native_code"});
  EXPECT_EQ(with_line("import ctypes\nctypes.CDLL(None)"),
            (Rules{"native_code", "import_not_allowed"}));
  EXPECT_EQ(rules(kHonest + "x = torch.ops.aten.mm(1, 2)\n", Severity::note),
            Rules{"operator_table"});
  EXPECT_EQ(with_line("x = torch._C._nn.gelu(1)"), Rules{"hidden_dispatch"});
  EXPECT_EQ(with_line("from torch._C import _cuda_getCurrentRawStream as get_raw_stream"), Rules{});
  EXPECT_EQ(with_line("k = torch.library.wrap_triton(add_kernel)"), Rules{});
  EXPECT_EQ(with_line("from triton.compiler.errors import CompilationError, OutOfResources"),
            Rules{});
  EXPECT_EQ(with_line("import triton.compiler.errors as e\ne.CompilationError = None"),
            (Rules{"native_code", "monkeypatch"}));
  EXPECT_EQ(with_line("def f(x):\n    torch._dynamo.mark_static(x)"), Rules{});
  EXPECT_EQ(with_line("from torch.library import wrap_triton, Library\nLibrary('aten')"),
            Rules{"hidden_dispatch"});
  EXPECT_EQ(with_line("@torch.compiler.disable\ndef f(x):\n    return x"), Rules{});
  EXPECT_EQ(with_line("@torch.compiler.disable(recursive=False)\ndef f(x):\n    return x"),
            Rules{});
  EXPECT_EQ(with_line("torch.compiler.disable = len"), (Rules{"torch_compiler", "monkeypatch"}));
  EXPECT_EQ(in_forward("if torch.compiler.is_compiling() or torch.jit.is_tracing():\n    y = x"),
            Rules{});
  EXPECT_EQ(with_line("import torch._dynamo\nimport torch.fx as fx\n@torch._dynamo.disable\n"
                      "def f(x):\n    return x\nfx.wrap('f')"),
            Rules{});
  EXPECT_EQ(with_line("from torch.jit import ignore, script\nscript(1)"), Rules{"torch_compiler"});
  EXPECT_EQ(with_line("import torch._dynamo as d\nd.optimize()"), Rules{"torch_compiler"});
  EXPECT_EQ(with_line("from torch import fx\nf = getattr(fx, 'symbolic' + '_trace')"),
            Rules{"torch_compiler"});
  EXPECT_EQ(with_line("torch.compiler.reset()"), Rules{"torch_compiler"});
  EXPECT_EQ(with_line("from flash_attn import flash_attn_func as f\nf(1)"),
            (Rules{"foreign_kernels", "import_not_allowed"}));
  EXPECT_EQ(with_line("try:\n    import apex\nexcept ImportError:\n    apex = None\n"
                      "f = apex.norm if apex else None"),
            Rules{});
  EXPECT_EQ(with_line("try:\n    import apex\nexcept ValueError:\n    apex = None\nf = apex.norm"),
            (Rules{"foreign_kernels", "import_not_allowed"}));
  EXPECT_EQ(with_line("@triton.jit\ndef k2(x):\n    return tl.inline_asm_elementwise('', '', [x], "
                      "tl.int32, True, 1)"),
            Rules{});
  EXPECT_EQ(with_line("@triton.jit\ndef k2(x):\n    return tl.core.extern_elementwise('', '', [x], "
                      "{}, True)"),
            Rules{"inline_assembly"});
  EXPECT_EQ(with_line("from triton.language.extra.cuda import libdevice\n@triton.jit\ndef k2(x):\n "
                      "   return libdevice.tanh(x)"),
            Rules{});
}

TEST(Inspect, LetsAFileDefineOperatorsOfItsOwn) {
  const auto of = [](const std::string& name, const std::string& call) {
    return with_line("from torch.library import custom_op\n@custom_op(" + name +
                     ", mutates_args=())\ndef f(x: torch.Tensor) -> torch.Tensor:\n"
                     "    return torch.empty_like(x)\ndef g(x):\n    return " +
                     call);
  };
  EXPECT_EQ(of("'mine::f'", "torch.ops.mine.f(x)"), Rules{});
  EXPECT_EQ(of("'mine::f'", "torch.ops.mine.f.default(x)"), Rules{});
  EXPECT_EQ(of("'aten::relu'", "x"), Rules{"hidden_dispatch"});
  EXPECT_EQ(of("'at' + 'en::relu'", "x"), Rules{"hidden_dispatch"});
  EXPECT_EQ(of("f'{NAMES}::f'", "x\nNAMES = 'mine'"), Rules{});
  EXPECT_EQ(of("NAMES + '::' + (\"f\")", "x\nNAMES = 'mine'"), Rules{});
  EXPECT_EQ(of("NAME", "x\nNAME = f'{PART}::f'\nPART = 'mine'"), Rules{});
  for (const char* rest : {"x\nNAMES = 'aten'", "x\nNAMES = 'mine'\nNAMES = 'aten'", "x",
                           "x\nNAMES = 'mine'\ndef h():\n    global NAMES\n    NAMES = 'aten'",
                           "x\nNAMES = 'mine'\nfor NAMES in ('aten',):\n    pass",
                           "x\nNAMES = 'mine'\nimport math as NAMES",
                           "x\nNAMES = 'mine'\ndef h(NAMES):\n    return NAMES",
                           "x\nNAMES = f'{NAMES}'", "x\nNAMES = 'mine'[::-1]"})
    EXPECT_EQ(of("f'{NAMES}::f'", rest), Rules{"hidden_dispatch"}) << rest;
  EXPECT_EQ(of("f'{NAMES!r}::f'", "x\nNAMES = 'mine'"), Rules{"hidden_dispatch"});
  EXPECT_EQ(of("f'{NAMES:>9}::f'", "x\nNAMES = 'mine'"), Rules{"hidden_dispatch"});
  EXPECT_EQ(with_line("import torch.library as lib\n@lib.register_fake('mine::f')\ndef f(x):\n"
                      "    return torch.empty_like(x)"),
            Rules{});
  EXPECT_EQ(with_line("@torch.library.register_fake('aten::mm')\ndef f(x):\n    return x"),
            Rules{"hidden_dispatch"});
  EXPECT_EQ(with_line("torch.library.define('mine::f', '(Tensor x) -> Tensor')\n"
                      "torch.library.impl('mine::f', 'CUDA')(len)"),
            Rules{});
  EXPECT_EQ(
      with_line("lib = torch.library.Library('mine', 'DEF')\nlib.define('f(Tensor x) -> Tensor')"
                "\n@torch.library.impl(lib, 'f', 'CUDA')\ndef f(x):\n    return x"),
      Rules{});
  EXPECT_EQ(with_line("lib = torch.library.Library('aten', 'IMPL')\nlib.impl('relu', len, 'CUDA')"),
            Rules{"hidden_dispatch"});
  EXPECT_EQ(with_line("torch.library.impl('aten::relu', 'CUDA')(len)"), Rules{"hidden_dispatch"});
  EXPECT_EQ(with_line("define = torch.library.custom_op"), Rules{"hidden_dispatch"});
}

TEST(Inspect, OnlyWarnsOfClocksCachesStreamsAndFlags) {
  const std::string source = kHonest +
                             "import time\nimport functools\nt = "
                             "time.time()\n@functools.lru_cache\ndef grid(n):\n    return n\n"
                             "s = torch.cuda.Stream()\ntorch.backends.cudnn.benchmark = True\n";
  EXPECT_EQ(rejects(source), Rules{});
  EXPECT_EQ(rules(source, Severity::warn),
            (Rules{"caches_results", "streams", "global_flags", "clock_read"}));
}

TEST(Inspect, NotesKernelsInOneModeOnly) {
  const auto body = [](const std::string& forward) {
    auto found = rules(kImports + kKernel + model(forward), Severity::note, Policy::open);
    std::erase(found, "torch_fallback");
    return found;
  };
  EXPECT_EQ(body("if not self.training:\n    return torch.relu(x)\ny = torch.empty_like(x)\n" +
                 kLaunch + "return y\n"),
            Rules{"mode_branch"});
  EXPECT_EQ(body("if not self.training:\n    return x\ny = torch.empty_like(x)\n" + kLaunch +
                 "return y\n"),
            Rules{});
}

TEST(Inspect, SeesFailuresSwallowedInOtherWays) {
  const std::string forgiving =
      "def forgiving(f):\n    def g(self, x):\n        try:\n            return f(self, x)\n"
      "        except Exception:\n            return x\n    return g\n";
  std::string decorated = model(kForward);
  decorated.replace(decorated.find("    def forward"), 0, "    @forgiving\n");
  const auto noted = [](const std::string& source) { return rules(source, Severity::note); };
  EXPECT_EQ(noted(kImports + kKernel + forgiving + decorated), Rules{"guarded_launch"});
  EXPECT_EQ(
      noted(kImports + kKernel + model("y = x\ntry:\n    " + kLaunch + "finally:\n    return y\n")),
      Rules{"guarded_launch"});
}

TEST(Inspect, LeavesAloneWhatOnlyRunsAsAScript) {
  EXPECT_EQ(with_line("if __name__ == \"__main__\":\n    import subprocess\n    open('x')"),
            Rules{});
  EXPECT_EQ(with_line("__name__ = '__main__'\nif __name__ == \"__main__\":\n    exit(1)"),
            Rules{"process_access"});
}

TEST(Inspect, NamesTheLine) {
  const auto findings = inspect_kernel(kHonest + "x = y.__code__\n", Policy::strict);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].line, std::ranges::count(kHonest, '\n') + 1);
  EXPECT_EQ(findings[0].message, "`__code__` looks into the process that runs it");
}

TEST(Inspect, RefusesFilesTooLongOrTooDeepToLookAt) {
  EXPECT_EQ(rejects(std::string((1 << 20) + 1, 'x')), Rules{"not_inspectable"});
  EXPECT_EQ(rejects("x = " + std::string(5000, '(') + "1" + std::string(5000, ')')),
            Rules{"not_inspectable"});
  EXPECT_EQ(rejects("x = " + std::string(50000, '-') + "1"), Rules{"not_inspectable"});
}

RC_GTEST_PROP(Inspect, SurvivesAnyBytes, (const std::string& bytes)) {
  inspect_kernel(bytes, Policy::strict);
}

RC_GTEST_PROP(Inspect, SurvivesMangledKernels, ()) {
  std::string source = kHonest;
  const auto cuts = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 1000), rc::gen::inRange(0, 60)));
  for (const auto& [at, length] : cuts)
    source.erase(std::min<std::size_t>(static_cast<std::size_t>(at), source.size()),
                 static_cast<std::size_t>(length));
  inspect_kernel(source, Policy::open);
}

}  // namespace
}  // namespace tritonsmith::inspect

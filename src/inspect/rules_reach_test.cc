// Tests the rules about code that reaches for something without writing its name, and about what
// only looks as if it did.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "inspect/testing/candidates.h"

namespace tritonsmith::inspect {
namespace {

bool has(const Rules& found, const std::string& rule) {
  return std::ranges::find(found, rule) != found.end();
}

TEST(Reach, RejectsBuiltinsThatAreHandedOver) {
  for (const char* line :
       {"x = max(['1', '2'], key=eval)", "@eval\ndef f():\n    pass", "x = [exec][0]('1')",
        "x = {'run': eval}['run']('1')", "x = list(map(__import__, ['sys']))",
        "import functools\nx = functools.reduce(getattr, 'sys.modules'.split('.'), torch)",
        "x = (lambda f=open: f)()('a')",
        "from functools import partial\nx = partial(getattr, torch)",
        "x = [setattr][0]\nx(torch, 'sum', None)"})
    EXPECT_TRUE(has(with_line(line), "dynamic_code")) << line;
}

TEST(Reach, KnowsThatAParameterHidesABuiltin) {
  EXPECT_EQ(with_line("def make(compile=False, open=3):\n    return 1 if compile else open"),
            Rules{});
  EXPECT_EQ(with_line("def make(compile):\n    return lambda: compile + 1"), Rules{});
  EXPECT_EQ(with_line("def make():\n    eval = 3\n    return eval"), Rules{});
  EXPECT_EQ(with_line("def make(f=compile):\n    return f"), Rules{"dynamic_code"});
  EXPECT_EQ(with_line("def make():\n    global eval\n    return eval"), Rules{"dynamic_code"});
  EXPECT_EQ(with_line("class C:\n    eval = 3\n    def f(self):\n        return eval('1')"),
            Rules{"dynamic_code"});
  EXPECT_EQ(with_line("import re\ny = model.eval()\nz = re.compile('a')\nw = x.open"), Rules{});
}

TEST(Reach, RejectsInnerNamesInStrings) {
  for (const char* line :
       {"x = getattr(f, '__globals__')", "x = '{0.__globals__}'.format(f)",
        "import operator\nx = operator.attrgetter('__code__')(f)", "x = ['f_back', 'f_globals']",
        "x = vars(f)['__builtins__']", "import operator\nx = operator.attrgetter('sys')(f)",
        "import operator\nget = operator.attrgetter('sys')", "x = torch.__dict__['sys']",
        "x = 'Fake' in str(type(y))", "x = type(y).__name__ == 'FakeTensor'"})
    EXPECT_TRUE(has(with_line(line), "introspection")) << line;
  EXPECT_EQ(with_line("\"\"\"Says that __globals__ and FakeTensor exist.\"\"\""), Rules{});
  EXPECT_EQ(with_line("x = 'my__globals__2 and sys.modules'"), Rules{});
  EXPECT_EQ(with_line("import operator\nx = operator.attrgetter('weight.data')(y)"), Rules{});
}

TEST(Reach, LetsAFileHaveAFakeTensorOfItsOwn) {
  EXPECT_EQ(with_line("class FakeTensor:\n    pass\nx = isinstance(y, FakeTensor)"), Rules{});
  for (const char* line :
       {"x = isinstance(y, FakeTensor)", "class FakeTensor:\n    pass\nx = y.FakeTensor",
        "class FakeTensor:\n    pass\nfrom a import FakeTensor",
        "class FakeTensor:\n    pass\nx = 'FakeTensor'", "def f_back():\n    pass\nx = y.f_back",
        "def __globals__():\n    pass"})
    EXPECT_TRUE(has(with_line(line), "introspection")) << line;
}

TEST(Reach, RejectsLettersThatAreSpelledByNumber) {
  EXPECT_EQ(with_line("x = getattr(f, '\\x5f_globals__')"), Rules{"disguised_text"});
  EXPECT_EQ(with_line("x = 'caf\\xe9 \\u2192 \\n \\t \\0'"), Rules{});
}

TEST(Reach, RejectsModulesThatNoKernelNeeds) {
  EXPECT_TRUE(has(with_line("import webbrowser\nwebbrowser.open('a')"), "import_not_allowed"));
  EXPECT_TRUE(
      has(with_line("import numpy.ctypeslib as c\nc.load_library('a', 'b')"), "native_code"));
  EXPECT_TRUE(has(with_line("import logging\nlogging.FileHandler('a')"), "file_access"));
  EXPECT_TRUE(has(with_line("import logging\nlogging.os.system('a')"), "process_access"));
  EXPECT_TRUE(has(with_line("import dataclasses\ndataclasses.sys.modules"), "introspection"));
  EXPECT_EQ(with_line("import logging\nlog = logging.getLogger(__name__)\nlog.info('a')"), Rules{});
}

TEST(Reach, LetsAFileImportWhatItDoesNotUse) {
  for (const char* line :
       {"import subprocess", "from ctypes import c_void_p, c_long", "import tempfile",
        "import threading as t", "import torch.multiprocessing"})
    EXPECT_EQ(with_line(line), Rules{}) << line;
  EXPECT_TRUE(
      has(with_line("import subprocess\nglobals()['sub' + 'process'].run('a')"), "process_access"));
  EXPECT_TRUE(has(with_line("from ctypes import c_long\nc_long.from_address(1)"), "native_code"));
}

TEST(Reach, ReadsTheExpressionsOfAnFStringAsCode) {
  EXPECT_EQ(with_line("name = f'{x.__class__.__name__} of {len(x)}'"), Rules{});
  EXPECT_TRUE(has(with_line("name = f'{x.__globals__}'"), "introspection"));
  EXPECT_TRUE(has(with_line("name = f'{getattr(x, \"__glo\" \"bals__\")}'"), "introspection"));
  EXPECT_TRUE(has(with_line("name = f'{1} __globals__'"), "introspection"));
}

TEST(Reach, LetsAFileAskQuestionsThatHaveOneAnswer) {
  EXPECT_EQ(with_line("from importlib.metadata import PackageNotFoundError, metadata\n"
                      "version = metadata('torch')['Version']"),
            Rules{});
  EXPECT_EQ(with_line("import torch.distributed as dist\n"
                      "world = dist.get_world_size() if dist.is_initialized() else 1"),
            Rules{});
  EXPECT_EQ(with_line("is_split = isinstance(y, torch.distributed.tensor.DTensor)"), Rules{});
  EXPECT_EQ(with_line("def total(x, group):\n    torch.distributed.all_reduce(x, "
                      "op=torch.distributed.ReduceOp.SUM, group=group)"),
            Rules{});
  EXPECT_TRUE(has(with_line("torch.distributed.TCPStore('a', 1)"), "process_access"));
  EXPECT_TRUE(has(with_line("import torch.distributed as dist\ndist.init_process_group('nccl')"),
                  "process_access"));
  EXPECT_EQ(with_line("import inspect\nnames = inspect.signature(len).parameters"), Rules{});
  EXPECT_TRUE(
      has(with_line("import inspect\ninspect.signature(len, eval_str=True)"), "introspection"));
  EXPECT_EQ(with_line("from torch.export._trace import custom_triton_ops_decomposition_disabled\n"
                      "x = custom_triton_ops_decomposition_disabled()"),
            Rules{});
}

TEST(Reach, LetsAFileTuneButNotSteer) {
  EXPECT_EQ(with_line("import os\nos.environ['TRITON_PRINT_AUTOTUNING'] = '1'"), Rules{});
  EXPECT_EQ(with_line("import os\nos.environ.setdefault('CUDA_LAUNCH_BLOCKING', '0')"), Rules{});
  EXPECT_EQ(with_line("import os\nos.environ['TRITON_CACHE_DIR'] = '/tmp/cache'"), Rules{});
  for (const char* line : {"import os\nos.environ['TRITON_INTERPRET'] = '1'",
                           "import os\nos.environ['TRITON_OVERRIDE_DIR'] = '1'",
                           "import os\nos.environ['TRITON_CACHE_DIR'] = str(len(x))",
                           "import os\nos.environ['TRITON_PRINT_AUTOTUNING'] = str(len(x))",
                           "import os\nos.environ['ANSWER'] = '1'"})
    EXPECT_EQ(with_line(line), Rules{"environment_write"}) << line;
}

// Text as torch.compile writes it, with one kernel in a string.
std::string generated(const std::string& line_in_kernel, const std::string& launch) {
  return "from ctypes import c_void_p, c_long\nimport torch\nimport torch.nn as nn\n"
         "import tempfile\nfrom torch._inductor.async_compile import AsyncCompile\n"
         "from torch._inductor.select_algorithm import extern_kernels\n"
         "from torch._C import _cuda_getCurrentRawStream as get_raw_stream\n"
         "aten = torch.ops.aten\n"
         "empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda\n"
         "async_compile = AsyncCompile()\n"
         "add_0 = async_compile.triton('add_0', '''\nimport triton\nimport triton.language as tl\n"
         "from torch._inductor.runtime import triton_helpers, triton_heuristics\n"
         "triton_helpers.set_driver_to_gpu()\n" +
         line_in_kernel +
         "@triton_heuristics.pointwise(size_hints={'x': 64}, filename=__file__)\n@triton.jit\n"
         "def add_0(x, n, XBLOCK: tl.constexpr):\n    pass\n''', device_str='cuda')\n"
         "async_compile.wait(globals())\ndel async_compile\n\n"
         "class ModelNew(nn.Module):\n    def forward(self, x):\n"
         "        y = empty_strided_cuda((4, 4), (4, 1), torch.float32)\n" +
         launch + "        return y\n";
}

TEST(Reach, KnowsWhatInductorWrites) {
  const std::string launch = "        add_0.run(y, 16, stream=get_raw_stream(0))\n";
  EXPECT_EQ(rejects(generated("", launch)), Rules{});
  EXPECT_EQ(rules(generated("", ""), Severity::warn),
            (Rules{"kernel_not_launched", "namespace_access"}));
  EXPECT_EQ(rejects(generated("import gc; gc.get_objects()\n", launch)),
            (Rules{"introspection", "import_not_allowed"}));
  EXPECT_TRUE(
      has(with_line("import torch._inductor\ntorch._inductor.compile(f)"), "torch_compiler"));
  EXPECT_TRUE(has(with_line("f = torch._C._dynamo.guards.check_obj_id"), "hidden_dispatch"));
}

TEST(Reach, CountsTheLinesOfAKernelInAStringAsTheFiles) {
  const std::string source = generated("x = f.__code__\n", "");
  const auto findings = inspect_kernel(source, Policy::strict);
  const auto inner = std::ranges::find(findings, "introspection", &Finding::rule);
  ASSERT_NE(inner, findings.end());
  const auto before = source.substr(0, source.find("__code__"));
  EXPECT_EQ(inner->line, std::ranges::count(before, '\n') + 1);
}

// However a builtin is handed over, it is seen.
RC_GTEST_PROP(Reach, SeesABuiltinInAnyExpression, ()) {
  constexpr auto kShapes = std::to_array<const char*>(
      {"[@]", "(@,)", "{1: @}", "print(@)", "print(key=@)", "(@ if 1 else 2)", "(lambda: @)",
       "(1 or @)", "[v for v in [@]]", "(w := @)", "{**{1: @}}", "print(*[@])", "(-1, @)[1]"});
  std::string expression = *rc::gen::element<std::string>("eval", "exec", "compile", "__import__");
  for (int depth = *rc::gen::inRange(0, 5); depth > 0; --depth) {
    std::string shape = kShapes[*rc::gen::inRange<std::size_t>(0, kShapes.size())];
    expression = shape.replace(shape.find('@'), 1, expression);
  }
  RC_ASSERT(has(with_line("x = " + expression), "dynamic_code"));
}

TEST(Reach, LetsAFileCompareTypesOfFunctions) {
  const std::string types = "import types\n";
  for (const char* line :
       {"x = isinstance(y, types.FunctionType)", "x = isinstance(y, (types.FunctionType, int))",
        "x = type(y) is types.FunctionType", "x = type(y) is not types.LambdaType",
        "x = not isinstance(y, types.ModuleType) and callable(y)"})
    EXPECT_EQ(with_line(types + line), Rules{}) << line;
  for (const char* line :
       {"x = types.FunctionType(y, {})", "x = types.LambdaType(y, {})", "x = [types.FunctionType]",
        "x = isinstance(types.FunctionType, y)", "x = f(y, types.FunctionType)",
        "x = y == types.FunctionType", "x = isinstance(y, types.FunctionType(y, {}))",
        "x = isinstance(y, types.FunctionType.__call__)",
        "isinstance = f\nx = isinstance(y, types.FunctionType)",
        "def isinstance(y, t):\n    return t(y, {})\nx = isinstance(y, types.FunctionType)"})
    EXPECT_TRUE(has(with_line(types + line), "dynamic_code")) << line;
}

TEST(Reach, LetsAFileAskForADistributedLibrary) {
  for (const char* line : {"torch.distributed.is_nccl_available()",
                           "torch.distributed.distributed_c10d.is_xccl_available()",
                           "from torch.distributed import is_mpi_available\nis_mpi_available()"})
    EXPECT_EQ(with_line(line), Rules{}) << line;
  for (const char* line :
       {"torch.distributed.distributed_c10d.init_process_group('nccl')", "torch.distributed.run()",
        "torch.distributed.is_there()", "x = torch.distributed.distributed_c10d"})
    EXPECT_TRUE(has(with_line(line), "process_access")) << line;
}

TEST(Reach, LetsAFileAskForASchema) {
  const std::string asks =
      "if hasattr(torch.library, 'infer_schema'):\n"
      "    schema = torch.library.infer_schema(f, mutates_args=())\n"
      "else:\n"
      "    import torch._custom_op.impl\n"
      "    schema = torch._custom_op.impl.infer_schema(f, ())\n";
  EXPECT_EQ(with_line("def f(x: torch.Tensor) -> torch.Tensor:\n    return x\n" + asks), Rules{});
  for (const char* line :
       {"def f(x: 'print(1)'):\n    return x\n", "f.__annotations__['x'] = y\n", "hasattr = g\n",
        "g(torch.library)\n", "g(torch.library.infer_schema)\n",
        "torch._custom_op.impl.CustomOp('aten::relu')\n", "hasattr(torch.library, y)\n"})
    EXPECT_TRUE(has(with_line(line + asks), "hidden_dispatch")) << line;
}

TEST(Reach, NotesACompiledFunctionThatTheFileDefines) {
  const auto notes = [](const std::string& line) {
    std::set<std::string> found;
    for (const Finding& finding : inspect_kernel(kHonest + line + "\n", Policy::strict))
      found.insert(finding.rule);
    return found;
  };
  for (const char* line :
       {"@torch.compile\ndef f(x):\n    return x",
        "@torch.compile(fullgraph=True)\ndef f(x):\n    return x",
        "from torch import compile\n@compile(dynamic=True)\ndef f(x):\n    return x"}) {
    EXPECT_EQ(with_line(line), Rules{}) << line;
    EXPECT_TRUE(notes(line).contains("compiled_function")) << line;
  }
  for (const char* line :
       {"@torch.compile\nclass C:\n    pass", "f = torch.compile(y)",
        "@g(torch.compile)\ndef f(x):\n    return x", "from torch import compile\nf = compile(y)",
        "@torch.compile.__wrapped__\ndef f(x):\n    return x"})
    EXPECT_TRUE(has(with_line(line), "torch_compiler")) << line;
}

TEST(Reach, SaysThatASettingOfACompilerIsOne) {
  for (const Finding& finding :
       inspect_kernel(kHonest + "x = torch.compiler.config.dynamic_sources\n", Policy::strict))
    if (finding.rule == "torch_compiler") {
      EXPECT_EQ(finding.message,
                "`torch.compiler.config.dynamic_sources` sets up torch's compiler, which may write "
                "no kernel here; leave the setting out");
      return;
    }
  ADD_FAILURE() << "nothing is said";
}

}  // namespace
}  // namespace tritonsmith::inspect

// Rules about who writes the kernels: other compilers, torch's dispatcher, libraries of finished
// kernels, assembly and native code.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "inspect/imports.h"
#include "inspect/inductor.h"
#include "inspect/rules.h"
#include "inspect/triton_names.h"

namespace tritonsmith::inspect {
namespace {

constexpr std::string_view kTorchCompile = "torch.compile";

// Parts of the compilers' modules that compile nothing: queries whether a compiler is at work, or
// whether a condition holds that it may not know,
// decorators that exclude a function from compilation, marks of sizes, and the modules' names.
bool asks_or_keeps_away(const Candidate& candidate, const Use& use) {
  constexpr auto kModules = std::to_array<std::string_view>(
      {"torch.compiler", "torch._dynamo", "torch.jit", "torch.fx", "torch.fx.experimental",
       "torch.fx.experimental.symbolic_shapes"});
  constexpr auto kHarmless = std::to_array<std::string_view>(
      {"torch.compiler.is_compiling",
       "torch.compiler.is_dynamo_compiling",
       "torch.compiler.is_exporting",
       "torch.compiler.disable",
       "torch.compiler.allow_in_graph",
       "torch._dynamo.is_compiling",
       "torch._dynamo.disable",
       "torch._dynamo.allow_in_graph",
       "torch._dynamo.mark_static",
       "torch._dynamo.mark_dynamic",
       "torch._dynamo.maybe_mark_dynamic",
       "torch.jit.is_scripting",
       "torch.jit.is_tracing",
       "torch.jit.ignore",
       "torch.jit.unused",
       "torch.fx.wrap",
       "torch.fx.experimental.symbolic_shapes.guard_or_true",
       "torch.fx.experimental.symbolic_shapes.guard_or_false",
       "torch.fx.experimental.symbolic_shapes.guard_size_oblivious",
       "torch.fx.experimental.symbolic_shapes.statically_known_true",
       "torch.export._trace.custom_triton_ops_decomposition_disabled"});
  if (use.assigned) return false;
  if (is_name_of_generated_code(use.path) || is_idle_import(candidate, use)) return true;
  if (std::ranges::find(kHarmless, use.path) != kHarmless.end()) return true;
  // A use of an imported module is examined at that use.
  return candidate.names.imports().contains(use.node) &&
         std::ranges::find(kModules, use.path) != kModules.end();
}

// Tells whether the use decorates a function: @torch.compile or @torch.compile(fullgraph=True). The
// capture refuses a call of that function, so one that never runs does nothing.
bool decorates_a_function(const Candidate& candidate, const Use& use) {
  const SyntaxTree& tree = candidate.tree;
  NodeId at = tree[use.node].parent;
  if (use.called) at = tree[at].parent;
  const NodeId whole = tree.is(at, "decorator") ? tree[at].parent : kNoNode;
  return use.path == kTorchCompile && tree.is(whole, "decorated_definition") &&
         tree.is(tree.child(whole, "definition"), "function_definition");
}

// Modules of settings. They compile nothing, but they belong to the compilers.
bool is_compiler_setting(std::string_view path) {
  constexpr auto kSettings = std::to_array<std::string_view>(
      {"torch.compiler.config", "torch._dynamo.config", "torch._inductor.config"});
  return std::ranges::any_of(kSettings, [&](auto name) { return is_or_is_in(path, name); });
}

}  // namespace

void find_compiled_functions(const Candidate& candidate, Matches& matches) {
  for (const Use& use : candidate.uses)
    if (use.imported && decorates_a_function(candidate, use))
      matches.add(use.node, "a function that torch.compile compiles may not be called");
}

void find_torch_compilers(const Candidate& candidate, Matches& matches) {
  constexpr auto kCompilers = std::to_array<std::string_view>(
      {kTorchCompile, "torch.jit", "torch._dynamo", "torch._inductor", "torch.fx", "torch.export",
       "torch.compiler", "torch.cuda.make_graphed_callables", "functorch", "torch_tensorrt", "onnx",
       "onnxruntime", "jax", "tensorflow"});
  for (const Use& use : candidate.uses) {
    const bool is_compiler = std::ranges::any_of(
        kCompilers, [&](auto compiler) { return is_or_is_in(use.path, compiler); });
    if (!use.imported || !is_compiler || asks_or_keeps_away(candidate, use) ||
        decorates_a_function(candidate, use))
      continue;
    if (use.path == kTorchCompile && candidate.names.imports().contains(use.node)) continue;
    matches.add(use.node,
                is_compiler_setting(use.path)
                    ? fmt::format("`{}` sets up torch's compiler, which may write no "
                                  "kernel here; leave the setting out",
                                  use.path)
                    : fmt::format("`{}` lets another compiler write the kernel", use.path));
  }
}

namespace {

// Returns "mine" for `custom_op("mine::scale", ...)`. Returns an empty string for a namespace of
// torch, or one that is no constant text.
std::string own_namespace(const Candidate& candidate, const Use& use) {
  constexpr auto kOfTorch = std::to_array<std::string_view>(
      {"aten", "prim", "prims", "profiler", "torch", "inductor", "quantized"});
  const SyntaxTree& tree = candidate.tree;
  const auto arguments = tree.children(tree.child(tree[use.node].parent, "arguments"));
  std::string name = arguments.empty() ? "" : constant_text(tree, arguments[0]);
  if (use.path == "torch.library.Library") name += "::";
  const std::string own = name.substr(0, name.find("::"));
  const bool is_plain =
      !own.empty() && own.size() < name.size() &&
      std::ranges::all_of(own, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return is_plain && !own.starts_with('_') && std::ranges::find(kOfTorch, own) == kOfTorch.end()
             ? own
             : "";
}

bool defines_operator(const Use& use) {
  return use.called && use.imported &&
         (use.path == "torch.library.custom_op" || use.path == "torch.library.triton_op" ||
          use.path == "torch.library.Library" || use.path == "torch.library.define");
}

// The namespaces of the operators that the file defines. The capture runs their Python like
// any other code.
std::set<std::string> own_namespaces(const Candidate& candidate) {
  std::set<std::string> own;
  for (const Use& use : candidate.uses)
    if (defines_operator(use)) own.insert(own_namespace(candidate, use));
  own.erase("");
  return own;
}

// Tells whether every library of the file has a namespace of its own, and this is an operator of one.
bool registers_in_own_library(const Candidate& candidate, const Use& impl) {
  const SyntaxTree& tree = candidate.tree;
  const auto arguments = tree.children(tree.child(tree[impl.node].parent, "arguments"));
  const bool by_object = !arguments.empty() && tree.is(arguments[0], "identifier");
  return by_object && std::ranges::none_of(candidate.uses, [&](const Use& use) {
           return use.called && use.imported && use.path == "torch.library.Library" &&
                  own_namespace(candidate, use).empty();
         });
}

// Parts of torch.library that define operators of the file and change none of torch's.
bool is_own_operator(const Candidate& candidate, const Use& use) {
  constexpr auto kDefining = std::to_array<std::string_view>(
      {"torch.library", "torch.library.custom_op", "torch.library.triton_op",
       "torch.library.register_fake", "torch.library.register_autograd", "torch.library.Library",
       "torch.library.define", "torch.library.impl"});
  if (use.assigned || std::ranges::find(kDefining, use.path) == kDefining.end()) return false;
  if (candidate.names.imports().contains(use.node)) return true;
  // Library("mine", "DEF") names a namespace alone; impl(library, "f", "CUDA") belongs to one.
  return use.called &&
         (!own_namespace(candidate, use).empty() ||
          (use.path == "torch.library.impl" && registers_in_own_library(candidate, use)));
}

}  // namespace

void find_operator_table_uses(const Candidate& candidate, Matches& matches) {
  constexpr std::string_view table = "torch.ops";
  const std::set<std::string> own = own_namespaces(candidate);
  for (const Use& use : candidate.uses) {
    if (!use.imported || !is_or_is_in(use.path, table)) continue;
    const std::string inner = use.path.substr(std::min(use.path.size(), table.size() + 1));
    const std::size_t dot = inner.find('.');
    const bool is_own = !use.assigned && dot != std::string::npos &&
                        own.contains(inner.substr(0, dot)) &&
                        !candidate.names.imports().contains(use.node);
    if (!is_own)
      matches.add(use.node, fmt::format("`{}` calls operators past their names", use.path));
  }
}

namespace {

// Tells whether torch may read texts of the file as types. It runs those as code.
bool writes_types_as_text(const Candidate& candidate) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    const bool is_text = tree.is(id, "string");
    if (is_text && tree.around(id, {"type"}) != kNoNode) return true;
    if (!is_text && !tree.is(id, "identifier")) continue;
    const std::string name = normal_identifier(candidate.text(id));
    constexpr auto kTypes = std::to_array<std::string_view>(
        {"__annotations__", "__signature__", "__annotate__", "make_dataclass", "NamedTuple"});
    if (std::ranges::any_of(kTypes, [&](auto part) { return name.find(part) != name.npos; }))
      return true;
  }
  return false;
}

// Matches a call of infer_schema, which reads the types of a function's parameters, the import of
// its module, and hasattr(torch.library, "name").
bool asks_for_a_schema(const Candidate& candidate, const Use& use) {
  constexpr std::string_view old_module = "torch._custom_op.impl";
  if (use.path == old_module) return candidate.names.imports().contains(use.node);
  if (use.path == "torch.library.infer_schema" || use.path == "torch._custom_op.impl.infer_schema")
    return (use.called || candidate.names.imports().contains(use.node)) &&
           !writes_types_as_text(candidate);
  const SyntaxTree& tree = candidate.tree;
  const NodeId arguments = tree[use.node].parent;
  if (use.path != "torch.library" || !tree.is(arguments, "argument_list")) return false;
  const auto given = tree.children(arguments);
  return given.size() == 2 && given.front() == use.node && tree.is(given.back(), "string") &&
         candidate.text(tree.child(tree[arguments].parent, "function")) == "hasattr" &&
         candidate.only_calls("hasattr");
}

}  // namespace

void find_hidden_dispatch(const Candidate& candidate, Matches& matches) {
  constexpr auto kInner = std::to_array<std::string_view>({"torch._C",
                                                           "torch.library",
                                                           "torch.overrides",
                                                           "torch.utils._python_dispatch",
                                                           "torch._ops",
                                                           "torch._subclasses",
                                                           "torch._guards",
                                                           "torch.classes",
                                                           "torch._library",
                                                           "torch._functorch",
                                                           "torch._export",
                                                           "torch._higher_order_ops",
                                                           "torch._dispatch",
                                                           "torch._python_dispatcher",
                                                           "torch._utils_internal",
                                                           "torch._logging",
                                                           "torch._jit_internal",
                                                           "torch._custom_op",
                                                           "torch._weights_only_unpickler",
                                                           "torch.serialization",
                                                           "torch.package",
                                                           "torch._tensor"});
  // Functions that code written by torch.compile calls. One is a number, the other returns the
  // kernel.
  constexpr auto kHarmless = std::to_array<std::string_view>(
      {"torch._C._cuda_getCurrentRawStream", "torch.library.wrap_triton"});
  for (const Use& use : candidate.uses) {
    const bool is_inner =
        std::ranges::any_of(kInner, [&](auto name) { return is_or_is_in(use.path, name); });
    const bool is_harmless =
        !use.assigned && (std::ranges::find(kHarmless, use.path) != kHarmless.end() ||
                          is_name_of_generated_code(use.path) || is_idle_import(candidate, use) ||
                          asks_for_a_schema(candidate, use));
    if (use.imported && is_inner && !is_harmless && !is_own_operator(candidate, use))
      matches.add(use.node,
                  defines_operator(use)
                      ? fmt::format("`{}` defines an operator in no namespace of the file's own; "
                                    "write the name as a text such as \"mine::scale\"",
                                    use.path)
                      : fmt::format("`{}` reaches into torch's dispatcher", use.path));
  }
  const SyntaxTree& tree = candidate.tree;
  constexpr auto kMethods = std::to_array<std::string_view>(
      {"__torch_function__", "__torch_dispatch__", "__instancecheck__", "__del__"});
  for (const Function& function : candidate.functions)
    if (std::ranges::find(kMethods, function.name) != kMethods.end())
      matches.add(function.node, fmt::format("`{}` changes what other code does", function.name));
    else if (function.name == "__getattr__" &&
             tree.around(function.node, {"class_definition"}) == kNoNode)
      matches.add(function.node, "`__getattr__` makes up what the file defines");
}

void find_foreign_kernels(const Candidate& candidate, Matches& matches) {
  constexpr auto kLibraries = std::to_array<std::string_view>({"flash_attn",
                                                               "xformers",
                                                               "apex",
                                                               "bitsandbytes",
                                                               "liger_kernel",
                                                               "flag_gems",
                                                               "cutlass",
                                                               "tilelang",
                                                               "torchao",
                                                               "vllm",
                                                               "sglang",
                                                               "deepspeed",
                                                               "transformer_engine",
                                                               "flashinfer",
                                                               "unsloth",
                                                               "fla",
                                                               "mamba_ssm",
                                                               "causal_conv1d",
                                                               "kernels",
                                                               "thunderkittens",
                                                               "kernelbench"});
  for (const Use& use : candidate.uses) {
    const bool is_foreign = std::ranges::any_of(
        kLibraries, [&](auto library) { return is_or_is_in(use.path, library); });
    if (!use.imported || !is_foreign || is_idle_import(candidate, use)) continue;
    if (!is_or_is_in(use.path, "torch") && is_optional_module(candidate, use.path)) continue;
    matches.add(use.node, fmt::format("`{}` brings kernels that others wrote", use.path));
  }
}

void find_inline_assembly(const Candidate& candidate, Matches& matches) {
  find_uses_of(candidate, matches, kTritonExterns, "is not Triton's own language");
}

void find_native_code(const Candidate& candidate, Matches& matches) {
  find_uses(candidate, matches,
            {"ctypes", "cffi", "torch.utils.cpp_extension", "torch.utils.dlpack", "cupy", "numba",
             "pycuda", "cuda", "nvrtc", "llvmlite", "cython", "pybind11", "torch.cuda.cudart",
             "torch.cuda._compile_kernel", "torch.ops.load_library", "torch.ops.import_module",
             "numpy.ctypeslib", "numpy.f2py", "numpy.distutils"},
            "brings code that is not Triton");
  find_uses_of(candidate, matches, kTritonBinaries, "brings code that is not Triton");
  constexpr auto kErrors = std::to_array<std::string_view>(
      {"triton.compiler.errors.CompilationError",
       "triton.compiler.errors.CompileTimeAssertionFailure",
       "triton.compiler.errors.UnsupportedLanguageConstruct",
       "triton.compiler.errors.OutOfResources", "triton.compiler.CompilationError",
       "triton.compiler.OutOfResources"});
  for (const Use& use : candidate.uses)
    if (use.imported && is_or_is_in(use.path, kTritonCompiler) &&
        (use.assigned || std::ranges::find(kErrors, use.path) == kErrors.end()) &&
        !is_name_of_generated_code(use.path) && !is_idle_import(candidate, use))
      matches.add(use.node, fmt::format("`{}` brings code that is not Triton", use.path));
}

}  // namespace tritonsmith::inspect

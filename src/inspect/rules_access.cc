// Rules about access to things that are not the candidate's own. The sandbox makes most of these
// accesses harmless, but a model must not learn them.
#include <algorithm>
#include <array>

#include "inspect/imports.h"
#include "inspect/rules.h"
#include "inspect/torch_functions.h"
#include "inspect/triton_names.h"

namespace tritonsmith::inspect {
namespace {

bool is_environment_write(const Use& use) {
  constexpr auto kWriters = std::to_array<std::string_view>(
      {"os.environ.update", "os.environ.pop", "os.environ.setdefault", "os.environ.clear",
       "os.environ.popitem", "os.environ.__setitem__", "os.putenv", "os.unsetenv"});
  return (is_or_is_in(use.path, "os.environ") && use.assigned) ||
         std::ranges::find(kWriters, use.path) != kWriters.end();
}

// Questions whether a module exists, and imports of a module whose name is written out.
bool only_asks_for_modules(std::string_view path) {
  constexpr auto kAsks =
      std::to_array<std::string_view>({"importlib", "importlib.util", "importlib.util.find_spec",
                                       "importlib.import_module", "importlib.metadata"});
  return std::ranges::find(kAsks, path) != kAsks.end() ||
         is_or_is_in(path, "importlib.metadata.version") ||
         is_or_is_in(path, "importlib.metadata.metadata") ||
         is_or_is_in(path, "importlib.metadata.PackageNotFoundError");
}

// Variables that tune Triton, PyTorch and their libraries. A name of a folder or a file is none of
// them, nor is the one that replaces kernels by Python. Triton's cache is one: the file compiles nothing
// in its process, so the folder stays empty.
bool is_tuning_knob(std::string_view name) {
  if (name == "TRITON_CACHE_DIR") return true;
  constexpr auto kPrefixes = std::to_array<std::string_view>(
      {kTritonVariables, "TORCHINDUCTOR_", "TORCHDYNAMO_", "CUDA_", "CUBLAS_", "NVIDIA_TF32",
       "PYTORCH_CUDA_ALLOC", "PYTORCH_ALLOC", "TORCH_ALLOW_TF32", "TORCH_CUDA_ARCH_LIST",
       "TOKENIZERS_PARALLELISM", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TORCH_CUDNN"});
  constexpr auto kOthers = std::to_array<std::string_view>(
      {"DIR", "PATH", "HOME", "INTERPRET", "CACHE", "VISIBLE", "OVERRIDE_ARCH", "LIBDEVICE"});
  return std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); }) &&
         std::ranges::none_of(kOthers, [&](auto word) { return name.find(word) != name.npos; });
}

// Tells whether the file gives such a variable a value that is written out: by
// os.environ["NAME"] = "1" or os.environ.setdefault("NAME", "1").
bool turns_a_knob(const Candidate& candidate, const Use& use) {
  const SyntaxTree& tree = candidate.tree;
  const NodeId around = tree[use.node].parent;
  if (tree.is(around, "subscript")) {
    const NodeId assignment = tree[around].parent;
    return tree.is(assignment, "assignment") && tree[around].field == "left" &&
           is_tuning_knob(literal_text(tree, tree.child(around, "subscript"))) &&
           !literal_text(tree, tree.child(assignment, "right")).empty();
  }
  if (use.path != "os.environ.setdefault" || !use.called) return false;
  const auto arguments = tree.children(tree.child(around, "arguments"));
  return arguments.size() == 2 && is_tuning_knob(literal_text(tree, arguments[0])) &&
         !literal_text(tree, arguments[1]).empty();
}

// Returns "`CUDA_HOME`" for the variable that is written, or "this" if its name is computed.
std::string written_variable(const Candidate& candidate, const Use& use) {
  const SyntaxTree& tree = candidate.tree;
  const NodeId around = tree[use.node].parent;
  std::string name = tree.is(around, "subscript")
                         ? literal_text(tree, tree.child(around, "subscript"))
                         : std::string();
  if (const auto arguments = tree.children(tree.child(around, "arguments"));
      use.called && !arguments.empty())
    name = literal_text(tree, arguments[0]);
  return name.empty() ? "this" : fmt::format("`{}`: the file", name);
}

// Matches `super(self.__class__, self)` and `super(__class__, self)`. They give the class to
// nothing but super().
bool is_given_to_super(const Candidate& candidate, NodeId name) {
  const SyntaxTree& tree = candidate.tree;
  NodeId given = name;
  if (tree.is(tree[name].parent, "attribute")) {
    given = tree[name].parent;
    if (normal_identifier(candidate.text(tree.child(given, "object"))) != "self") return false;
  }
  const NodeId arguments = tree[given].parent;
  return tree.is(arguments, "argument_list") && tree.children(arguments).front() == given &&
         candidate.text(tree.child(tree[arguments].parent, "function")) == "super";
}

// Tells whether the file only asks what parameters a function has, or what kind of object one is.
bool asks_for_a_signature(const Candidate& candidate, const Use& use) {
  constexpr auto kQuestions = std::to_array<std::string_view>(
      {"inspect", "inspect.isfunction", "inspect.isclass", "inspect.ismethod", "inspect.getdoc",
       "inspect.getfullargspec", "inspect.cleandoc"});
  if (is_or_is_in(use.path, "inspect.signature") || is_or_is_in(use.path, "inspect.Signature")) {
    const NodeId call = candidate.tree[use.node].parent;
    return !use.called || candidate.text(call).find("eval_str") == std::string_view::npos;
  }
  return std::ranges::find(kQuestions, use.path) != kQuestions.end() ||
         is_or_is_in(use.path, "inspect.Parameter");
}

// Tells whether the file only compares an object's type with this one: isinstance(f, T),
// isinstance(f, (T, S)), type(f) is T.
bool is_compared_with(const Candidate& candidate, const Use& use) {
  const SyntaxTree& tree = candidate.tree;
  if (std::ranges::count(use.path, '.') != 1) return false;  // it reads something of the type
  NodeId type = use.node;
  NodeId around = tree[type].parent;
  if (tree.is(around, "comparison_operator")) {
    const auto sides = tree.children(around);
    if (sides.size() != 2) return false;
    const NodeId first = sides.front();
    const std::string sign =
        tree.source().substr(tree[first].end, tree[sides.back()].begin - tree[first].end);
    return sign == " is " || sign == " is not ";  // == asks the other object, which sees the type
  }
  if (tree.is(around, "tuple")) {
    type = around;
    around = tree[type].parent;
  }
  if (!tree.is(around, "argument_list")) return false;
  const auto given = tree.children(around);
  return given.size() == 2 && given.back() == type &&
         candidate.text(tree.child(tree[around].parent, "function")) == "isinstance" &&
         candidate.only_calls("isinstance");
}

// Reports `__class__`. type(self).__class__.__name__ and similar expressions only print. Any other
// use of a class may reach further.
void find_classes_of_objects(const Candidate& candidate, Matches& matches) {
  const bool own_super = candidate.only_calls("super");
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "identifier") || !candidate.is_live(id) ||
        normal_identifier(candidate.text(id)) != "__class__")
      continue;
    const NodeId whole = tree.around(id, {"attribute"});
    const bool only_named =
        whole != kNoNode && tree.is(tree[whole].parent, "attribute") &&
        candidate.text(tree.child(tree[whole].parent, "attribute")) == "__name__";
    if (!only_named && !(own_super && is_given_to_super(candidate, id)))
      matches.add(id, "`__class__` looks into the process that runs it");
  }
}

}  // namespace

void find_dynamic_code(const Candidate& candidate, Matches& matches) {
  find_builtins_as_values(candidate, matches);
  find_computed_kernel_texts(candidate, matches);
  find_uses(
      candidate, matches,
      {"runpy", "code", "codeop", "pkgutil", "imp", "marshal", "pickle", "dill", "cloudpickle",
       "builtins.eval", "builtins.exec", "builtins.compile", "builtins.__import__"},
      "brings in code that cannot be inspected");
  constexpr auto kMakers = std::to_array<std::string_view>(
      {"types.CodeType", "types.FunctionType", "types.LambdaType", "types.ModuleType"});
  for (const Use& use : candidate.uses) {
    const bool makes =
        std::ranges::any_of(kMakers, [&](auto maker) { return is_or_is_in(use.path, maker); });
    if (use.imported && makes && !candidate.names.imports().contains(use.node) &&
        !is_compared_with(candidate, use))
      matches.add(use.node, fmt::format("`{}` brings in code that cannot be inspected", use.path));
  }
  find_uses(candidate, matches, {"functools.singledispatch", "functools.singledispatchmethod"},
            "runs annotations that are text as code; ask `isinstance` instead");
  find_uses(candidate, matches,
            {"typing.get_type_hints", "typing.ForwardRef", "typing._eval_type",
             "typing_extensions.get_type_hints", "inspect.get_annotations", "annotationlib",
             "sympy", "timeit", "cProfile", "profile", "pdb", "bdb", "doctest", "trace", "jinja2",
             "numexpr", "numpy.testing", "logging.config"},
            "runs text as code");
  for (const Use& use : candidate.uses)
    if (use.imported && is_or_is_in(use.path, "importlib") && !only_asks_for_modules(use.path))
      matches.add(use.node, fmt::format("`{}` brings in code that cannot be inspected", use.path));
}

void find_introspection(const Candidate& candidate, Matches& matches) {
  find_uses(candidate, matches,
            {"gc",
             "logging.Logger.manager",
             "logging.root",
             "torch._C._functorch",
             "torch._guards",
             "torch._subclasses",
             "torch.utils._python_dispatch",
             "sys._getframe",
             "sys._current_frames",
             "sys.modules",
             "sys.settrace",
             "sys.setprofile",
             "sys.meta_path",
             "sys.path",
             "sys.path_hooks",
             "sys.excepthook",
             "sys.exc_info",
             "sys.last_traceback",
             "traceback",
             "builtins",
             "dis",
             "tracemalloc",
             "weakref"},
            "looks into the process that runs it");
  find_names_in_strings(candidate, matches);
  find_inner_attributes(candidate, matches);
  for (const Use& use : candidate.uses)
    if (use.imported && is_or_is_in(use.path, "inspect") && !asks_for_a_signature(candidate, use) &&
        !is_idle_import(candidate, use))
      matches.add(use.node, fmt::format("`{}` looks into the process that runs it", use.path));
  find_classes_of_objects(candidate, matches);
}

void find_namespace_access(const Candidate& candidate, Matches& matches) {
  find_builtin_calls(candidate, matches, {"globals", "locals", "vars", "breakpoint"},
                     "reaches variables in a roundabout way");
  for (const Use& use : candidate.uses) {
    constexpr auto kHarmless =
        std::to_array<std::string_view>({"torch", kTriton, "math", "typing", "numpy"});
    const bool everything = candidate.tree.is(use.node, "wildcard_import");
    if (everything &&
        std::ranges::none_of(kHarmless, [&](auto name) { return is_or_is_in(use.path, name); }))
      matches.add(use.node, fmt::format("`{}` hides what is used", use.path));
    if (last_part(use.path) == "__dict__")
      matches.add(use.node, "`__dict__` reaches attributes in a roundabout way");
    const bool imports = use.path == "importlib.import_module";
    if ((use.path != "getattr" && !imports) || !use.called) continue;
    const auto arguments =
        candidate.tree.children(candidate.tree.child(candidate.tree[use.node].parent, "arguments"));
    if (imports && (arguments.empty() || literal_text(candidate.tree, arguments[0]).empty()))
      matches.add(use.node, "imports a module whose name is computed");
    if (arguments.size() < 2 || !literal_text(candidate.tree, arguments[1]).empty()) continue;
    if (candidate.names.resolve(arguments[0]).imported)
      matches.add(use.node, "`getattr` with a computed name hides what is used");
  }
}

namespace {

// True for `y.cpu = lambda: z`. False for `ctx.stride = 4`, which stores a number.
bool becomes_function(const Candidate& candidate, const Use& use) {
  const NodeId assignment = candidate.tree.around(use.node, {"assignment"});
  const NodeId value = assignment == kNoNode ? kNoNode : candidate.tree.child(assignment, "right");
  return candidate.tree.is(value, "lambda") ||
         (candidate.tree.is(value, "identifier") && candidate.defines(candidate.text(value)));
}

NodeId first_argument(const Candidate& candidate, const Use& use) {
  const auto arguments =
      candidate.tree.children(candidate.tree.child(candidate.tree[use.node].parent, "arguments"));
  return arguments.empty() ? kNoNode : arguments.front();
}

// Calls such as setattr(torch, ...), type.__setattr__(torch.cuda.Event, ...) and
// torch.__dict__.update(...).
void find_patching_calls(const Candidate& candidate, Matches& matches) {
  constexpr auto kSetters =
      std::to_array<std::string_view>({"setattr", "delattr", "type.__setattr__", "type.__delattr__",
                                       "object.__setattr__", "object.__delattr__"});
  for (const Use& use : candidate.uses) {
    if (!use.called) continue;
    const std::size_t dictionary = use.path.find(".__dict__.");
    if (dictionary != std::string::npos && use.imported && !use.path.ends_with(".get") &&
        !use.path.ends_with("s"))  // keys, items, values
      matches.add(use.node, fmt::format("`{}` changes what is not the candidate's", use.path));
    if (std::ranges::find(kSetters, use.path) == kSetters.end()) continue;
    const NodeId first = first_argument(candidate, use);
    if (first == kNoNode) continue;
    const Name target = candidate.names.resolve(first);
    if (target.imported)
      matches.add(use.node, fmt::format("`{}` is not the candidate's to change", target.path));
  }
}

// Assignments such as vars(torch.cuda)["Event"] = ... and globals()["tolerance"] = ...
void find_patched_namespaces(const Candidate& candidate, Matches& matches) {
  const SyntaxTree& tree = candidate.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, "assignment") || !candidate.is_live(id)) continue;
    const NodeId left = tree.child(id, "left");
    if (!tree.is(left, "subscript") || !tree.is(tree.child(left, "value"), "call")) continue;
    const std::string path =
        candidate.names.resolve(tree.child(tree.child(left, "value"), "function")).path;
    if (path == "vars" || path == "globals" || path == "locals")
      matches.add(id, fmt::format("`{}()` is written to", path));
  }
}

}  // namespace

void find_monkeypatches(const Candidate& candidate, Matches& matches) {
  for (const Use& use : candidate.uses) {
    const bool attribute =
        candidate.tree.is(use.node, "attribute") || candidate.tree.is(use.node, "call");
    const bool flag = is_or_is_in(use.path, "torch.backends") ||
                      is_or_is_in(use.path, "os.environ") ||
                      use.path == "triton.knobs.autotuning.print";
    if (use.assigned && use.imported && attribute && !flag)
      matches.add(use.node, fmt::format("`{}` is not the candidate's to change", use.path));
    const bool own = use.path.starts_with("self.") || use.path.starts_with("ModelNew.");
    if (use.assigned && attribute && !use.imported && !own && judges_call(last_part(use.path)) &&
        becomes_function(candidate, use))
      matches.add(use.node, fmt::format("`{}` makes a tensor answer otherwise", use.path));
  }
  find_patching_calls(candidate, matches);
  find_patched_namespaces(candidate, matches);
  find_uses(candidate, matches, {"unittest.mock", "mock", "ctypes.pythonapi", "gorilla", "wrapt"},
            "changes what is not the candidate's");
}

void find_environment_writes(const Candidate& candidate, Matches& matches) {
  for (const Use& use : candidate.uses)
    if (use.imported && is_environment_write(use) && !turns_a_knob(candidate, use))
      matches.add(
          use.node,
          fmt::format("{} changes the environment; a file may only give variables that tune "
                      "Triton, PyTorch or CUDA a text that is written out, such as "
                      "os.environ[\"TRITON_PRINT_AUTOTUNING\"] = \"1\"",
                      written_variable(candidate, use)));
}

void find_environment_reads(const Candidate& candidate, Matches& matches) {
  for (const Use& use : candidate.uses) {
    const bool reads = is_or_is_in(use.path, "os.environ") || use.path == "os.getenv";
    if (use.imported && reads && !is_environment_write(use))
      matches.add(use.node, "depends on the environment, which a judge empties");
  }
}

void find_clock_reads(const Candidate& candidate, Matches& matches) {
  find_uses(
      candidate, matches,
      {"time", "timeit", "datetime", "torch.cuda.Event", "torch.utils.benchmark", "torch.profiler"},
      "measures time, which is the judge's to do");
}

}  // namespace tritonsmith::inspect

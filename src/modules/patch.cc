#include "modules/patch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tritonsmith::modules {
namespace {

constexpr std::string_view kReplaceClass = R"PY(

def replacement_of(old):
    """Returns a module that computes what `old` does, with the same weights, on the same device, in the same mode.

    It computes the forward pass only: there are no gradients."""
    tensor = next(iter([*old.parameters(), *old.buffers()]), None)
    new = ModelNew(*ARGUMENTS, **KEYWORDS)
    if tensor is not None:
        new.to(tensor.device)
    new.load_state_dict(old.state_dict(), assign=True)
    return new.requires_grad_(False).train(old.training)


def replace(model, old_class):
    """Replaces every module of a class within a model by its replacement, and returns the model."""
    if type(model) is old_class:
        return replacement_of(model)
    for name, child in model.named_children():
        setattr(model, name, replace(child, old_class))
    return model
)PY";

constexpr std::string_view kTest = R"PY(

def _device():
    if _torch.cuda.is_available():
        return "cuda"
    if _os.environ.get("TRITON_INTERPRET") == "1":
        return "cpu"
    raise _unittest.SkipTest("needs a GPU")


def _compare(inputs):
    device = _device()

    def moved(value):
        return value.to(device, copy=True) if isinstance(value, _torch.Tensor) else value

    def call(model):
        with _torch.no_grad():
            return model(*_tree_map(moved, inputs))

    old = Model(*_ARGUMENTS, **_KEYWORDS).to(device)
    compared = []
    for mode in dict.fromkeys(["training" if old.training else "evaluation", "evaluation"]):
        old.train(mode == "training")
        expected = call(old)
        if not _is_same(expected, call(old)):
            continue  # random, as with dropout
        compared.append(mode)
        is_single = isinstance(expected, _torch.Tensor) and expected.dtype in (_torch.float32, _torch.float64)
        tolerance = 1e-4 if is_single else 1e-2
        _torch.testing.assert_close(call(_made(old)), expected, rtol=tolerance, atol=tolerance,
                                    msg=lambda text: f"In {mode} mode: {text}")
    assert compared, "the original is random in every mode, so nothing was compared"


def _is_same(one, other):
    try:
        _torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    except AssertionError:
        return False
    return True
)PY";

std::string head_of(const ModuleTasks& made, std::string_view module_name) {
  const std::string use =
      made.is_class ? fmt::format("from {0} import replace\n#     model = replace(model, {1})",
                                  module_name, made.name)
                    : fmt::format("from {} import replacement as {}", module_name, made.name);
  return fmt::format(
      "# Takes the place of {} of {}, verified with\n#     {}\n# Use it so:\n#     {}\n\n",
      made.name, made.file, fmt::join(made.calls, "\n#     "), use);
}

// Returns the lines that bind the constructor's arguments to two names.
std::string arguments_of(const ModuleTasks& made, std::string_view prefix) {
  return fmt::format("{0}ARGUMENTS = [{1}]\n{0}KEYWORDS = {{{2}}}\n", prefix, made.arguments,
                     made.keywords);
}

std::string test_of(const ModuleTasks& made, std::string_view module_name) {
  const std::string_view name = made.is_class ? "replacement_of" : "replacement";
  std::string text = fmt::format(
      "# Checks that {0} takes the place of {1} of {2}: run it with pytest on a machine with a "
      "GPU.\n# The original follows as it was compared.\n{3}\n\n"
      "import os as _os\nimport unittest as _unittest\n\nimport torch as _torch\n"
      "from torch.utils._pytree import tree_map as _tree_map\n\nimport {0} as _patch\n\n",
      module_name, made.name, made.file, made.tasks.front().source);
  text += arguments_of(made, "_");
  text += made.is_class ? "_made = _patch.replacement_of\n"
                        : "\n\ndef _made(old):\n    return _patch.replacement\n";
  text += kTest;
  for (std::size_t i = 0; i < made.calls.size(); ++i)
    text += fmt::format("\n\ndef test_{}_{}():\n    _compare([{}])\n", name, i + 1, made.calls[i]);
  return text;
}

}  // namespace

Patch patch_of(const ModuleTasks& made, std::string_view kernel, std::string_view module_name) {
  std::string module = head_of(made, module_name) + std::string(kernel);
  module += module.ends_with('\n') ? "\n\n" : "\n\n\n";
  if (made.is_class) {
    module += arguments_of(made, "");
    module += kReplaceClass;
  } else {
    module +=
        fmt::format("_model = ModelNew()\n\n\ndef replacement({0}):\n    return _model({0})\n",
                    fmt::join(made.parameters, ", "));
  }
  return {.module = std::move(module), .test = test_of(made, module_name)};
}

}  // namespace tritonsmith::modules

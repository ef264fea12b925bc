#include "inspect/inductor.h"

#include <algorithm>
#include <array>

#include "inspect/rules.h"

namespace tritonsmith::inspect {

bool is_name_of_generated_code(std::string_view path) {
  constexpr auto kModules = std::to_array<std::string_view>(
      {"torch._inductor.runtime.triton_helpers", "torch._inductor.runtime.hints",
       "torch._inductor.select_algorithm.extern_kernels"});
  constexpr auto kNames = std::to_array<std::string_view>(
      {"torch._inductor.async_compile.AsyncCompile",
       "torch._inductor.hooks.run_intermediate_hooks",
       "torch._inductor.utils.maybe_profile",
       "torch._inductor.utils.print_performance",
       "torch._inductor.codegen.memory_planning._align",
       "torch._inductor.codegen.multi_kernel.MultiKernelCall",
       "torch._inductor.wrapper_benchmark.compiled_module_main",
       "torch._inductor.runtime.triton_heuristics",
       "torch._inductor.runtime",
       "torch._inductor.runtime.triton_helpers",
       "torch._dynamo.testing.rand_strided",
       "torch._C._dynamo.guards.assert_size_stride",
       "torch._C._dynamo.guards.assert_alignment",
       "torch._C._dynamo.guards._empty_strided_cpu",
       "torch._C._dynamo.guards._empty_strided_cpu_pinned",
       "torch._C._dynamo.guards._empty_strided_cuda",
       "torch._C._dynamo.guards._empty_strided_xpu",
       "torch._C._dynamo.guards._empty_strided_mtia",
       "torch._C._dynamo.guards._reinterpret_tensor",
       "torch._C._distributed_c10d._SymmetricMemory.empty_strided_p2p",
       "triton.compiler.compiler.AttrsDescriptor",
       "triton.backends.compiler.AttrsDescriptor",
       "triton.compiler.compiler.AttrsDescriptor.from_dict",
       "triton.backends.compiler.AttrsDescriptor.from_dict"});
  constexpr auto kHeuristics = std::to_array<std::string_view>(
      {"pointwise", "reduction", "cooperative_reduction", "persistent_reduction", "split_scan",
       "template", "fixed_config", "user_autotune", "foreach", "grid", "split_scan_grid",
       "grid_combo_kernels", "cooperative_reduction_grid", "start_graph", "end_graph"});
  if (std::ranges::find(kNames, path) != kNames.end()) return true;
  if (path.substr(0, path.rfind('.')) == "torch._inductor.runtime.triton_heuristics")
    return std::ranges::find(kHeuristics, last_part(path)) != kHeuristics.end();
  return last_part(path).front() != '_' &&
         std::ranges::any_of(kModules, [&](auto module) { return is_or_is_in(path, module); });
}

std::vector<KernelText> kernel_texts(const Candidate& candidate) {
  const SyntaxTree& tree = candidate.tree;
  std::vector<KernelText> found;
  for (const NodeId call : candidate.kernel_strings) {
    const NodeId text = tree.children(tree.child(call, "arguments"))[1];
    found.push_back({literal_text(tree, text), tree[text].line});
  }
  return found;
}

}  // namespace tritonsmith::inspect

#include "gym/triton_ir/lower/operation_table.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {

// NOLINTNEXTLINE(readability-function-size): a table
LowerOperation find_lowering(std::string_view name) {
  static const std::unordered_map<std::string_view, LowerOperation> table = {
      {"arith.constant", lower_constant},
      {"tt.make_range", lower_range},
      {"ub.poison", lower_poison},
      {"arith.cmpi", lower_compare},
      {"arith.cmpf", lower_compare},
      {"arith.select", lower_select},
      {"arith.extsi", lower_convert},
      {"arith.extui", lower_convert},
      {"arith.trunci", lower_convert},
      {"arith.sitofp", lower_convert},
      {"arith.uitofp", lower_convert},
      {"arith.fptosi", lower_convert},
      {"arith.fptoui", lower_convert},
      {"arith.extf", lower_convert},
      {"arith.truncf", lower_convert},
      {"arith.index_cast", lower_convert},
      {"arith.index_castui", lower_convert},
      {"tt.fp_to_fp", lower_fp_to_fp},
      {"tt.bitcast", lower_bitcast},
      {"arith.bitcast", lower_bitcast},
      {"tt.clampf", lower_clamp},
      {"tt.extern_elementwise", lower_libdevice},
      {"tt.elementwise_inline_asm", lower_assembly},
      {"arith.mului_extended", lower_wide_multiply},
      {"arith.mulsi_extended", lower_wide_multiply},
      {"math.fpowi", lower_power},
      {"tt.splat", lower_splat},
      {"tt.unsplat", lower_unsplat},
      {"tt.expand_dims", lower_view},
      {"tt.reshape", lower_view},
      {"tt.broadcast", lower_broadcast},
      {"tt.trans", lower_transpose},
      {"tt.join", lower_join},
      {"tt.split", lower_split},
      {"tt.cat", lower_cat},
      {"tt.gather", lower_gather},
      {"tt.histogram", lower_histogram},
      {"tt.load", lower_load},
      {"tt.store", lower_store},
      {"tt.addptr", lower_add_pointer},
      {"tt.ptr_to_int", lower_bitcast},
      {"tt.atomic_rmw", lower_atomic},
      {"tt.atomic_cas", lower_compare_and_swap},
      {"tt.make_tensor_descriptor", lower_make_descriptor},
      {"tt.descriptor_load", lower_descriptor_load},
      {"tt.descriptor_store", lower_descriptor_store},
      {"tt.descriptor_reduce", lower_descriptor_reduce},
      {"scf.for", lower_for},
      {"scf.if", lower_if},
      {"scf.while", lower_while},
      {"tt.call", lower_call},
      {"cf.br", lower_branch},
      {"cf.cond_br", lower_branch},
      {"tt.return", lower_return},
      {"tt.get_program_id", lower_program_id},
      {"tt.get_num_programs", lower_program_id},
      {"tt.assert", lower_assert},
      {"tt.print", lower_nothing},
      {"llvm.intr.assume", lower_assert},
      {"gpu.barrier", lower_barrier},
      {"ttg.barrier", lower_barrier},
      {"ttg.local_barrier", lower_barrier},
      {"tt.reduce", lower_reduce},
      {"tt.scan", lower_scan},
      {"tt.map_elementwise", lower_map},
      {"tt.dot", lower_dot},
      {"tt.dot_scaled", lower_dot_scaled},
  };
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

bool implies_barrier(std::string_view name) {
  constexpr auto names = std::to_array<std::string_view>(
      {"tt.reduce", "tt.scan", "tt.dot", "tt.dot_scaled", "tt.gather", "tt.histogram", "tt.trans",
       "tt.reshape", "tt.cat", "tt.split", "tt.descriptor_load", "tt.descriptor_store",
       "tt.descriptor_reduce"});
  return std::ranges::find(names, name) != names.end();
}

}  // namespace tritonsmith::gym::triton_ir

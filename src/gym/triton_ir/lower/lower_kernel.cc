#include "gym/triton_ir/lower/lower_kernel.h"

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/lower/operation_table.h"
#include "gym/triton_ir/lower/operations.h"

namespace tritonsmith::gym::triton_ir {
namespace {
constexpr std::size_t kMaxInstructions = 1'000'000;

// Gives each argument a register that keeps its offset.
Status declare_arguments(Lowering& lowering, const Function& kernel) {
  Code& code = lowering.builder().code();
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const BlockArgument& argument = kernel.arguments[i];
    if (argument.type.is_tensor) return fail("kernel {} takes a tensor by value", kernel.name);
    const Value made = lowering.make_pinned(argument.type);
    lowering.define(argument.value, made);
    code.parameters.push_back(
        {.type = argument.type, .divisor = kernel.argument_divisors[i], .offset = made.reg});
    code.argument_types.push_back(argument.type);
  }
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].type.element == Element::descriptor)
      TRY(fill_descriptor(lowering, kernel, i));
  return ok();
}

Status lower_body_of(Lowering& lowering, const Function& kernel) {
  if (kernel.body.blocks.empty()) return fail("kernel {} has no body", kernel.name);
  lowering.calls().names.push_back(kernel.name);
  return lower_function(lowering, kernel, {});
}

}  // namespace

Result<LoweredKernel> lower_kernel(const Module& module, const Function& kernel) {
  Lowering lowering(module);
  lowering.builder().code().name = kernel.name;
  lowering.builder().code().locations = module.locations;
  TRY(declare_arguments(lowering, kernel));
  if (const Status lowered = lower_body_of(lowering, kernel); !lowered) {
    if (lowering.refusal()) return LoweredKernel{.code = nullptr, .refusal = lowering.refusal()};
    return tl::unexpected<Error>(lowered.error());
  }
  auto code = lowering.builder().finish();
  if (!code)
    return LoweredKernel{
        .code = nullptr,
        .refusal = Refusal{.operation = "tt.func", .message = code.error().message, .at = {}}};
  return LoweredKernel{.code = std::move(*code), .refusal = std::nullopt};
}

Status lower(Lowering& lowering, const Operation& operation) {
  if (lowering.builder().instructions() > kMaxInstructions)
    return lowering.refuse(operation, "the kernel unfolds to too many instructions");
  // Nested calls can unfold exponentially without instructions, so every operation counts.
  if (++lowering.calls().operations > kMaxInstructions)
    return lowering.refuse(operation, "the kernel unfolds to too many operations");
  lowering.builder().set_location(operation.location);
  if (const ElementwiseOperation* row = find_elementwise(operation.name)) {
    TRY(lower_elementwise(lowering, operation, *row));
  } else {
    const LowerOperation lower_this = find_lowering(operation.name);
    if (lower_this == nullptr)
      return lowering.refuse(operation, "the evaluator has no such operation");
    TRY(lower_this(lowering, operation));
    if (implies_barrier(operation.name)) lowering.builder().emit(barrier, kNone, {}, 1);
  }
  repeat_hinted_elements(lowering, operation);
  return ok();
}

}  // namespace tritonsmith::gym::triton_ir

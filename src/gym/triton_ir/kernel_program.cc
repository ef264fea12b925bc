#include "gym/triton_ir/kernel_program.h"

#include "gym/triton_ir/execute/assembly.h"
#include "gym/triton_ir/lower/lower_kernel.h"
#include "gym/triton_ir/program/code.h"
#include "gym/triton_ir/syntax/parser.h"

namespace tritonsmith::gym::triton_ir {
namespace {

std::unique_ptr<const Code> refused(const Function& kernel, Refusal why) {
  auto code = std::make_unique<Code>();
  code->name = kernel.name;
  for (const BlockArgument& argument : kernel.arguments)
    code->argument_types.push_back(argument.type);
  code->refusal = std::move(why);
  return code;
}

}  // namespace

KernelProgram::KernelProgram(std::unique_ptr<const Code> code) : code_(std::move(code)) {}
KernelProgram::KernelProgram(KernelProgram&&) noexcept = default;
KernelProgram& KernelProgram::operator=(KernelProgram&&) noexcept = default;
KernelProgram::~KernelProgram() = default;

const std::string& KernelProgram::name() const { return code_->name; }
const std::vector<ValueType>& KernelProgram::arguments() const { return code_->argument_types; }
const std::optional<Refusal>& KernelProgram::refusal() const { return code_->refusal; }
std::size_t KernelProgram::register_bytes() const { return code_->arena_bytes; }

std::size_t KernelProgram::code_bytes() const {
  std::size_t bytes = (code_->setup.size() + code_->instructions.size()) * sizeof(Instruction) +
                      code_->locations.size() * sizeof(SourceLine);
  for (const auto& table : code_->tables) bytes += table.size() * sizeof(std::int64_t);
  for (const std::string& text : code_->texts) bytes += text.capacity();
  for (const auto& block : code_->assembly) bytes += block->bytes();
  bytes += code_->tables.size() * sizeof(std::vector<std::int64_t>);
  bytes += code_->texts.size() * sizeof(std::string);
  return bytes;
}

Result<KernelProgram> parse_ttir(std::string_view text) {
  TRY_ASSIGN(Module module, parse_module(text));
  const Function* kernel = nullptr;
  for (const Function& function : module.functions)
    if (function.is_public && kernel == nullptr) kernel = &function;
  if (kernel == nullptr) return fail("the Triton IR has no public function");
  TRY_ASSIGN(LoweredKernel lowered, lower_kernel(module, *kernel));
  if (lowered.refusal) return KernelProgram(refused(*kernel, *lowered.refusal));
  return KernelProgram(std::move(lowered.code));
}

}  // namespace tritonsmith::gym::triton_ir

#include "gym/triton_ir/lower/program_builder.h"

#include <algorithm>
#include <queue>

#include "base/check.h"

namespace tritonsmith::gym::triton_ir {
namespace {
constexpr std::size_t kAlign = 64;
constexpr std::size_t kMaxInstructions = 2'000'000;
constexpr std::size_t kMaxStretches = 500'000'000;       // about half a second
constexpr std::size_t kMaxArena = std::size_t{3} << 30;  // offsets are 32 bits wide
}  // namespace

Register ProgramBuilder::make(std::size_t count, std::size_t bytes) {
  registers_.push_back({.bytes = (count * bytes + kAlign - 1) / kAlign * kAlign});
  return static_cast<Register>(registers_.size() - 1);
}

Register ProgramBuilder::make_pinned(std::size_t count, std::size_t bytes) {
  Register made = make(count, bytes);
  registers_[made].pinned = true;
  return made;
}

Instruction& ProgramBuilder::emit_setup(Handler handler, Register output, std::size_t count) {
  code_->setup.push_back({.handler = handler,
                          .output = output,
                          .count = static_cast<std::uint32_t>(count),
                          .cost = static_cast<std::uint32_t>(count),
                          .location = location_});
  return code_->setup.back();
}

Instruction& ProgramBuilder::emit(Handler handler, Register output,
                                  std::initializer_list<Register> inputs, std::size_t count) {
  Instruction instruction{.handler = handler,
                          .output = output,
                          .count = static_cast<std::uint32_t>(count),
                          .cost = static_cast<std::uint32_t>(count),
                          .location = location_};
  CHECK(inputs.size() <= instruction.inputs.size(), "{} inputs", inputs.size());
  std::copy(inputs.begin(), inputs.end(), instruction.inputs.begin());
  code_->instructions.push_back(instruction);
  return code_->instructions.back();
}

Instruction* ProgramBuilder::last_writer(Register output) {
  constexpr std::size_t few = 4;
  std::vector<Instruction>& all = code_->instructions;
  for (std::size_t back = 1; back <= std::min(few, all.size()); ++back)
    if (all[all.size() - back].output == output) return &all[all.size() - back];
  return nullptr;
}

int ProgramBuilder::add_table(std::vector<std::int64_t> numbers) {
  code_->tables.push_back(std::move(numbers));
  return static_cast<int>(code_->tables.size() - 1);
}

ProgramBuilder::Label ProgramBuilder::make_label() {
  labels_.push_back(-1);
  return static_cast<Label>(labels_.size() - 1);
}

void ProgramBuilder::bind(Label label) {
  labels_[static_cast<std::size_t>(label)] = static_cast<std::int64_t>(code_->instructions.size());
}

Instruction& ProgramBuilder::jump(Handler handler, Label label,
                                  std::initializer_list<Register> inputs) {
  jumps_.push_back(code_->instructions.size());
  Instruction& made = emit(handler, kNone, inputs, 1);
  made.immediate = label;
  return made;
}

Result<std::unique_ptr<const Code>> ProgramBuilder::finish() {
  if (code_->instructions.size() > kMaxInstructions)
    return fail("the kernel unfolds to {} instructions", code_->instructions.size());
  resolve_jumps();
  measure_lifetimes();
  TRY(stretch_over_loops());
  assign_offsets();
  if (code_->arena_bytes > kMaxArena)
    return fail("the kernel needs {} bytes of registers", code_->arena_bytes);
  for (Instruction& instruction : code_->setup) rewrite(instruction);
  for (Instruction& instruction : code_->instructions) rewrite(instruction);
  for (Parameter& parameter : code_->parameters)
    parameter.offset = registers_[parameter.offset].offset;
  return std::unique_ptr<const Code>(std::move(code_));
}

void ProgramBuilder::resolve_jumps() {
  for (std::size_t index : jumps_) {
    std::int64_t target = labels_[static_cast<std::size_t>(code_->instructions[index].immediate)];
    CHECK(target >= 0, "a label was never placed");
    code_->instructions[index].immediate = target;
  }
}

void ProgramBuilder::measure_lifetimes() {
  auto touch = [&](std::uint32_t name, std::int64_t index) {
    if (name == kNone) return;
    Lifetime& lifetime = registers_[name];
    if (lifetime.first < 0) lifetime.first = index;
    lifetime.last = index;
  };
  for (std::size_t i = 0; i < code_->instructions.size(); ++i) {
    const Instruction& instruction = code_->instructions[i];
    touch(instruction.output, static_cast<std::int64_t>(i));
    for (std::uint32_t input : instruction.inputs) touch(input, static_cast<std::int64_t>(i));
  }
}

// A register that is alive when a loop begins and is used inside it stays alive to the loop's end.
Status ProgramBuilder::stretch_over_loops() {
  std::vector<std::pair<std::int64_t, std::int64_t>> loops;  // end, begin
  for (std::size_t index : jumps_) {
    std::int64_t target = code_->instructions[index].immediate;
    if (target <= static_cast<std::int64_t>(index))
      loops.emplace_back(static_cast<std::int64_t>(index), target);
  }
  if (loops.size() * registers_.size() > kMaxStretches)
    return fail("the kernel has {} loops and {} values", loops.size(), registers_.size());
  std::sort(loops.begin(), loops.end());  // an inner loop ends first
  for (const auto& [end, begin] : loops)
    for (Lifetime& lifetime : registers_)
      if (lifetime.first < begin && lifetime.last >= begin && lifetime.last < end)
        lifetime.last = end;
  return ok();
}

void ProgramBuilder::assign_offsets() {
  std::size_t top = 0;
  auto grow = [&](std::size_t bytes) {
    std::size_t offset = top;
    top += bytes;
    return static_cast<std::uint32_t>(std::min(offset, kMaxArena));
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    if (registers_[i].pinned)
      registers_[i].offset = grow(registers_[i].bytes);
    else if (registers_[i].first >= 0)
      order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return registers_[a].first < registers_[b].first;
  });
  using Ending = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  std::map<std::size_t, std::vector<std::uint32_t>> free;  // by size
  for (std::size_t index : order) {
    Lifetime& lifetime = registers_[index];
    while (!alive.empty() && alive.top().first < lifetime.first) {
      const Lifetime& ended = registers_[alive.top().second];
      free[ended.bytes].push_back(ended.offset);
      alive.pop();
    }
    auto& offsets = free[lifetime.bytes];
    if (offsets.empty()) {
      lifetime.offset = grow(lifetime.bytes);
    } else {
      lifetime.offset = offsets.back();
      offsets.pop_back();
    }
    alive.emplace(lifetime.last, index);
  }
  code_->arena_bytes = top;
}

void ProgramBuilder::rewrite(Instruction& instruction) const {
  if (instruction.output != kNone) instruction.output = registers_[instruction.output].offset;
  for (std::uint32_t& input : instruction.inputs)
    if (input != kNone) input = registers_[input].offset;
}

}  // namespace tritonsmith::gym::triton_ir

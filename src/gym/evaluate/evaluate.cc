// evaluate: checks the launch against the kernel, fills the arena, and runs every program of the
// grid in order.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "gym/evaluate/machine.h"
#include "gym/evaluate/number_formats.h"

namespace tritonsmith::gym {
namespace {

constexpr std::uint64_t kProgramCost = 16;
constexpr std::uint64_t kInstructionCost = 2;
constexpr std::uint64_t kClockInterval = 4'000'000;  // op-elements between two looks at the clock
constexpr std::uint64_t kBudgetAfterViolation =
    5'000'000;  // a program that read nonsense may loop for long
constexpr std::array<std::int64_t, 3> kMaxGrid = {2147483647, 65535, 65535};

using Arena = std::unique_ptr<std::byte[], decltype(&std::free)>;

class Evaluation {
 public:
  Evaluation(const Code& code, const Launch& launch, const Budget& budget)
      : code_(code), launch_(launch), budget_(budget), memory_(launch, report_) {}

  LaunchReport run() {
    if (check()) {
      prepare();
      run_grid();
      conclude();
    }
    return std::move(report_);
  }

 private:
  bool check();
  bool check_argument(std::size_t index);
  void prepare();
  void bind(std::size_t index);
  void run_grid();
  bool run_code(const std::vector<Instruction>& instructions);
  bool spend(std::uint64_t cost, const Instruction& instruction);
  void conclude();
  bool refuse(LaunchStatus status, std::string message) {
    report_.status = status;
    report_.message = std::move(message);
    return false;
  }

  const Code& code_;
  const Launch& launch_;
  const Budget& budget_;
  LaunchReport report_;
  Memory memory_;
  Machine machine_;
  Arena arena_{nullptr, &std::free};
  std::uint64_t spent_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t next_look_ = 0;  // at the clock
};

bool Evaluation::check() {
  if (code_.refusal) {
    report_.at = code_.refusal->at;
    return refuse(LaunchStatus::not_evaluable, code_.refusal->message);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (launch_.grid[axis] < 0 || launch_.grid[axis] > kMaxGrid[axis])
      return refuse(LaunchStatus::bad_launch,
                    fmt::format("a grid of {} programs", launch_.grid[axis]));
  if (launch_.arguments.size() != code_.argument_types.size())
    return refuse(LaunchStatus::bad_launch,
                  fmt::format("kernel {} takes {} arguments, the launch has {}", code_.name,
                              code_.argument_types.size(), launch_.arguments.size()));
  for (std::size_t i = 0; i < launch_.arguments.size(); ++i)
    if (!check_argument(i)) return false;
  if (code_.arena_bytes > budget_.register_bytes)
    return refuse(LaunchStatus::too_large_to_evaluate,
                  fmt::format("the kernel needs {} bytes of registers", code_.arena_bytes));
  return true;
}

bool Evaluation::check_argument(std::size_t index) {
  const ValueType& type = code_.argument_types[index];
  const LaunchArgument& argument = launch_.arguments[index];
  bool fits = false;
  if (type.element == Element::pointer || type.element == Element::descriptor) {
    const auto* pointer = std::get_if<PointerArgument>(&argument);
    fits = pointer != nullptr && pointer->buffer >= 0 &&
           pointer->buffer < std::ssize(launch_.buffers) &&
           std::abs(pointer->byte_offset) < (std::int64_t{1} << 42);
  } else if (is_integer(type.element)) {
    fits = std::holds_alternative<std::int64_t>(argument);
  } else if (is_float(type.element)) {
    fits =
        std::holds_alternative<double>(argument) || std::holds_alternative<std::int64_t>(argument);
  }
  if (fits) return true;
  return refuse(LaunchStatus::bad_launch, fmt::format("argument {} of kernel {} is no {}", index,
                                                      code_.name, to_string(type)));
}

void Evaluation::prepare() {
  const std::size_t bytes = std::max<std::size_t>(code_.arena_bytes, 64);
  arena_ = Arena(static_cast<std::byte*>(std::aligned_alloc(64, bytes)), &std::free);
  CHECK(arena_ != nullptr, "no memory for {} bytes of registers", bytes);
  std::memset(arena_.get(), 0, bytes);
  machine_.arena = arena_.get();
  machine_.code = &code_;
  machine_.memory = &memory_;
  machine_.grid = launch_.grid;
  memory_.bind(code_);
  limit_ = budget_.op_elements;
  next_look_ = kClockInterval;
  for (std::size_t i = 0; i < launch_.arguments.size(); ++i) bind(i);
}

void Evaluation::bind(std::size_t index) {
  const Parameter& parameter = code_.parameters[index];
  const LaunchArgument& argument = launch_.arguments[index];
  const Element element = parameter.type.element;
  std::byte* place = machine_.at<std::byte>(parameter.place);
  if (element == Element::pointer || element == Element::descriptor) {
    const auto& pointer = std::get<PointerArgument>(argument);
    const std::int64_t address = Memory::address(pointer.buffer, pointer.byte_offset);
    std::memcpy(place, &address, sizeof address);
  } else if (is_integer(element)) {
    std::int64_t value = std::get<std::int64_t>(argument);
    if (element == Element::i1) value &= 1;
    std::memcpy(place, &value, register_bytes(element));  // little-endian: the low bytes
  } else {
    const double value = std::holds_alternative<double>(argument)
                             ? std::get<double>(argument)
                             : static_cast<double>(std::get<std::int64_t>(argument));
    float narrow = static_cast<float>(value);
    if (is_small_float(element))
      narrow = round_to(element, round_to_odd(value), Rounding::nearest_even);
    if (element == Element::f64)
      std::memcpy(place, &value, sizeof value);
    else
      std::memcpy(place, &narrow, sizeof narrow);
  }
}

bool Evaluation::spend(std::uint64_t cost, const Instruction& instruction) {
  spent_ += cost;
  if (spent_ < next_look_ && spent_ <= limit_) [[likely]]
    return true;
  next_look_ = spent_ + kClockInterval;
  if (memory_.violated()) limit_ = std::min(limit_, spent_ + kBudgetAfterViolation);
  const bool late = budget_.deadline.passed();
  if (spent_ <= limit_ && !late) return true;
  if (memory_.violated()) return false;  // conclude has a better reason
  report_.at = code_.locations[static_cast<std::size_t>(instruction.location)];
  return refuse(LaunchStatus::too_large_to_evaluate,
                late ? fmt::format("the time ran out in program ({}, {}, {})", machine_.program[0],
                                   machine_.program[1], machine_.program[2])
                     : fmt::format("more than {} element operations, in program ({}, {}, {})",
                                   budget_.op_elements, machine_.program[0], machine_.program[1],
                                   machine_.program[2]));
}

bool Evaluation::run_code(const std::vector<Instruction>& instructions) {
  machine_.next = 0;
  const std::size_t end = instructions.size();
  while (machine_.next < end) {
    const Instruction& instruction = instructions[machine_.next++];
    if (!spend(instruction.cost + kInstructionCost, instruction)) return false;
    instruction.handler(machine_, instruction);
  }
  return true;
}

void Evaluation::run_grid() {
  if (!run_code(code_.setup)) return;
  const Instruction nowhere;
  std::uint64_t index = 0;
  auto& [x, y, z] = machine_.program;
  for (z = 0; z < launch_.grid[2]; ++z)
    for (y = 0; y < launch_.grid[1]; ++y)
      for (x = 0; x < launch_.grid[0]; ++x) {
        memory_.start_program(machine_.program, index++);
        if (!spend(kProgramCost, nowhere) || !run_code(code_.instructions)) return;
        if (memory_.violated()) return;
      }
}

void Evaluation::conclude() {
  memory_.finish();
  report_.op_elements = spent_;
  if (!memory_.violated()) return;
  const Violation& first = report_.violations.front();
  report_.status = first.kind == ViolationKind::assertion ? LaunchStatus::assertion_failed
                                                          : LaunchStatus::out_of_bounds;
  report_.message = first.message;
  report_.at = first.at;
}

}  // namespace

LaunchReport evaluate(const KernelProgram& program, const Launch& launch, const Budget& budget) {
  return Evaluation(program.code(), launch, budget).run();
}

}  // namespace tritonsmith::gym

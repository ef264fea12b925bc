// evaluate: checks the launch against the kernel, fills the arena, and runs every program of the
// grid. It suspends a program that seems to wait for another one.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/rng.h"
#include "gym/triton_ir/execute/machine.h"
#include "gym/triton_ir/execute/number_formats.h"
#include "gym/triton_ir/execute/program_scheduler.h"
#include "gym/triton_ir/execute/result_grid.h"
#include "gym/triton_ir/kernel_program.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::uint64_t kProgramCost = 16;
constexpr std::uint64_t kInstructionCost = 2;
constexpr std::uint64_t kClockInterval = 4'000'000;  // op-elements between two looks at the clock
// After a violation a program may loop for long, because it computes with meaningless values.
constexpr std::uint64_t kBudgetAfterViolation = 5'000'000;
constexpr std::array<std::int64_t, 3> kMaxGrid = {2147483647, 65535, 65535};

// Limits of programs that wait. A program that has jumped back kFirstPasses times is suspended.
// Each time it resumes, it may do twice as many jumps, up to kMostPasses.
constexpr std::uint64_t kFirstPasses = 64, kMostPasses = std::uint64_t{1} << 24;
constexpr std::size_t kMostWaiting = 65536;
constexpr std::size_t kWaitingBytes = std::size_t{256} << 20;
// In the interleaved order, kHeldUp programs are suspended one after another, each before one of
// the next kHoldWithin atomics.
constexpr int kHeldUp = 64;
constexpr std::uint64_t kHoldWithin = 8;
// In the shuffled order, programs are suspended so often altogether.
constexpr int kHeldUpWhenShuffled = 8192;

using Arena = std::unique_ptr<std::byte[], decltype(&std::free)>;

class Evaluation {
 public:
  Evaluation(const Code& code, const Launch& launch, const Budget& budget)
      : code_(code),
        launch_(launch),
        budget_(budget),
        memory_(launch, budget.table_bytes, report_),
        interleaving_(launch.order.seed, "atomics", 0) {}

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
  bool check_divisor(std::size_t index);
  void prepare();
  void bind(std::size_t index);
  void run_grid();
  Arena make_arena() const;
  // A program that is suspended before its end.
  struct Waiting {
    Arena arena;
    Memory::SuspendedProgram suspended;
    std::size_t resume = 0;
    std::uint64_t passes = 0;  // for its next run
    std::uint64_t seen = 0;    // the value that it read last
    bool may_go_on() const {
      return suspended.polled.address == nullptr || suspended.polled.value() != seen;
    }
  };
  // Returns false if the evaluation must end.
  bool run_program(std::size_t first, std::uint64_t passes);
  bool keep_waiting(std::uint64_t passes);
  bool leaves_room_for_others();
  bool go_on(std::size_t which);
  bool go_on_until(std::size_t left);
  void hold_up_another();
  bool is_shuffled() const { return launch_.order.kind == language::ProgramOrder::Kind::shuffled; }
  bool run_code(const std::vector<Instruction>& instructions, std::size_t first = 0);
  void round_results(const Instruction& instruction);
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
  std::uint32_t results_ = 0;  // that were rounded otherwise
  std::uint64_t limit_ = 0;
  std::uint64_t next_look_ = 0;  // cost at which it next looks at the clock
  std::vector<Waiting> waiting_;
  Rng interleaving_;
  int to_hold_up_ = 0;
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
  if (fits) return check_divisor(index);
  return refuse(LaunchStatus::bad_launch, fmt::format("argument {} of kernel {} is no {}", index,
                                                      code_.name, to_string(type)));
}

// A kernel is specialised for arguments that are multiples of 16.
bool Evaluation::check_divisor(std::size_t index) {
  const std::int64_t divisor = code_.parameters[index].divisor;
  const LaunchArgument& argument = launch_.arguments[index];
  const auto* pointer = std::get_if<PointerArgument>(&argument);
  const auto* number = std::get_if<std::int64_t>(&argument);
  if (pointer == nullptr && number == nullptr) return true;
  const std::int64_t value = pointer != nullptr ? pointer->byte_offset : *number;
  if (value % divisor == 0) return true;
  return refuse(
      LaunchStatus::bad_launch,
      fmt::format("kernel {} was compiled for an argument {} that is a multiple of {}{}, and the "
                  "launch passes {}{}",
                  code_.name, index, divisor, pointer != nullptr ? " bytes" : "",
                  pointer != nullptr ? "a pointer to byte " : "", value));
}

Arena Evaluation::make_arena() const {
  const std::size_t bytes = std::max<std::size_t>(code_.arena_bytes, 64);
  Arena arena(static_cast<std::byte*>(std::aligned_alloc(64, bytes)), &std::free);
  CHECK(arena != nullptr, "no memory for {} bytes of registers", bytes);
  return arena;
}

void Evaluation::prepare() {
  arena_ = make_arena();
  std::memset(arena_.get(), 0, std::max<std::size_t>(code_.arena_bytes, 64));
  machine_.arena = arena_.get();
  machine_.code = &code_;
  machine_.memory = &memory_;
  machine_.grid = launch_.grid;
  machine_.lanes_backwards = launch_.order.kind == language::ProgramOrder::Kind::backwards;
  memory_.bind(code_);
  if (launch_.order.kind == language::ProgramOrder::Kind::lanes_apart)
    machine_.hidden_stores.emplace();
  limit_ = budget_.op_elements;
  next_look_ = kClockInterval;
  for (std::size_t i = 0; i < launch_.arguments.size(); ++i) bind(i);
}

void Evaluation::bind(std::size_t index) {
  const Parameter& parameter = code_.parameters[index];
  const LaunchArgument& argument = launch_.arguments[index];
  const Element element = parameter.type.element;
  std::byte* target = machine_.at<std::byte>(parameter.offset);
  if (element == Element::pointer || element == Element::descriptor) {
    const auto& pointer = std::get<PointerArgument>(argument);
    const std::int64_t address = Memory::address(pointer.buffer, pointer.byte_offset);
    std::memcpy(target, &address, sizeof address);
  } else if (is_integer(element)) {
    std::int64_t value = std::get<std::int64_t>(argument);
    if (element == Element::i1) value &= 1;
    std::memcpy(target, &value, register_bytes(element));  // little-endian: the low bytes
  } else {
    const double value = std::holds_alternative<double>(argument)
                             ? std::get<double>(argument)
                             : static_cast<double>(std::get<std::int64_t>(argument));
    float narrow = static_cast<float>(value);
    if (is_small_float(element))
      narrow = round_to(element, round_to_odd(value), Rounding::nearest_even);
    if (element == Element::f64)
      std::memcpy(target, &value, sizeof value);
    else
      std::memcpy(target, &narrow, sizeof narrow);
  }
}

bool Evaluation::spend(std::uint64_t cost, const Instruction& instruction) {
  spent_ += cost;
  if (spent_ < next_look_ && spent_ <= limit_) [[likely]]
    return true;
  next_look_ = spent_ + kClockInterval;
  if (memory_.violated()) limit_ = std::min(limit_, spent_ + kBudgetAfterViolation);
  const bool late = budget_.deadline.passed();
  if (spent_ <= limit_ && !late && !memory_.too_large()) return true;
  if (memory_.violated()) return false;  // conclude has a better reason
  report_.at = code_.locations[static_cast<std::size_t>(instruction.location)];
  return refuse(LaunchStatus::too_large_to_evaluate,
                late ? fmt::format("the time ran out in program ({}, {}, {})", machine_.program[0],
                                   machine_.program[1], machine_.program[2])
                     : fmt::format("more than {} element operations, in program ({}, {}, {})",
                                   budget_.op_elements, machine_.program[0], machine_.program[1],
                                   machine_.program[2]));
}

bool Evaluation::run_code(const std::vector<Instruction>& instructions, std::size_t first) {
  machine_.next = first;
  const std::size_t end = instructions.size();
  while (machine_.next < end) {
    const Instruction& instruction = instructions[machine_.next++];
    if (!spend(instruction.cost + kInstructionCost, instruction)) return false;
    instruction.handler(machine_, instruction);
    if (instruction.rounded != 0 && !launch_.rounding.is_usual()) [[unlikely]]
      round_results(instruction);
  }
  return true;
}

void Evaluation::round_results(const Instruction& instruction) {
  language::ResultRounding by = launch_.rounding;
  constexpr std::uint32_t roundings =
      0x9E3779B1u;  // far apart, as other rounds are near each other
  if (!instruction.is_loaded) by.round += roundings * ++results_;
  if (instruction.rounded_bytes == sizeof(float))
    round_to_grid(by, machine_.output<float>(instruction), instruction.rounded);
  else
    round_to_grid(by, machine_.output<double>(instruction), instruction.rounded);
}

void Evaluation::run_grid() {
  if (!run_code(code_.setup)) return;
  const Instruction nowhere;
  if (launch_.order.kind == language::ProgramOrder::Kind::interleaved) to_hold_up_ = kHeldUp;
  if (is_shuffled()) to_hold_up_ = kHeldUpWhenShuffled;
  hold_up_another();
  for (ProgramScheduler scheduler(launch_.grid, launch_.order); !scheduler.over();
       scheduler.next()) {
    machine_.program = scheduler.program();
    if (is_shuffled()) hold_up_another();
    memory_.start_program(machine_.program, scheduler.index());
    if (!spend(kProgramCost, nowhere) || !run_program(0, kFirstPasses) ||
        (!scheduler.is_last() && !leaves_room_for_others()))
      return;
    const std::size_t most = std::clamp<std::size_t>(
        kWaitingBytes / std::max<std::size_t>(code_.arena_bytes, 64), 1, kMostWaiting);
    if (!go_on_until(most)) return;
  }
  go_on_until(0);
}

bool Evaluation::run_program(std::size_t first, std::uint64_t passes) {
  machine_.passes = passes;
  machine_.show_stores();
  if (!run_code(code_.instructions, first)) return false;
  if (memory_.violated()) return false;
  if (memory_.too_large())
    return refuse(LaunchStatus::too_large_to_evaluate,
                  fmt::format("to tell races takes more than {} bytes", budget_.table_bytes));
  return machine_.next != Machine::kLeft || keep_waiting(passes);
}

bool Evaluation::keep_waiting(std::uint64_t passes) {
  const bool is_held_up = machine_.atomics == ~std::uint64_t{0} && to_hold_up_ > 0;
  Waiting waiting{.arena = std::exchange(arena_, make_arena()),
                  .suspended = memory_.leave_program(),
                  .resume = machine_.resume,
                  .passes = is_held_up ? passes : std::min(2 * passes, kMostPasses)};
  std::memcpy(arena_.get(), waiting.arena.get(), code_.arena_bytes);  // with the constants
  machine_.arena = arena_.get();
  if (is_held_up) {
    --to_hold_up_;
    waiting.suspended.polled = {};
    hold_up_another();
  }
  if (waiting.suspended.polled.address != nullptr) waiting.seen = waiting.suspended.polled.value();
  waiting_.push_back(std::move(waiting));
  return spend(code_.arena_bytes / 64, Instruction{});
}

// A GPU starts programs in order, so those that wait may be all that it runs. They are resumed once:
// what they wait for may have happened.
bool Evaluation::leaves_room_for_others() {
  if (launch_.order.kind != language::ProgramOrder::Kind::forwards ||
      waiting_.size() < budget_.resident_programs)
    return true;
  for (std::size_t k = waiting_.size(); k-- > 0;)
    if (!go_on(k)) return false;
  const auto waits = [](const Waiting& each) { return each.suspended.polled.address != nullptr; };
  if (waiting_.size() < budget_.resident_programs || !std::ranges::all_of(waiting_, waits))
    return true;
  return refuse(LaunchStatus::waits_for_ever,
                fmt::format("{} programs wait for others that have not started, and a GPU runs no "
                            "more of this kernel at once",
                            waiting_.size()));
}

bool Evaluation::go_on(std::size_t which) {
  Waiting waiting = std::move(waiting_[which]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
  arena_ = std::move(waiting.arena);
  machine_.arena = arena_.get();
  machine_.program = waiting.suspended.program;
  memory_.resume_program(std::move(waiting.suspended));
  // It runs the atomic before which it was suspended.
  if (is_shuffled() && to_hold_up_ > 0) machine_.atomics = 1;
  return run_program(waiting.resume, waiting.passes);
}

// Resumes first the programs whose wait may be over, beginning with the one that was suspended
// last. Where each program waits for the one before it, this is the order in which their waits end.
bool Evaluation::go_on_until(std::size_t left) {
  bool all = false;
  while (waiting_.size() > left) {
    bool any = false;
    if (is_shuffled() && to_hold_up_ > 0)
      for (std::size_t k = waiting_.size(); k > 1; --k)
        std::swap(waiting_[k - 1], waiting_[interleaving_.below(k)]);
    for (std::size_t k = waiting_.size(); k-- > 0;) {
      if (!all && !waiting_[k].may_go_on()) continue;
      any = true;
      if (!go_on(k)) return false;
    }
    all = !any;
  }
  return true;
}

void Evaluation::hold_up_another() {
  if (to_hold_up_ == 0)
    machine_.atomics = ~std::uint64_t{0};
  else
    machine_.atomics = is_shuffled() ? 0 : interleaving_.below(kHoldWithin);
}

void Evaluation::conclude() {
  memory_.finish();
  report_.op_elements = spent_;
  if (!memory_.violated()) return;
  const Violation& first = report_.violations.front();
  const bool is_claim = first.kind == ViolationKind::assertion || first.kind == ViolationKind::hint;
  report_.status = is_claim ? LaunchStatus::assertion_failed : LaunchStatus::out_of_bounds;
  report_.message = first.message;
  report_.at = first.at;
}

}  // namespace

LaunchReport evaluate(const KernelProgram& program, const Launch& launch, const Budget& budget) {
  return Evaluation(program.code(), launch, budget).run();
}

}  // namespace tritonsmith::gym::triton_ir

#include "gym/triton_ir/execute/assembly.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

constexpr std::size_t kMostBytes = 16384;
constexpr std::size_t kMostSteps = 512;
constexpr std::size_t kMostRegisters = 256;

std::uint64_t mask_of(int bits) {
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

bool is_name_sign(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

std::string without_comments(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size() - 1);
      plain += '\n';
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
      plain += ' ';
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::optional<int> bits_of_constraint(char constraint) {
  switch (constraint) {
    case 'h':
      return 16;
    case 'r':
    case 'f':
      return 32;
    case 'l':
    case 'd':
      return 64;
    default:
      return std::nullopt;
  }
}

std::optional<int> bits_of_type(std::string_view type) {
  static const std::map<std::string_view, int> bits = {
      {"pred", 1},   {"b8", 8},   {"u8", 8},   {"s8", 8},   {"b16", 16}, {"u16", 16},
      {"s16", 16},   {"f16", 16}, {"b32", 32}, {"u32", 32}, {"s32", 32}, {"f32", 32},
      {"f16x2", 32}, {"b64", 64}, {"u64", 64}, {"s64", 64}, {"f64", 64}};
  const auto found = bits.find(type);
  return found == bits.end() ? std::nullopt : std::optional(found->second);
}

// Reads 12, -3, 0x1F, 0b101, each perhaps with a U at its end, and 0f3F800000.
std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.ends_with('U')) text.remove_suffix(1);
  int base = 10;
  for (const auto& [prefix, digits] :
       {std::pair("0x", 16), {"0X", 16}, {"0f", 16}, {"0F", 16}, {"0b", 2}, {"0B", 2}})
    if (text.starts_with(prefix)) {
      base = digits;
      text.remove_prefix(2);
      break;
    }
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return negative ? 0 - value : value;
}

// Reads 1.5, 20. and -0.25 as fp32.
std::optional<std::uint64_t> fraction_of(std::string_view text) {
  float value = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool is_one = text.find('.') != std::string_view::npos && read.ec == std::errc() &&
                      read.ptr == text.data() + text.size();
  return is_one ? std::optional<std::uint64_t>(float_to_bits(value)) : std::nullopt;
}

}  // namespace

class AssemblyParser {
 public:
  AssemblyParser(std::string_view text, AssemblyBlock& block)
      : text_(without_comments(text)), block_(block) {}

  Status parse(std::string_view constraints) {
    TRY(read_constraints(constraints));
    scopes_.emplace_back();
    while (true) {
      skip();
      if (at_ == text_.size()) break;
      if (accept('{')) {
        scopes_.emplace_back();
      } else if (accept('}')) {
        if (scopes_.size() == 1) return fail("a brace closes nothing");
        scopes_.pop_back();
      } else if (!accept(';')) {
        TRY(read_statement());
      }
    }
    return ok();
  }

 private:
  Status read_constraints(std::string_view constraints) {
    bool inputs = false;
    while (!constraints.empty()) {
      const std::size_t comma = std::min(constraints.find(','), constraints.size());
      std::string_view one = constraints.substr(0, comma);
      constraints.remove_prefix(std::min(comma + 1, constraints.size()));
      one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
      one.remove_suffix(one.size() - (one.find_last_not_of(' ') + 1));
      const bool is_result = one.starts_with('=');
      if (is_result) one.remove_prefix(1);
      if (is_result && one.starts_with('&')) one.remove_prefix(1);
      if (one.size() != 1 || !bits_of_constraint(one[0]) || (is_result && inputs))
        return fail("the constraint '{}' is not known", one);
      inputs = inputs || !is_result;
      (is_result ? block_.results_ : block_.operands_) += 1;
      block_.bits_.push_back(*bits_of_constraint(one[0]));
    }
    return ok();
  }

  Status read_statement() {
    AssemblyBlock::Predicate predicate;
    if (accept('@')) {
      predicate.value = !accept('!');
      TRY_ASSIGN(predicate.reg, known_register(word()));
      if (block_.bits_[static_cast<std::size_t>(predicate.reg)] != 1)
        return fail("a predicate must be declared with .reg .pred");
    }
    const std::string name = word();
    if (name.empty()) return fail("unexpected '{}'", text_.substr(at_, 12));
    if (name.starts_with(".reg") && predicate.reg < 0) return read_declaration();
    // A launch waits for another one, or lets the next one begin. In a plan each begins after the
    // one before it has ended.
    if (name == "griddepcontrol.wait" || name == "griddepcontrol.launch_dependents")
      return accept(';') ? ok() : Status(fail("unexpected text after {}", name));
    std::vector<int> outputs;
    if (accept('{')) {
      TRY(read_registers(outputs));
    } else {
      TRY_ASSIGN(const int reg, known_register(word()));
      outputs.push_back(reg);
    }
    std::vector<AssemblyBlock::Operand> inputs;
    while (accept(',')) {
      const bool joined = accept('{');
      do {
        TRY_ASSIGN(const AssemblyBlock::Operand operand, read_operand(name.ends_with(".f32")));
        inputs.push_back(operand);
      } while (joined && accept(','));
      if (joined && !accept('}')) return fail("a vector does not end");
    }
    if (!accept(';') && at_ < text_.size() && text_[at_] != '}')
      return fail("unexpected text after {}", name);
    return add(name, predicate, std::move(outputs), std::move(inputs));
  }

  Status add(const std::string& name, const AssemblyBlock::Predicate& predicate,
             std::vector<int> outputs, std::vector<AssemblyBlock::Operand> inputs) {
    if (block_.steps_.size() >= kMostSteps) return fail("more than {} instructions", kMostSteps);
    if (name.starts_with("mov.") && bits_of_type(name.substr(4))) {
      block_.steps_.push_back({predicate, nullptr, std::move(outputs), std::move(inputs)});
      return ok();
    }
    const AssemblyInstruction* instruction = find_assembly_instruction(name);
    if (instruction == nullptr) return fail("the instruction {} is not known", name);
    if (outputs.size() != 1 || std::cmp_not_equal(inputs.size(), instruction->operands))
      return fail("{} has a wrong number of operands", name);
    block_.steps_.push_back(
        {predicate, instruction->function, std::move(outputs), std::move(inputs)});
    return ok();
  }

  Status read_declaration() {
    const std::string type = word();
    const auto bits =
        type.starts_with('.') ? bits_of_type(std::string_view(type).substr(1)) : std::nullopt;
    if (!bits) return fail("a register of type {} is not known", type);
    do {
      const std::string name = word();
      std::uint64_t count = 0;
      if (accept('<')) {
        const auto number = number_of(word());
        if (!number || !accept('>')) return fail("a bad number of registers");
        count = *number;
      }
      if (name.empty() || count > kMostRegisters) return fail("a bad declaration");
      if (count == 0) scopes_.back()[name] = make(*bits);
      for (std::uint64_t k = 0; k < count; ++k)
        scopes_.back()[name + std::to_string(k)] = make(*bits);
      if (block_.bits_.size() > kMostRegisters) return fail("too many registers");
    } while (accept(','));
    accept(';');
    return ok();
  }

  int make(int bits) {
    block_.bits_.push_back(bits);
    return static_cast<int>(block_.bits_.size()) - 1;
  }

  Status read_registers(std::vector<int>& numbers) {
    do {
      TRY_ASSIGN(const int reg, known_register(word()));
      numbers.push_back(reg);
    } while (accept(','));
    return accept('}') ? ok() : Status(fail("a vector does not end"));
  }

  Result<AssemblyBlock::Operand> read_operand(bool is_float) {
    const bool negative = accept('-');
    std::string name = word();
    if (negative) name.insert(name.begin(), '-');
    if (const auto number = number_of(name)) return AssemblyBlock::Operand{-1, *number};
    if (const auto number = is_float ? fraction_of(name) : std::nullopt)
      return AssemblyBlock::Operand{-1, *number};
    TRY_ASSIGN(const int reg, known_register(name));
    return AssemblyBlock::Operand{reg, 0};
  }

  Result<int> known_register(const std::string& name) const {
    if (name.starts_with('$')) {
      const auto number = number_of(std::string_view(name).substr(1));
      if (!number || *number >= block_.results_ + block_.operands_)
        return fail("the block has no operand {}", name);
      return static_cast<int>(*number);
    }
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    return fail("the register {} is not known", name);
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool accept(char sign) {
    skip();
    if (at_ == text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  // Returns the next word, with dots, or nothing.
  std::string word() {
    skip();
    const std::size_t first = at_;
    while (at_ < text_.size() && (is_name_sign(text_[at_]) || text_[at_] == '.')) ++at_;
    return text_.substr(first, at_ - first);
  }

  std::string text_;
  AssemblyBlock& block_;
  std::size_t at_ = 0;
  std::vector<std::map<std::string, int>> scopes_;
};

Result<AssemblyBlock> AssemblyBlock::parse(std::string_view text, std::string_view constraints) {
  if (text.size() > kMostBytes) return fail("the block is longer than {} bytes", kMostBytes);
  AssemblyBlock block;
  AssemblyParser parser(text, block);
  TRY(parser.parse(constraints));
  if (block.results_ == 0) return fail("the block has no result");
  return block;
}

std::size_t AssemblyBlock::bytes() const {
  std::size_t bytes = sizeof(AssemblyBlock) + bits_.size() * sizeof(int);
  for (const Step& step : steps_)
    bytes +=
        sizeof(Step) + step.outputs.size() * sizeof(int) + step.inputs.size() * sizeof(Operand);
  return bytes;
}

void AssemblyBlock::run(std::span<std::uint64_t> registers) const {
  const auto value_of = [&](const Operand& operand) {
    return operand.reg < 0 ? operand.number : registers[static_cast<std::size_t>(operand.reg)];
  };
  const auto set = [&](int reg, std::uint64_t value) {
    const auto at = static_cast<std::size_t>(reg);
    registers[at] = value & mask_of(bits_[at]);
  };
  for (const Step& step : steps_) {
    if (step.predicate.reg >= 0 &&
        (registers[static_cast<std::size_t>(step.predicate.reg)] != 0) != step.predicate.value)
      continue;
    if (step.function != nullptr) {
      std::array<std::uint64_t, 4> in{};
      for (std::size_t k = 0; k < step.inputs.size(); ++k) in[k] = value_of(step.inputs[k]);
      set(step.outputs[0], step.function(in));
      continue;
    }
    std::uint64_t joined = 0;
    int shift = 0;
    for (const Operand& input : step.inputs) {
      if (shift < 64) joined |= value_of(input) << shift;
      shift += input.reg < 0 ? 64 : bits_[static_cast<std::size_t>(input.reg)];
    }
    for (const int output : step.outputs) {
      set(output, joined);
      const int bits = bits_[static_cast<std::size_t>(output)];
      joined = bits == 64 ? 0 : joined >> bits;
    }
  }
}

}  // namespace tritonsmith::gym::triton_ir

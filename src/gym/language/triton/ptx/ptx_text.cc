#include "gym/language/triton/ptx/ptx_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "gym/language/triton/ptx/allowed.h"
#include "gym/language/triton/ptx/ptx_lexer.h"

namespace tritonsmith::gym::language::triton::ptx {
namespace {

constexpr auto kFrameWords = std::to_array<std::string_view>(
    {".version", ".target",       ".address_size", ".extern", ".shared", ".global",
     ".visible", ".entry",        ".param",        ".ptr",    ".align",  ".reqntid",
     ".maxnreg", ".minnctapersm", ".b8",           ".b16",    ".b32",    ".b64",
     ".u8",      ".u16",          ".u32",          ".u64",    ".s8",     ".s16",
     ".s32",     ".s64",          ".f16",          ".f32",    ".f64"});
// The registers that Triton's compiler declares by number, and those that it declares alone.
constexpr auto kNumbered = std::to_array<std::string_view>(
    {"%p", "%r", "%rd", "%rs", "%rq", "%f", "%fd", "%h", "%hh", "%b"});
constexpr auto kSingle = std::to_array<std::string_view>({"%SP", "%SPL"});
// Operations that reach memory name the state space, so that no address can be of another one.
constexpr auto kMemory = std::to_array<std::string_view>({"ld", "st", "atom", "red"});
constexpr auto kSpaces = std::to_array<std::string_view>(
    {"global", "shared", "shared::cta", "shared::cluster", "local", "param"});

template <typename Table>
bool holds(const Table& table, std::string_view word) {
  return std::ranges::find(table, word) != table.end();
}

bool is_number(std::string_view word) {
  return !word.empty() && word[0] >= '0' && word[0] <= '9' &&
         word.find_first_of("$%_") == std::string_view::npos;
}

bool is_name(std::string_view word) {
  return !word.empty() && word[0] != '.' && word[0] != '%' && !is_number(word) &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") ==
             std::string_view::npos;
}

bool is_sign(const PtxToken& token, char sign) {
  return token.text.size() == 1 && token.text[0] == sign;
}

std::vector<std::string_view> parts_of(std::string_view instruction) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = instruction.find('.');
    parts.push_back(instruction.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    instruction.remove_prefix(dot + 1);
  }
}

// Reads one text from its first token to its last. Each function begins at `at_` and leaves it
// behind what it has read.
class Reader {
 public:
  explicit Reader(std::vector<PtxToken> tokens) : tokens_(std::move(tokens)) {}

  Result<PtxText> read() {
    TRY(read_frame());
    find_labels();
    TRY(read_body());
    if (at_ < tokens_.size()) return refuse("nothing may follow the kernel");
    return std::move(result_);
  }

 private:
  template <typename... Args>
  tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) const {
    const std::size_t token = std::min(at_, tokens_.size() - 1);
    return fail("line {}: {}", tokens_.empty() ? 1 : tokens_[token].line,
                fmt::format(format, std::forward<Args>(args)...));
  }
  std::string_view text(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view();
  }
  bool is(char sign, std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() && is_sign(tokens_[at_ + ahead], sign);
  }

  Status read_frame();
  void find_labels();
  Status read_body();
  Status read_statement();
  Status read_registers();
  Status read_local();
  Status read_instruction();
  Status check_operation(const std::vector<std::string_view>& parts) const;
  Status read_operands(bool is_parameter);
  Status check_operand() const;
  Status check_parameter() const;

  std::vector<PtxToken> tokens_;
  std::size_t at_ = 0;
  PtxText result_;
  std::string_view kernel_;
  std::set<std::string_view> parameters_, symbols_, labels_, registers_, numbered_;
};

// Everything up to the brace that opens the body: version and target, shared memory, Triton's own
// tables, the kernel's name, parameters and launch bounds.
Status Reader::read_frame() {
  bool is_entry = false, is_list = false;
  for (; at_ < tokens_.size(); ++at_) {
    const std::string_view word = text();
    if (word == ".entry") {
      if (is_entry) return refuse("there is a second kernel");
      is_entry = true;
      kernel_ = text(1);
      if (!is_name(kernel_)) return refuse("the kernel has no name");
    } else if (word[0] == '.') {
      if (!holds(kFrameWords, word)) return refuse("{} is not allowed in a kernel's PTX", word);
      if (word == ".extern" && text(1) != ".shared")
        return refuse("only shared memory may be external");
    } else if (is_name(word) && word != kernel_) {
      (is_entry ? parameters_ : symbols_).insert(word);
    } else if (word == "@" || word.starts_with('%') || word == "\"nounroll\"") {
      return refuse("{} has no meaning before the kernel's body", word);
    } else if (is('{') && is_entry && !is_list) {
      ++at_;
      return ok();
    }
    if (is('=')) is_list = true;
    if (is(';')) is_list = false;
    result_.frame.push_back(tokens_[at_]);
  }
  return refuse("there is no kernel with a body");
}

void Reader::find_labels() {
  for (std::size_t i = at_; i + 1 < tokens_.size(); ++i)
    if (is_sign(tokens_[i + 1], ':') && is_name(tokens_[i].text)) labels_.insert(tokens_[i].text);
}

Status Reader::read_body() {
  std::size_t depth = 1;
  while (at_ < tokens_.size()) {
    if (is('{')) {
      if (++depth > ptx_limits::kDepth) return refuse("braces are nested too deeply");
      ++at_;
    } else if (is('}')) {
      ++at_;
      if (--depth == 0) return ok();
    } else {
      TRY(read_statement());
    }
  }
  return refuse("the kernel's body does not end");
}

Status Reader::read_statement() {
  if (++result_.statements > ptx_limits::kStatements)
    return refuse("the kernel has more than {} statements", ptx_limits::kStatements);
  if (labels_.contains(text()) && is(':', 1)) {
    at_ += 2;
    return ok();
  }
  if (text() == ".reg") return read_registers();
  if (text() == ".local") return read_local();
  if (text() == ".pragma") {
    if (text(1) != "\"nounroll\"" || !is(';', 2)) return refuse("the only pragma is \"nounroll\"");
    at_ += 3;
    return ok();
  }
  return read_instruction();
}

// `.reg .b32 %r<15>;`, `.reg .b32 tmp;`
Status Reader::read_registers() {
  if (!is_register_type(text(1))) return refuse("{} is no type of registers", text(1));
  at_ += 2;
  while (true) {
    const std::string_view name = text();
    if (holds(kNumbered, name) && is('<', 1) && is_number(text(2)) && is('>', 3)) {
      std::int64_t count = 0;
      const std::string_view digits = text(2);
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), count);
      if (error != std::errc() || end != digits.end() || count > ptx_limits::kRegisters)
        return refuse("{} registers are too many", digits);
      numbered_.insert(name);
      at_ += 4;
    } else if (holds(kSingle, name) || (is_name(name) && !labels_.contains(name))) {
      registers_.insert(name);
      ++at_;
    } else {
      return refuse("registers are declared as in `.reg .b32 %r<8>;`, and not as {}", name);
    }
    if (is(';')) break;
    if (!is(',')) return refuse("a declaration of registers ends with a semicolon");
    ++at_;
  }
  ++at_;
  return ok();
}

// Local memory belongs to the frame: an edit may not add any.
Status Reader::read_local() {
  for (; at_ < tokens_.size(); ++at_) {
    result_.frame.push_back(tokens_[at_]);
    if (is(';')) {
      ++at_;
      return ok();
    }
    if (is_name(text())) symbols_.insert(text());
    const bool is_known = is_name(text()) || is_number(text()) || is('[') || is(']') ||
                          text() == ".local" || text() == ".align" || text() == ".b8";
    if (!is_known) return refuse("{} is not allowed in a declaration of local memory", text());
  }
  return refuse("a declaration does not end");
}

Status Reader::check_operation(const std::vector<std::string_view>& parts) const {
  if (parts[0].empty()) return refuse("{} is not allowed in a kernel's body", text());
  if (!is_allowed_operation(parts[0]))
    return refuse("`{}` is not allowed in a kernel's PTX", parts[0]);
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!is_allowed_modifier(parts[i]))
      return refuse("`.{}` of `{}` is not allowed in a kernel's PTX", parts[i], parts[0]);
  const auto has_space = std::ranges::any_of(parts, [](auto part) { return holds(kSpaces, part); });
  if (holds(kMemory, parts[0]) && !has_space)
    return refuse("`{}` names no state space, as in `{}.global`", parts[0], parts[0]);
  if (holds(parts, "param") && parts[0] != "ld")
    return refuse("`{}` may not write a parameter", parts[0]);
  return ok();
}

Status Reader::read_instruction() {
  if (is('@')) {
    ++at_;
    if (is('!')) ++at_;
    TRY(check_operand());
    ++at_;
  }
  const std::vector<std::string_view> parts = parts_of(text());
  TRY(check_operation(parts));
  ++at_;
  return read_operands(holds(parts, "param"));
}

Status Reader::read_operands(bool is_parameter) {
  constexpr std::string_view operand_signs = ",[]{}+-|!";
  for (; at_ < tokens_.size(); ++at_) {
    if (is(';')) {
      ++at_;
      return ok();
    }
    if (text().size() == 1 && operand_signs.find(text()[0]) != std::string_view::npos) {
      if (is_parameter && is('[')) TRY(check_parameter());
      continue;
    }
    TRY(check_operand());
  }
  return refuse("an instruction does not end");
}

Status Reader::check_operand() const {
  const std::string_view word = text();
  if (is_number(word) || word == "_") return ok();
  if (word.starts_with('%')) {
    const std::string_view bare = word.substr(0, word.find_first_of("0123456789"));
    const bool has_number =
        bare.size() < word.size() &&
        word.find_first_not_of("0123456789", bare.size()) == std::string_view::npos;
    if (has_number && numbered_.contains(bare)) return ok();
    if (registers_.contains(word) || is_allowed_special_register(word)) return ok();
    return refuse("{} is no register of this kernel, and no special one that Triton uses", word);
  }
  const bool is_known = registers_.contains(word) || labels_.contains(word) ||
                        symbols_.contains(word) || parameters_.contains(word);
  if (is_known) return ok();
  return refuse("`{}` is not known here", word);
}

// A parameter is read by its name. An offset would reach others, and what lies behind them.
Status Reader::check_parameter() const {
  const bool is_whole = parameters_.contains(text(1)) && is(']', 2);
  return is_whole ? ok() : Status(refuse("a parameter is read whole, as in [NAME]"));
}

}  // namespace

Result<PtxText> read_ptx(std::string_view text) {
  TRY_ASSIGN(std::vector<PtxToken> tokens, tokens_of(text));
  if (tokens.empty()) return fail("the PTX is empty");
  return Reader(std::move(tokens)).read();
}

Status check_edited_ptx(std::string_view original, std::string_view edited) {
  TRY_ASSIGN(const PtxText before, read_ptx(original));
  TRY_ASSIGN(const PtxText after, read_ptx(edited));
  const std::size_t both = std::min(before.frame.size(), after.frame.size());
  for (std::size_t i = 0; i < both; ++i)
    if (before.frame[i].text != after.frame[i].text)
      return fail("line {}: the original has {} here, and the edit {}; only the body may change",
                  after.frame[i].line, before.frame[i].text, after.frame[i].text);
  if (before.frame.size() != after.frame.size())
    return fail("the edit changes what the kernel declares; only the body may change");
  return ok();
}

}  // namespace tritonsmith::gym::language::triton::ptx

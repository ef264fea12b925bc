#include "text/split_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "base/check.h"
#include "text/regex_dialect.h"

namespace tritonsmith::text {
namespace {

template <typename T, void (*free_it)(T*)>
struct Freer {
  void operator()(T* item) const { free_it(item); }
};
using CompileContext = std::unique_ptr<pcre2_compile_context,
                                       Freer<pcre2_compile_context, pcre2_compile_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data, pcre2_match_data_free>>;
using MatchContext =
    std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context, pcre2_match_context_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freer<pcre2_jit_stack, pcre2_jit_stack_free>>;

// The memory that a search needs besides the program. Each thread keeps one, because allocating it
// costs more than a short search.
struct SearchState {
  MatchData match{pcre2_match_data_create(32, nullptr)};
  MatchContext context{pcre2_match_context_create(nullptr)};
  JitStack stack{pcre2_jit_stack_create(32UL << 10, 8UL << 20, nullptr)};
  SearchState() { pcre2_jit_stack_assign(context.get(), nullptr, stack.get()); }
};

SearchState& search_state() {
  thread_local SearchState state;
  return state;
}

}  // namespace

struct SplitPattern::Code {
  pcre2_code* program = nullptr;
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(program); }
};

Result<SplitPattern> SplitPattern::from_regex(std::string_view pattern) {
  TRY_ASSIGN(const std::string translated, pcre2_from_oniguruma(pattern));
  return compile(translated, pattern);
}

Result<SplitPattern> SplitPattern::from_literal(std::string_view literal) {
  std::string escaped;
  for (const char c : literal) {
    const bool plain =
        static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!plain) escaped += '\\';
    escaped += c;
  }
  return compile(escaped, literal);
}

Result<SplitPattern> SplitPattern::compile(const std::string& pcre2_pattern,
                                           std::string_view original) {
  const CompileContext context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  auto code = std::make_shared<Code>();
  int error = 0;
  std::size_t offset = 0;
  code->program =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pcre2_pattern.data()), pcre2_pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &offset, context.get());
  if (code->program == nullptr) {
    std::array<PCRE2_UCHAR, 200> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    return fail("the split pattern '{}' is no regular expression: {}", original,
                reinterpret_cast<const char*>(message.data()));
  }
  std::uint32_t may_be_empty = 0;
  pcre2_pattern_info(code->program, PCRE2_INFO_MATCHEMPTY, &may_be_empty);
  if (may_be_empty != 0) return fail("the split pattern '{}' can match nothing at all", original);
  // A hardened kernel may forbid JIT. Matching is then slower, with the same results.
  pcre2_jit_compile(code->program, PCRE2_JIT_COMPLETE);
  return SplitPattern(std::move(code));
}

std::vector<ByteRange> SplitPattern::find_all(std::string_view text) const {
  SearchState& state = search_state();
  std::vector<ByteRange> found;
  std::size_t from = 0;
  while (from < text.size()) {
    const int count =
        pcre2_match(code_->program, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                    PCRE2_NO_UTF_CHECK, state.match.get(), state.context.get());
    if (count == PCRE2_ERROR_NOMATCH) break;
    CHECK(count > 0, "PCRE2 stopped with error {}", count);
    const std::size_t* ends = pcre2_get_ovector_pointer(state.match.get());
    found.push_back({ends[0], ends[1]});
    from = ends[1];
  }
  return found;
}

}  // namespace tritonsmith::text

// Fuzzes the check of edited PTX. The input is a text, or an original and its edit with a zero byte
// between them. An accepted text is accepted as an edit of itself, and holds none of the words that
// end or leave a kernel. Each text of an accepted edit is an edit of the other one.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "gym/language/triton/ptx/ptx_lexer.h"
#include "gym/language/triton/ptx/ptx_text.h"

namespace {

using namespace tritonsmith::gym::language::triton;

void check_text(std::string_view text) {
  const auto read = ptx::read_ptx(text);
  CHECK(read || !read.error().message.empty(), "refused without a reason");
  if (!read) return;
  CHECK(ptx::check_edited_ptx(text, text), "an accepted text is no edit of itself");
  const auto tokens = ptx::tokens_of(text);
  CHECK(tokens, "an accepted text has no tokens");
  for (const ptx::PtxToken& token : *tokens)
    for (const std::string_view word :
         {".func", ".const", ".section", ".file", "%clock64", "%smid"})
      CHECK(token.text != word, "{} was accepted", word);
}

void check_edit(std::string_view original, std::string_view edited) {
  if (!ptx::check_edited_ptx(original, edited)) return;
  CHECK(ptx::check_edited_ptx(edited, original), "an edit cannot be taken back");
  CHECK(ptx::read_ptx(original)->frame.size() == ptx::read_ptx(edited)->frame.size(),
        "an edit changed the frame");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_text(text);
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    check_edit(text.substr(0, zero), text.substr(zero + 1));
  return 0;
}

// libFuzzer entry for the check of edited PTX. An accepted text must be accepted as an edit of itself,
// and must hold none of the words that end or leave a kernel.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "gym/language/triton/ptx/ptx_lexer.h"
#include "gym/language/triton/ptx/ptx_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tritonsmith::gym::language::triton;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (!ptx::read_ptx(text)) return 0;
  CHECK(ptx::check_edited_ptx(text, text), "an accepted text is no edit of itself");
  const auto tokens = ptx::tokens_of(text);
  CHECK(tokens, "an accepted text has no tokens");
  for (const ptx::PtxToken& token : *tokens)
    for (const std::string_view word :
         {".func", ".const", ".section", ".file", "%clock64", "%smid"})
      CHECK(token.text != word, "{} was accepted", word);
  return 0;
}

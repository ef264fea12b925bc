#include "generate/token_engine.h"

#include <map>

#include "base/check.h"

namespace tritonsmith::generate {

Result<std::vector<Completion>> generate_all(TokenEngine& engine,
                                             std::span<const GenerationRequest> requests) {
  std::map<std::uint64_t, std::size_t> index_of;
  for (const GenerationRequest& request : requests) {
    const bool is_new = index_of.emplace(request.id, index_of.size()).second;
    CHECK(is_new, "two requests have the id {}", request.id);
    TRY(engine.submit(request));
  }
  std::vector<Completion> completions(requests.size());
  for (std::size_t done = 0; done < requests.size(); ++done) {
    TRY_ASSIGN(auto generated, engine.next());
    if (!generated) return fail("the engine lost a request");
    completions[index_of.at(generated->id)] = std::move(generated->completion);
  }
  return completions;
}

}  // namespace tritonsmith::generate

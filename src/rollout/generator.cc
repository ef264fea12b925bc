#include "rollout/generator.h"

#include <map>

namespace tritonsmith::rollout {

Fields<SamplingParams> SamplingParams::fields() {
  using P = SamplingParams;
  return {field("temperature", &P::temperature, "0 takes the likeliest token", at_least(0.0)),
          field("top_p", &P::top_p, "share of probability kept", between(1e-6, 1.0)),
          field("top_k", &P::top_k, "tokens kept, 0 for all", at_least(0)),
          field("max_new_tokens", &P::max_new_tokens, "longest completion", at_least(1))};
}

Result<std::vector<Completion>> generate_all(Generator& generator,
                                             std::span<const GenerationRequest> requests) {
  std::map<std::uint64_t, std::size_t> place;
  for (const GenerationRequest& request : requests) {
    CHECK(place.emplace(request.id, place.size()).second, "two requests have the id {}",
          request.id);
    TRY(generator.submit(request));
  }
  std::vector<Completion> completions(requests.size());
  for (std::size_t done = 0; done < requests.size(); ++done) {
    TRY_ASSIGN(auto generated, generator.next());
    if (!generated) return fail("the generator lost a request");
    completions[place.at(generated->id)] = std::move(generated->completion);
  }
  return completions;
}

}  // namespace tritonsmith::rollout

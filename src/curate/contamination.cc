#include "curate/contamination.h"

#include <vector>

#include "base/hash.h"
#include "curate/normal_form.h"

namespace tritonsmith::curate {
namespace {

// The cheapest question comes first.
std::optional<std::string> key_of(const Task& task, Likeness by, const SignatureOf& signature_of) {
  switch (by) {
    case Likeness::source:
      return content_key(task.source);
    case Likeness::syntax:
      return content_key(normal_form(task.source, Numbers::ignore, Part::model));
    case Likeness::plan:
      return signature_of ? signature_of(task) : std::nullopt;
  }
  return std::nullopt;
}

constexpr Likeness kAll[] = {Likeness::source, Likeness::syntax, Likeness::plan};

}  // namespace

void Contamination::add(const std::string& suite, std::span<const Task> tasks,
                        const SignatureOf& signature_of) {
  for (const Task& task : tasks)
    for (const Likeness by : kAll)
      if (const auto key = key_of(task, by, signature_of))
        keys_.try_emplace({by, *key}, fmt::format("{}: {}", suite, task.id));
}

std::optional<Found> Contamination::find(const Task& task, const SignatureOf& signature_of) const {
  if (is_empty()) return std::nullopt;
  for (const Likeness by : kAll) {
    const auto key = key_of(task, by, signature_of);
    const auto at = key ? keys_.find({by, *key}) : keys_.end();
    if (at != keys_.end()) return Found{.by = by, .task = at->second};
  }
  return std::nullopt;
}

}  // namespace tritonsmith::curate

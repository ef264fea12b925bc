#include "inspect/inspect.h"

#include <algorithm>

#include "inspect/inductor.h"
#include "inspect/rules.h"

namespace tritonsmith::inspect {
namespace {

constexpr std::size_t kLongestSource = 1UL << 20;
constexpr int kDeepestNesting = 1000;
constexpr std::size_t kMostPerRule = 5;

// A deep tree makes every walk to the root slow, and no person writes one. Python itself refuses
// more than 100 levels of indentation.
bool nests_too_deep(const SyntaxTree& tree) {
  std::vector<int> depth(tree.size());
  for (NodeId id = 1; id < tree.size(); ++id) {
    depth[id] = depth[tree[id].parent] + 1;
    if (depth[id] > kDeepestNesting) return true;
  }
  return false;
}

// Returns "; policy fused or open may allow it", where the rule refuses the match under `policy` and
// not under those.
std::string laxer_policies(const Rule& rule, const Matches::Match& match, Policy policy) {
  if (rule.severity(policy) != Severity::reject) return "";
  std::string names;
  for (const Policy other : {Policy::fused, Policy::open})
    if (rule.severity(other) != Severity::reject && other >= match.allowed_from)
      names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(other));
  return names.empty() ? "" : fmt::format("; policy {} may allow it", names);
}

struct Found {
  Finding finding;
  std::string laxer;  // which policy may allow it
};

// Adds what one rule finds in a piece of source whose first line is the file's line after `before`.
void add_found(const Candidate& candidate, const Rule& rule, Policy policy, int before,
               std::vector<Found>& all) {
  Matches matches(candidate);
  rule.find(candidate, matches);
  auto found = matches.all();
  std::ranges::stable_sort(found, {}, &Matches::Match::line);
  found.resize(std::min(found.size(), kMostPerRule));
  for (const auto& match : found)
    all.push_back({.finding = {.rule = std::string(rule.name),
                               .severity = rule.severity(policy),
                               .line = match.line == 0 ? 0 : match.line + before,
                               .message = match.message},
                   .laxer = laxer_policies(rule, match, policy)});
}

// Says in each message which policy may allow it. No policy allows a file without a kernel.
std::vector<Finding> with_laxer_policies(std::vector<Found> all) {
  const bool lacks_kernel = std::ranges::any_of(all, [](const Found& each) {
    return each.finding.rule == "no_triton_kernel" && each.finding.severity == Severity::reject;
  });
  std::vector<Finding> findings;
  for (Found& each : all) {
    if (!lacks_kernel) each.finding.message += each.laxer;
    findings.push_back(std::move(each.finding));
  }
  return findings;
}

Finding refusal(std::string message) {
  return {.rule = "not_inspectable",
          .severity = Severity::reject,
          .line = 0,
          .message = std::move(message)};
}

}  // namespace

std::vector<Finding> inspect_kernel(std::string_view source, Policy policy) {
  if (source.size() > kLongestSource)
    return {refusal(fmt::format("the file is longer than {} bytes", kLongestSource))};
  if (nests_too_deep(SyntaxTree(std::string(source)))) return {refusal("the file nests too deep")};
  const Candidate candidate{std::string(source)};
  std::vector<Found> found;
  for (const Rule& rule : all_rules()) add_found(candidate, rule, policy, 0, found);
  for (const KernelText& kernel : kernel_texts(candidate)) {
    const Candidate part{kernel.text};
    for (const Rule& rule : all_rules())
      if (!is_about_the_file(rule.name)) add_found(part, rule, policy, kernel.line - 1, found);
  }
  return with_laxer_policies(std::move(found));
}

}  // namespace tritonsmith::inspect

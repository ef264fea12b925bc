// Agreement: how often the verifier's model and our rules say the same about kernels. The rules
// speak where a kernel is right (they accept it) or where a finding of theirs rejects it. A kernel
// that only fails, such as one with wrong values, is not counted.
#pragma once

#include <optional>

#include "verifier/verifier.h"

namespace tritonsmith::verifier {

struct Agreement {
  int both = 0;           // both object
  int rules_only = 0;     // the rules alone object
  int verifier_only = 0;  // the verifier alone objects
  int neither = 0;

  int kernels() const { return both + rules_only + verifier_only + neither; }
  // The share of kernels about which they agree. Nothing without kernels.
  std::optional<double> share() const;
  // Cohen's kappa: (share - chance) / (1 - chance), where chance is the share that two parties who
  // object as often, but at random, would have (Cohen 1960). Nothing where chance is 1, as where
  // neither ever objects.
  std::optional<double> kappa() const;
};

// Counts one kernel. The verdict may hold the opinion already.
void count(const Verdict& verdict, const Opinion& opinion, Agreement& agreement);

Json to_json(const Agreement& agreement);
// "they agree about 9 of 10 kernels (kappa 0.74): both object to 2, the rules alone to 1, ..."
std::string to_text(const Agreement& agreement);

}  // namespace tritonsmith::verifier

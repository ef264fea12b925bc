// SearchOrder: what somebody asks the assistant for: kernels for a module, within a budget, or a
// verdict on a kernel. Its JSON form is what the page and other programs send. Hostile data.
#pragma once

#include <string>
#include <vector>

#include "base/config.h"
#include "data/verdict.h"
#include "search/search_config.h"

namespace tritonsmith::serve::assistant {

// write: the model writes kernels for `source`. judge: `kernel` is judged.
enum class SearchKind { write, judge };
// all: until the budget is used up. first: until a kernel is accepted.
enum class Enough { all, first };

struct SearchOrder {
  SearchKind kind = SearchKind::write;
  std::string model;   // the one that writes; empty: the server's first
  std::string title;   // for people
  std::string source;  // the module, in KernelBench's format unless has_calls()
  std::string kernel;
  // The class or function of `source`, the arguments of each call, and those of the constructor, as
  // --inputs and --init have them. Empty: those of KernelBench's format.
  std::string name;
  std::vector<std::string> inputs;
  std::string init, dtype;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  Enough enough = Enough::all;
  search::Strategy strategy = search::SearchConfig{}.strategy;
  int conversations = 32;
  int turns = 2;
  int trials = 3;
  std::vector<std::string> baselines;  // timed beside the reference: eager, torch_compile
  double seconds = 600;
  double light = 0;
  int patience = 0;
  int tune = 0;
  double temperature = 0.8;
  std::uint64_t seed = 1;
  bool has_calls() const {
    return !name.empty() || !inputs.empty() || !init.empty() || !dtype.empty();
  }
  static Fields<SearchOrder> fields();
};

Json to_json(const SearchOrder& order);
// `defaults` are the values of missing members. Fails in one line that names the member.
Result<SearchOrder> order_from_json(const Json& json, SearchOrder defaults = {});
// Checks the module, and of a judgement the kernel.
Status check_order(const SearchOrder& order);

}  // namespace tritonsmith::serve::assistant

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::serve::assistant::SearchKind> =
    tritonsmith::names<tritonsmith::serve::assistant::SearchKind>(
        {{tritonsmith::serve::assistant::SearchKind::write, "write"},
         {tritonsmith::serve::assistant::SearchKind::judge, "judge"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::serve::assistant::Enough> =
    tritonsmith::names<tritonsmith::serve::assistant::Enough>(
        {{tritonsmith::serve::assistant::Enough::all, "all"},
         {tritonsmith::serve::assistant::Enough::first, "first"}});

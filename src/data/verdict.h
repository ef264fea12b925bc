// Verdict: everything the gym found out about one candidate kernel. A bad kernel is data: each way
// to fail is a stage reached and a typed error in here, never an Error. Documented for users in
// docs/verdict.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "data/finding.h"

namespace tritonsmith {

// How far a candidate came; each stage implies those before it. `none`: no kernel was found in the
// completion.
enum class Stage { none, extracted, parsed, inspected, captured, compiled, ran, correct, timed };
template <>
inline constexpr auto enum_names<Stage> = names<Stage>({{Stage::none, "none"},
                                                        {Stage::extracted, "extracted"},
                                                        {Stage::parsed, "parsed"},
                                                        {Stage::inspected, "inspected"},
                                                        {Stage::captured, "captured"},
                                                        {Stage::compiled, "compiled"},
                                                        {Stage::ran, "ran"},
                                                        {Stage::correct, "correct"},
                                                        {Stage::timed, "timed"}});

// evaluate: the native evaluator of Triton IR on the CPU. replay: the GPU. automatic: replay where
// there is a GPU.
enum class Backend { automatic, evaluate, replay };
template <>
inline constexpr auto enum_names<Backend> = names<Backend>({{Backend::automatic, "auto"},
                                                            {Backend::evaluate, "evaluate"},
                                                            {Backend::replay, "replay"}});

// What `accepted` demands of the candidate's forward (docs/judging.md).
enum class Policy { strict, fused, open };
template <>
inline constexpr auto enum_names<Policy> =
    names<Policy>({{Policy::strict, "strict"}, {Policy::fused, "fused"}, {Policy::open, "open"}});

// How a candidate's numbers are held against the reference's (docs/judging.md). budget: within
// KernelBench's tolerance, and within a budget around the result in float64. allclose: within
// KernelBench's tolerance alone, for who compares with KernelBench.
enum class Comparison { budget, allclose };
template <>
inline constexpr auto enum_names<Comparison> =
    names<Comparison>({{Comparison::budget, "budget"}, {Comparison::allclose, "allclose"}});

// How the task's forward ran: its captured plan was replayed; or, where it cannot be captured, its
// Python in the reference shell, a trusted process of its own.
enum class ReferenceKind { replay, shell };
template <>
inline constexpr auto enum_names<ReferenceKind> =
    names<ReferenceKind>({{ReferenceKind::replay, "replay"}, {ReferenceKind::shell, "shell"}});

// Whose fault it is that a verdict ended early. An infrastructure fault is retried and never
// becomes a reward.
enum class Fault { none, candidate, infrastructure };
template <>
inline constexpr auto enum_names<Fault> = names<Fault>({{Fault::none, "none"},
                                                        {Fault::candidate, "candidate"},
                                                        {Fault::infrastructure, "infrastructure"}});

// Why a candidate went no further. Classes are stable names, listed in docs/verdict.md:
// "syntax_error", "import_error", "exception", "compile_error", "data_dependent", "timeout",
// "killed", "output_flood", "out_of_bounds", "wrong_shape", "wrong_dtype", "wrong_value",
// "not_evaluable", "too_large_to_evaluate", ...
struct VerdictError {
  std::string error_class;
  std::string message;
  std::string excerpt;  // the candidate's own line
  int line = 0;         // of the candidate's source, from 1; 0 unknown
  bool operator==(const VerdictError&) const = default;
};

struct Numerics {
  double max_abs = 0;  // largest |candidate - reference| over all trials and outputs
  double max_rel = 0;  // largest |candidate - reference| / |reference| where the reference is not 0
  int trials = 0;      // trials that ran to the end
  // How far from the reference, by |candidate - reference| / (1 + |reference|), who is about as
  // exact as PyTorch was let be, where PyTorch's own rounding is not small against the tolerance
  // (gym/referee/compare.h); 0: nobody needed it.
  double leeway = 0;
  bool operator==(const Numerics&) const = default;
};

struct Timing {
  double median = 0, mean = 0, p10 = 0, p90 = 0;  // milliseconds
  int n = 0;
  double median_low = 0, median_high = 0;  // its 95 % interval; both 0: not known
  bool operator==(const Timing&) const = default;
};

using NamedTimings = std::vector<std::pair<std::string, Timing>>;

struct KernelReport {
  std::string name;
  int launches = 0;
  double device_us = 0;  // all launches of one forward; 0 when evaluated
  int registers = 0, spills = 0, shared_bytes = 0;
  bool operator==(const KernelReport&) const = default;
};

struct AtenReport {
  std::string op;  // "aten::mm"
  int calls = 0;
  double device_us = 0;
  bool operator==(const AtenReport&) const = default;
};

struct Environment {
  std::string gpu;     // the chip timed on, or compiled for: "sm_90 (compiled, not run)"
  std::string driver;  // empty without a GPU
  std::string torch, triton;
  std::vector<std::string>
      jail_layers;  // those that held: "uid", "netns", "seccomp", "landlock=7", ...
  bool operator==(const Environment&) const = default;
};

struct Verdict {
  std::string task_id;
  Stage stage = Stage::none;
  Backend backend = Backend::evaluate;
  Policy policy = Policy::strict;
  Comparison comparison = Comparison::budget;
  ReferenceKind reference = ReferenceKind::replay;
  bool compiled = false;
  bool correct = false;
  bool accepted = false;  // correct, and no finding rejects
  std::vector<Finding> findings;
  std::optional<VerdictError> error;
  std::optional<Numerics> numerics;
  std::optional<Timing> time_ms;
  std::optional<Timing> reference_ms;
  std::optional<double> speedup;   // reference median / candidate median
  NamedTimings baselines;          // {"eager", ...}: the task, run otherwise
  std::optional<double> coverage;  // share of device time spent in the candidate's own kernels
  std::vector<KernelReport> kernels;
  std::vector<AtenReport> aten;
  std::vector<std::pair<std::string, double>>
      stage_ms;  // {"queue", 1.2}, {"capture", 80.1}, ... in order
  Environment environment;
  Fault fault = Fault::none;
  bool from_store = false;  // answered by the verdict store without judging again
};

bool has_rejecting_finding(const Verdict& verdict);
// The baseline's median / the candidate's; nothing where either was not timed.
std::optional<double> speedup_over(const Verdict& verdict, std::string_view baseline);

Json to_json(const VerdictError& error);
Result<VerdictError> error_from_json(const Json& json);
Json to_json(const Timing& timing);
Result<Timing> timing_from_json(const Json& json);
Json to_json(const Numerics& numerics);
Result<Numerics> numerics_from_json(const Json& json);
// As an object.
Json to_json(const NamedTimings& timings);
Result<NamedTimings> named_timings_from_json(const Json& json);

Json to_json(const Verdict& verdict);
Result<Verdict> verdict_from_json(const Json& json);

}  // namespace tritonsmith

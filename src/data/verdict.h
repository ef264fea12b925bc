// Verdict: the gym's whole result for one candidate kernel. A bad kernel is data: each failure is a
// stage and a typed error in the verdict, never an Error. docs/verdict.md documents the fields for
// users.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "data/error_class.h"
#include "data/finding.h"
#include "data/speed_of_light.h"

namespace tritonsmith {

// The last stage that a candidate reached. A stage implies all stages before it. `none`: the
// completion contains no kernel.
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

// evaluate: the native evaluator of Triton IR runs on the CPU. replay: the launch plan runs on the
// GPU. automatic: replay if there is a GPU, else evaluate.
enum class Backend { automatic, evaluate, replay };
template <>
inline constexpr auto enum_names<Backend> = names<Backend>({{Backend::automatic, "auto"},
                                                            {Backend::evaluate, "evaluate"},
                                                            {Backend::replay, "replay"}});

// What PyTorch may still compute in the forward of an accepted candidate (docs/judging.md). strict:
// nothing. fused: matmul, convolution, attention and recurrent cells. open: anything, if a kernel
// does real work.
enum class Policy { strict, fused, open };
template <>
inline constexpr auto enum_names<Policy> =
    names<Policy>({{Policy::strict, "strict"}, {Policy::fused, "fused"}, {Policy::open, "open"}});

// The rule that compares a candidate's numbers with the reference's (docs/verdict.md). budget:
// within KernelBench's tolerance, and within a budget around the float64 result. allclose: within
// KernelBench's tolerance alone, for comparison with KernelBench's results.
enum class Comparison { budget, allclose };
template <>
inline constexpr auto enum_names<Comparison> =
    names<Comparison>({{Comparison::budget, "budget"}, {Comparison::allclose, "allclose"}});

// How an output must be laid out. any: no two elements share memory, unless the reference's output
// has the same strides. contiguous: it is contiguous wherever the reference's output is.
enum class Strides { any, contiguous };
template <>
inline constexpr auto enum_names<Strides> = names<Strides>({{Strides::any, "any"},
                                                            {Strides::contiguous, "contiguous"}});

// The way in which the task's forward ran. replay: its captured plan was replayed. python: it
// cannot be captured, so its Python ran in a trusted process of its own. JSON calls the latter
// "shell", because stored verdicts have that name.
enum class ReferenceKind { replay, python };
template <>
inline constexpr auto enum_names<ReferenceKind> =
    names<ReferenceKind>({{ReferenceKind::replay, "replay"}, {ReferenceKind::python, "shell"}});

// The cause of a verdict's early end. An infrastructure fault is retried and never becomes a
// reward.
enum class Fault { none, candidate, infrastructure };
template <>
inline constexpr auto enum_names<Fault> = names<Fault>({{Fault::none, "none"},
                                                        {Fault::candidate, "candidate"},
                                                        {Fault::infrastructure, "infrastructure"}});

// Why a candidate went no further, with the location in its source.
struct VerdictError {
  ErrorClass error_class = ErrorClass::unknown;
  std::string message;
  std::string excerpt;  // the candidate's line
  int line = 0;         // in the candidate's source, from 1; 0 if unknown
  // The class's name in JSON if error_class is `unknown`: a record or a service of another version
  // wrote it. It is written again unchanged.
  std::string unknown_class;
  bool operator==(const VerdictError&) const = default;
};

// The class's name, as JSON, tables and messages show it.
std::string class_name(const VerdictError& error);
// Sets the class from its name. An unknown name is kept as it is.
void set_class(VerdictError& error, std::string name);

struct Numerics {
  double max_abs = 0;  // largest |candidate - reference| over all trials and outputs
  double max_rel = 0;  // largest |candidate - reference| / |reference| where the reference is not 0
  int trials = 0;      // trials that ran to their end
  // The tolerance extension that a trial needed, measured as |candidate - reference| / (1 +
  // |reference|). Where PyTorch's own rounding is large against the tolerance, a candidate may be
  // about as inexact as PyTorch (gym/compare/compare.h). 0: no trial needed it.
  double tolerance_extension = 0;
  // The largest tolerance that a comparison had; it applies absolutely and relatively. 0: unknown,
  // or every comparison was exact.
  double tolerance = 0;
  // The worst element's error, in units of the error that is allowed. It is measured only where the
  // comparison asks for it (CompareOptions), and JSON leaves it out.
  double worst_share = 0;
  bool operator==(const Numerics&) const = default;
};

struct Timing {
  double median = 0, mean = 0, p10 = 0, p90 = 0;  // milliseconds
  int n = 0;
  double median_low = 0, median_high = 0;  // the 95 % interval of the median, or both 0 if unknown
  bool operator==(const Timing&) const = default;
};

using NamedTimings = std::vector<std::pair<std::string, Timing>>;

struct KernelReport {
  std::string name;
  int launches = 0;
  double device_us = 0;  // sum over all launches of one forward; 0 when evaluated
  int registers = 0, spills = 0, shared_bytes = 0;
  // The compiler's own PTX, and the name of the kernel for an edited one: "relu", or "relu.2" for
  // the second kernel of that function. Both are empty unless the job asked for PTX.
  std::string ptx, ptx_name;
  bool operator==(const KernelReport&) const = default;
};

struct AtenReport {
  std::string op;  // "aten::mm"
  int calls = 0;
  double device_us = 0;
  bool operator==(const AtenReport&) const = default;
};

// The clocks of a GPU, in megahertz.
struct Clocks {
  int sm_mhz = 0;  // of the multiprocessors
  int memory_mhz = 0;
  bool operator==(const Clocks&) const = default;
};

struct Environment {
  std::string target;  // the chip that the kernels were compiled for: "sm_90"
  std::string gpu;     // the GPU that measured, or the target: "sm_90 (compiled, not run)"
  std::string driver;  // empty without a GPU
  std::string torch, triton;
  // The sandbox layers in force: "uid", "netns", "seccomp", "landlock=7", ...
  std::vector<std::string> jail_layers;
  std::optional<Clocks> clocks;  // the medians during the timed rounds, if they could be read
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
  bool accepted = false;  // correct, and no finding rejects it
  std::vector<Finding> findings;
  std::optional<VerdictError> error;
  std::optional<Numerics> numerics;
  std::optional<Timing> time_ms;
  std::optional<Timing> reference_ms;
  std::optional<double> speedup;   // reference median / candidate median
  NamedTimings baselines;          // {"eager", ...}: other ways to run the task
  std::optional<double> coverage;  // share of device time in the candidate's own kernels
  std::optional<SpeedOfLight> speed_of_light;  // if timed on a GPU whose ceilings are known
  // The most bytes that the tensors of one forward hold at the same time. 0: it was not timed.
  double peak_bytes = 0, reference_peak_bytes = 0;
  std::vector<KernelReport> kernels;
  std::vector<AtenReport> aten;
  // Milliseconds of each stage in order: {"queue", 1.2}, {"capture", 80.1}, ...
  std::vector<std::pair<std::string, double>> stage_ms;
  Environment environment;
  Fault fault = Fault::none;
  bool from_store = false;  // an earlier verdict from the store; nothing ran for this job
};

bool has_rejecting_finding(const Verdict& verdict);
// Returns the baseline's median time divided by the candidate's. Returns nothing if either was not
// timed.
std::optional<double> speedup_over(const Verdict& verdict, std::string_view baseline);

Json to_json(const Clocks& clocks);
Result<Clocks> clocks_from_json(const Json& json);
Json to_json(const VerdictError& error);
Result<VerdictError> error_from_json(const Json& json);
Json to_json(const Timing& timing);
Result<Timing> timing_from_json(const Json& json);
// Returns "an element may differ by 0.01 and 0.01 of its value", or nothing without a tolerance.
std::string tolerance_words(const Numerics& numerics);
Json to_json(const Numerics& numerics);
Result<Numerics> numerics_from_json(const Json& json);
// An object: name -> timing.
Json to_json(const NamedTimings& timings);
Result<NamedTimings> named_timings_from_json(const Json& json);

Json to_json(const Verdict& verdict);
Result<Verdict> verdict_from_json(const Json& json);

}  // namespace tritonsmith

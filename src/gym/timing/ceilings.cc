#include "gym/timing/ceilings.h"

#include <algorithm>
#include <functional>

#include "base/utc_time.h"

namespace tritonsmith::gym::timing {
namespace {

constexpr int kRuns = 8;
constexpr double kCopied = 512.0 * (1 << 20);  // bytes; far beyond any cache
constexpr int kSide = 8192;

Result<double> shortest(const std::function<Result<double>()>& run) {
  TRY(run());  // warms the device up
  double least = 0;
  for (int i = 0; i < kRuns; ++i) {
    TRY_ASSIGN(const double seconds, run());
    if (!(seconds > 0)) return fail("the GPU's clock does not move");
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

}  // namespace

Result<Ceilings> measure_ceilings(RateMeter& meter, const std::string& gpu) {
  Ceilings ceilings{.gpu = gpu, .date = utc_time()};
  TRY_ASSIGN(const double copy, shortest([&] { return meter.seconds_to_copy(kCopied); }));
  ceilings.bytes_per_second = 2 * kCopied / copy;
  for (const plan::DType type :
       {plan::DType::bfloat16, plan::DType::float16, plan::DType::float32}) {
    TRY_ASSIGN(const double product,
               shortest([&] { return meter.seconds_to_multiply(type, kSide); }));
    ceilings.flops_per_second[std::string(name_of(type))] = 2.0 * kSide * kSide * kSide / product;
  }
  TRY_ASSIGN(const double launch, shortest([&] { return meter.seconds_to_launch(); }));
  ceilings.launch_us = 1e6 * launch;
  return ceilings;
}

}  // namespace tritonsmith::gym::timing

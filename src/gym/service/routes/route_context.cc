#include "gym/service/routes/route_context.h"

#include <charconv>

namespace tritonsmith::gym::service {

Result<std::optional<JobView>> await_job(const RouteContext& context, const std::string& name,
                                         double seconds) {
  const Deadline until = Deadline::in_seconds(seconds);
  while (true) {
    const std::uint64_t seen = context.job_store.changes();
    TRY_ASSIGN(auto job, context.job_store.find(name));
    const bool waits = job && (job->state == JobState::queued || job->state == JobState::running);
    if (!waits || until.passed() || context.stopping.stop_requested()) return job;
    context.job_store.wait_for_change(seen, until);
  }
}

Result<double> seconds_parameter(const HttpCall& call, const std::string& name,
                                 const SecondsRange& range) {
  const std::string text = call.parameter(name);
  if (text.empty()) return range.usual;
  double seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code != std::errc() || end != text.data() + text.size() ||
      !(seconds >= 0 && seconds <= range.longest))
    return fail("{} is a number of seconds up to {}", name, range.longest);
  return seconds;
}

HttpReply full_reply(const JobStoreFull& full, std::string_view code) {
  const std::string whose =
      full.submitter.empty() ? "" : fmt::format(" of the token '{}'", full.submitter);
  return error_reply(429, code,
                     fmt::format("{} of at most {} jobs{} are unfinished; try again later",
                                 full.unfinished, full.limit, whose));
}

HttpReply store_error(const Error& error) {
  return error_reply(503, "store_failed", error.message);
}

}  // namespace tritonsmith::gym::service

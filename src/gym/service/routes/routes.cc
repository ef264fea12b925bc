#include "gym/service/routes/routes.h"

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

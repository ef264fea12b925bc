// Tools: what a coding agent may call: judge a kernel, look at tasks, ask what a finding means, what
// the device can do and how fast the reference is. Each tool has a schema for its arguments and one
// for its structured result, and a short text beside that. Any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "serve/jobs/await_verdicts.h"
#include "serve/jobs/suite.h"

namespace tritonsmith::serve::mcp {

// Says whether arguments may name files. A program that an agent started reads them with its
// rights; a service must not.
enum class FileAccess { none, own };

struct ToolResult {
  std::string text;
  Json structured;        // null: none
  bool is_error = false;  // the call has no result; the text says what to do
};
// A tool that waits for a verdict.
struct JudgingTool {
  gym::api::Submission submission;
  std::function<ToolResult(const Verdict&)> finish;
};
struct UnknownTool {};
using ToolStart = std::variant<ToolResult, JudgingTool, UnknownTool>;

class Tools {
 public:
  // `device_facts` tells about this machine, or the one that judges. All must outlive the tools.
  Tools(const Suite& suite, const gym::api::SubmissionLimits& limits,
        std::function<Result<Json>()> device_facts, FileAccess files);

  // Returns all tools with their schemas, always in the same order.
  Json list() const;
  ToolStart start(const std::string& name, const Json& arguments) const;

 private:
  using Start = Result<ToolStart> (Tools::*)(const Json& arguments) const;
  struct Tool;
  static const std::vector<Tool>& all();

  Result<ToolStart> judge_kernel(const Json& arguments) const;
  Result<ToolStart> get_task(const Json& arguments) const;
  Result<ToolStart> list_tasks(const Json& arguments) const;
  Result<ToolStart> explain_finding(const Json& arguments) const;
  Result<ToolStart> device_facts(const Json& arguments) const;
  Result<ToolStart> reference_time(const Json& arguments) const;
  // Returns the text of an argument, or of the file that NAME_path names.
  Result<std::string> text_or_file(const Json& arguments, const std::string& name) const;
  // Returns a job for the task that the arguments name, without its kernel.
  Result<gym::api::Submission> job_for(const Json& arguments) const;

  const Suite& suite_;
  gym::api::SubmissionLimits limits_;
  std::function<Result<Json>()> device_facts_;
  FileAccess files_;
};

}  // namespace tritonsmith::serve::mcp

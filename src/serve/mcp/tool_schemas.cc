#include "serve/mcp/tool_schemas.h"

#include "base/check.h"

namespace tritonsmith::serve::mcp {
namespace {

constexpr std::string_view kTools = R"json([
{
  "name": "judge_kernel",
  "title": "Judge a kernel",
  "description": "Compiles a Triton kernel for the target GPU, checks it against the task's PyTorch reference on secret inputs, looks for reward hacks, memory errors and races, and times it where there is a GPU. Call it after every change. A verdict is data: a wrong kernel is no error of the call. `accepted` means correct and honest. The text says what to mend, with the line.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "kernel": {"type": "string", "description": "Python source that defines `class ModelNew(torch.nn.Module)` and its @triton.jit kernels"},
      "task": {"type": "string", "description": "A task's id (see list_tasks), or Python source that defines `Model`, `get_inputs` and `get_init_inputs`"},
      "policy": {"type": "string", "enum": ["strict", "fused", "open"], "default": "strict", "description": "What PyTorch may still compute in forward: nothing; matmul, convolution and attention; anything beside real work in Triton"},
      "backend": {"type": "string", "enum": ["auto", "evaluate", "replay"], "default": "auto", "description": "evaluate: on the CPU, every access checked. replay: on the GPU, timed"},
      "trials": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 3},
      "baselines": {"type": "array", "items": {"type": "string", "enum": ["eager", "torch_compile"]}, "description": "Other ways to time the task on a GPU"}
    },
    "additionalProperties": false
  },
  "outputSchema": {
    "type": "object",
    "properties": {
      "accepted": {"type": "boolean"},
      "correct": {"type": "boolean"},
      "compiled": {"type": "boolean"},
      "stage": {"type": "string", "description": "the last stage that the kernel reached"},
      "speedup": {"type": ["number", "null"], "description": "over the reference; absent without a GPU"},
      "findings": {"type": "array", "items": {"type": "object"}},
      "error": {"type": ["object", "null"]}
    },
    "required": ["accepted", "correct", "compiled", "stage"]
  },
  "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
},
{
  "name": "get_task",
  "title": "Get a task",
  "description": "Returns a task of the suite: PyTorch source with `Model`, `get_inputs` and `get_init_inputs`. Write `ModelNew`, which has Model's constructor and forward and computes the same with Triton kernels.",
  "inputSchema": {
    "type": "object",
    "properties": {"id": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": false
  },
  "outputSchema": {
    "type": "object",
    "properties": {
      "id": {"type": "string"},
      "source": {"type": "string"},
      "instruction": {"type": "string"},
      "family": {"type": "string"},
      "tolerance": {"type": ["number", "null"]}
    },
    "required": ["id", "source"]
  },
  "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
},
{
  "name": "list_tasks",
  "title": "List tasks",
  "description": "Lists the tasks of the suite that the judge was started with, in order, at most 100 at a time.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "contains": {"type": "string", "description": "Only ids, families and instructions that contain this text, in any case"},
      "after": {"type": "string", "description": "Only tasks behind the one with this id: the last of the earlier list"},
      "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
    },
    "additionalProperties": false
  },
  "outputSchema": {
    "type": "object",
    "properties": {
      "tasks": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}, "family": {"type": "string"}, "instruction": {"type": "string"}}, "required": ["id"]}},
      "more": {"type": "boolean", "description": "whether there are tasks behind the last"}
    },
    "required": ["tasks", "more"]
  },
  "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
},
{
  "name": "explain_finding",
  "title": "Explain a finding",
  "description": "Explains a name in a verdict: a finding's rule (`race`, `torch_compute`), an error's class (`wrong_value`, `not_evaluable`), a stage or a field, and says what to do about it.",
  "inputSchema": {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": false
  },
  "outputSchema": {
    "type": "object",
    "properties": {
      "name": {"type": "string"},
      "meanings": {"type": "array", "items": {"type": "object", "properties": {"section": {"type": "string"}}, "required": ["section"]}}
    },
    "required": ["name", "meanings"]
  },
  "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
},
{
  "name": "device_facts",
  "title": "Facts about the device",
  "description": "Says for which GPU kernels are compiled, which GPUs run and time them, and their limits: processors, shared memory, cache, bandwidth, peak of products. Without a GPU kernels are compiled and evaluated on the CPU, and have no times.",
  "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
  "outputSchema": {
    "type": "object",
    "properties": {
      "backend": {"type": "string", "enum": ["evaluate", "replay"]},
      "target": {"type": "string", "description": "the compute capability that kernels are compiled for"},
      "gpus": {"type": "array", "items": {"type": "object"}}
    },
    "required": ["backend", "target", "gpus"]
  },
  "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
},
{
  "name": "reference_time",
  "title": "Time of the reference",
  "description": "Times a task's PyTorch reference on the GPU, eagerly and by torch.compile: the times to beat. Without a GPU there are none, and the result says so.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "task": {"type": "string", "description": "A task's id, or its source"}
    },
    "additionalProperties": false
  },
  "outputSchema": {
    "type": "object",
    "properties": {
      "measured": {"type": "boolean"},
      "reason": {"type": "string", "description": "why nothing was measured"},
      "reference_ms": {"type": ["object", "null"]},
      "baselines": {"type": "object"}
    },
    "required": ["measured"]
  },
  "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false}
}
])json";

constexpr std::string_view kPaths = R"json({
"judge_kernel": {
  "kernel_path": {"type": "string", "description": "A file instead of kernel, from the folder in which the judge was started"},
  "task_path": {"type": "string", "description": "A file instead of task"}
},
"reference_time": {
  "task_path": {"type": "string", "description": "A file instead of task"}
}
})json";

Json parsed(std::string_view text) {
  const auto json = parse_json(text);
  CHECK(json, "the tools' schemas are no JSON");
  return *json;
}

}  // namespace

const Json& tool_schemas() {
  static const Json schemas = parsed(kTools);
  return schemas;
}

const Json& path_members() {
  static const Json members = parsed(kPaths);
  return members;
}

}  // namespace tritonsmith::serve::mcp

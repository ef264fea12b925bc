// Describes the tools to a model: their names, descriptions and JSON Schemas (2020-12).
#pragma once

#include "base/json.h"

namespace tritonsmith::serve::mcp {

// An array of objects with name, title, description, inputSchema, outputSchema and annotations.
const Json& tool_schemas();
// Members of inputSchema that name files instead, by tool.
const Json& path_members();

}  // namespace tritonsmith::serve::mcp

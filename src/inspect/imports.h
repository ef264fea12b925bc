// Imports: which imports of a file matter. An import whose name nothing uses does nothing. An import
// of an optional library is an attempt: no such library is installed beside the judge, so the code
// that would use it never runs. Everything else that a file imports must be on a list.
#pragma once

#include <string_view>

#include "inspect/candidate.h"

namespace tritonsmith::inspect {

// Tells whether nothing in the file uses what this import binds. A file that reads its variables in
// a roundabout way, as by globals(), may use all of them.
bool is_idle_import(const Candidate& candidate, const Use& use);

// Tells whether the file goes on without the module that this import asks for: the import stands in
// a `try` that catches ImportError, or behind a question whether the module exists.
bool is_optional_import(const Candidate& candidate, NodeId import);

// Tells whether the file imports the module of this path as an option only, wherever it does.
bool is_optional_module(const Candidate& candidate, std::string_view path);

// Tells whether a kernel's file may import this module: what Triton kernels are written with, and
// those parts of Python's standard library that only compute.
bool is_listed_module(std::string_view path);

}  // namespace tritonsmith::inspect

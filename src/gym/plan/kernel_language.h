// KernelLanguage: the languages in which the code of a plan's kernel may be written. The names are
// those of the JSON member that holds the code. gym/language/ says what the judge asks of a language.
#pragma once

#include "base/enum_names.h"
#include "base/json.h"

namespace tritonsmith::gym::plan {

enum class KernelLanguage { triton_ir };

// Returns the language whose member this JSON has. If it has none, this returns Triton IR, and the
// reader then reports that the member `ttir` is missing.
KernelLanguage language_in(const Json& json);

}  // namespace tritonsmith::gym::plan

namespace tritonsmith {

template <>
inline constexpr auto enum_names<gym::plan::KernelLanguage> =
    names<gym::plan::KernelLanguage>({{gym::plan::KernelLanguage::triton_ir, "ttir"}});

}  // namespace tritonsmith

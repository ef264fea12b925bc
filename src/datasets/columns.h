// Columns: looks for one thing under the many names that people gave its column. All of a row is
// foreign: a column may be missing, null or of another type.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tritonsmith::datasets {

using Names = std::initializer_list<std::string_view>;

// Returns the column's value. A dot leads into an object: "reward_model.ground_truth". An object or
// list may be given as JSON within text. Nothing: it is missing or null.
std::optional<Json> column(const Json& row, std::string_view name);

// Returns the first of these columns that holds text which is not empty, or an empty text. Fails if
// none does and one of them holds another type.
Result<std::string> text_column(const Json& row, Names names);

// Returns the first of these columns that holds a number or text, as text.
std::string word_column(const Json& row, Names names);

}  // namespace tritonsmith::datasets

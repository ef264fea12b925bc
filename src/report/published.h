// Results that other systems' authors published, to stand beside our own: labelled as published,
// with their source, never mixed into a table of what was measured here (other chips, other
// judges, other protocols).
#pragma once

#include "report/tables.h"

namespace tritonsmith::report {

std::vector<Table> published_tables();

}  // namespace tritonsmith::report

// Lists results that the authors of other systems published, for comparison with ours. Tables label
// them as published and name the source. They never share a table with our measurements, because
// GPUs, judges and protocols differ.
#pragma once

#include "report/tables.h"

namespace tritonsmith::report {

std::vector<Table> published_tables();

}  // namespace tritonsmith::report

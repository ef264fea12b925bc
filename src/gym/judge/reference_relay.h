// Relays a referee's questions to the Python reference. The client alone says which source runs
// there: the referee, which runs untrusted plans, names only tensors. The thread that judges calls
// this during a job. Tensors pass through in pieces, and no one looks at their values.
#pragma once

#include "gym/judge/python_reference.h"

namespace tritonsmith::gym::judge {

struct RelayedQuestion {
  const Json& question;  // as the referee sent it; its blocks are still on the socket
  const std::string& task_source;
  int referee = -1;    // the referee's socket
  double seconds = 0;  // for the answer, without the start of Python
};

// Fails only if the referee itself broke off or sends nonsense. A failure of the Python reference,
// or its absence (null), is an answer.
Status relay_to_reference(const RelayedQuestion& asked, PythonReference* reference);

}  // namespace tritonsmith::gym::judge

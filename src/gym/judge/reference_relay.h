// What a referee asks of the reference shell goes through its client, which alone says what source
// runs there: the referee, where strangers' plans run, names only tensors. Called in mid-job by the
// thread that judges. Tensors pass through in pieces and are not looked at.
#pragma once

#include "gym/judge/python_reference.h"

namespace tritonsmith::gym::judge {

struct RelayedQuestion {
  const Json& question;  // as the referee sent it; its blocks are still on the socket
  const std::string& task_source;
  int referee = -1;    // socket
  double seconds = 0;  // for the answer, the shell's start not included
};

// Fails only when the referee itself broke off, or can no longer be understood. What goes wrong
// with the shell, or where there is none (null), is an answer.
Status relay_to_shell(const RelayedQuestion& asked, PythonReference* shell);

}  // namespace tritonsmith::gym::judge

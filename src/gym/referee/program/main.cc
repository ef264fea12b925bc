// The referee's process by itself; `tritonsmith gym-referee` is the same.
#include "gym/referee/serve.h"

int main() { return tritonsmith::gym::serve_referee(3); }

// Torch source: writes a program as a task file in KernelBench's format, in the style of a person:
// Model, get_inputs, get_init_inputs. It also writes the instruction, a sentence that describes the
// task without its code.
#pragma once

#include <string>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

// plain: always the same words, with sizes as literals. varied: torch.relu, F.relu or .relu(),
// nested expressions, named sizes.
enum class Idioms { plain, varied };

// The values that get_inputs draws. usual: torch.randn or torch.rand, as the program says. flat and
// shifted: the same ranges with other distributions, to judge a kernel a second time on other
// values.
enum class Draws { usual, flat, shifted };

std::string torch_source(const Program& program, const Sizes& sizes, Idioms idioms, Rng& rng,
                         Draws draws = Draws::usual);

// Returns a sentence such as "For x [16, 512] and y [512]: relu, multiply by y, sum over the last
// dimension."
std::string instruction(const Program& program, const Sizes& sizes);

// Returns the ways to write an operator, the plain form first. {x}, {y} are operands, {0}, {1}
// constants.
const std::vector<std::string>& torch_forms(Op op);

}  // namespace tritonsmith::curriculum

namespace tritonsmith {
template <>
inline constexpr auto enum_names<curriculum::Idioms> = names<curriculum::Idioms>(
    {{curriculum::Idioms::plain, "plain"}, {curriculum::Idioms::varied, "varied"}});
}  // namespace tritonsmith

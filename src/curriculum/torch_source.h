// Torch source: a program as a task file in KernelBench's format, written as a person would: Model,
// get_inputs, get_init_inputs. And the sentence that asks for it without showing it.
#pragma once

#include <string>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

// plain: always the same words, sizes written where they are used. varied: torch.relu, F.relu,
// .relu(), nested expressions, named sizes.
enum class Idioms { plain, varied };

// What get_inputs draws. usual: torch.randn or torch.rand, as the program says. flat and shifted:
// the same ranges filled differently, for judging again what was judged on the usual ones.
enum class Draws { usual, flat, shifted };

std::string torch_source(const Program& program, const Sizes& sizes, Idioms idioms, Rng& rng,
                         Draws draws = Draws::usual);

// "For x [16, 512] and y [512]: relu, multiply by y, sum over the last dimension."
std::string instruction(const Program& program, const Sizes& sizes);

// How one operator is written, first the plain form; {x}, {y} operands, {0}, {1} constants.
const std::vector<std::string>& torch_forms(Op op);

}  // namespace tritonsmith::curriculum

namespace tritonsmith {
template <>
inline constexpr auto enum_names<curriculum::Idioms> = names<curriculum::Idioms>(
    {{curriculum::Idioms::plain, "plain"}, {curriculum::Idioms::varied, "varied"}});
}  // namespace tritonsmith

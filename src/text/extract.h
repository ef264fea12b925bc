// Extraction: from a completion to the one kernel it offers, with where the plan and the code stand
// in bytes and tokens. A pure function of hostile text. What is missing or ambiguous becomes a
// finding with severity reject and an empty source: what is judged must be the only thing the
// completion can be read to say.
//
//   <thinking>the plan</thinking>          also <think>; the opening tag may be missing (it then
//   stands in the prompt) <answer>
//   ```python
//   the code
//   ```
//   </answer>
//
// Rules
//  1. The plan is what the first thinking block holds. Nothing in it counts as an answer. One that
//  is not closed ends
//     at the first <answer> (unclosed_thinking, warn), or takes all that follows.
//  2. The answer is what stands after the plan between <answer> and </answer>: two openings are
//  several_answers. A
//     missing </answer> is unclosed_answer (warn): the answer then goes to the end of the text.
//     Without <answer>, all text after the plan is searched, for a code fence only (no_answer,
//     note).
//  3. The code is the one fence in the answer that is marked python, py, python3, triton or
//  nothing; other fences
//     do not count. Two are several_code_blocks. An answer in tags may also be bare code, without
//     any fence. A fence that is not closed ends at </answer> (unclosed_fence, warn); where that is
//     missing too, there is no telling where the code would have ended: unclosed_fence rejects.
//  4. Other rules: no_code, empty_code (reject); text_after_answer, text_around_code (note).
// source is exactly the bytes of code_bytes. A token belongs to a span when it shares a byte with
// it.
#pragma once

#include <span>
#include <string_view>

#include "data/kernel.h"

namespace tritonsmith::text {

// token_ends[i] is where token i's share of `text` ends (decode_with_ends gives both). It may be
// empty, or shorter than the text: then token spans are empty, or cover the tokens that there are.
Kernel extract_kernel(std::string_view text, std::span<const std::size_t> token_ends = {});

// The tokens that share a byte with `bytes`.
Span tokens_of_bytes(Span bytes, std::span<const std::size_t> token_ends);

}  // namespace tritonsmith::text

// Extraction: finds the one kernel in a completion, and the positions of the thinking and the code
// in bytes and tokens. It is a pure function of hostile text. A missing or ambiguous kernel gives a
// finding with severity reject and an empty source, because the completion must have a single
// reading.
//
//   <thinking>...</thinking>    also <think>; the prompt may already contain the opening tag
//   <answer>
//   ```python
//   the code
//   ```
//   </answer>
//
// Rules
//   1. The thinking is the content of the first thinking block. Nothing in it counts as an answer. A
//      block that is not closed ends at the first <answer> (unclosed_thinking, warn), or takes all
//      the text after it.
//   2. The answer is the text after the thinking between <answer> and </answer>. Two opening tags are
//      several_answers. A missing </answer> is unclosed_answer (warn): the answer then extends to
//      the end of the text. Without <answer>, all text after the thinking is searched, but only for a
//      code fence (no_answer, note).
//   3. The code is the one fence in the answer that is marked python, py, python3, triton or not at
//      all. Other fences do not count. Two such fences are several_code_blocks. An answer in tags
//      may also be bare code without a fence. A fence that is not closed ends at </answer>
//      (unclosed_fence, warn). If </answer> is missing too, the end of the code is unknown, and
//      unclosed_fence rejects.
//   4. Other rules: no_code, empty_code (reject); text_after_answer, text_around_code (note).
// source is exactly the bytes of code_bytes. A token belongs to a span if it shares a byte with it.
#pragma once

#include <span>
#include <string_view>

#include "data/kernel.h"

namespace tritonsmith::text {

// token_ends[i] is the end of token i's part of `text`; decode_with_ends gives both. It may be
// empty or shorter than the text. Token spans are then empty, or cover the given tokens.
Kernel extract_kernel(std::string_view text, std::span<const std::size_t> token_ends = {});

// Returns the tokens that share a byte with `bytes`.
Span tokens_of_bytes(Span bytes, std::span<const std::size_t> token_ends);

}  // namespace tritonsmith::text

// Declares the launches behind the table of kernels.h, one for each entry.
#pragma once

#include "model/cuda/kernels.h"

namespace tritonsmith::model::cuda {

void launch_norm(const Norm& arguments, Stream stream);
void launch_norm_backward(const NormBackward& arguments, Stream stream);
void launch_rope(const Rope& arguments, Stream stream);
void launch_rope_backward(const RopeBackward& arguments, Stream stream);
void launch_swiglu(const SwiGlu& arguments, Stream stream);
void launch_swiglu_backward(const SwiGluBackward& arguments, Stream stream);
void launch_head_rows(const HeadRows& arguments, Stream stream);
void launch_head_rows_backward(const HeadRowsBackward& arguments, Stream stream);
void launch_adamw(const AdamW& arguments, Stream stream);
void launch_embed(const Embed& arguments, Stream stream);
void launch_decode(const Decode& arguments, Stream stream);
void launch_decode_in_order(const Decode& arguments, Stream stream);
// a case of launch_decode_in_order
void launch_decode_few_in_order(const Decode& arguments, Stream stream);
void launch_attend_in_order(const Attend& arguments, Stream stream);
void launch_gather_rows(const GatherRows& arguments, Stream stream);
void launch_sum_rows(const SumRows& arguments, Stream stream);
void launch_sample(const Sample& arguments, Stream stream);
void launch_copy_pages(const CopyPages& arguments, Stream stream);
Runtime runtime();

}  // namespace tritonsmith::model::cuda

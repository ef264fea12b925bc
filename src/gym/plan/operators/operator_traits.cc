#include "gym/plan/operators/operator_traits.h"

#include <algorithm>
#include <array>

namespace tritonsmith::gym::plan::operators {
namespace {

using Name = std::string_view;

constexpr auto kAllocating = std::to_array<Name>({
    "empty",          "empty_like",      "empty_strided",
    "empty_permuted", "new_empty",       "new_empty_strided",
    "zeros",          "zeros_like",      "new_zeros",
    "ones",           "ones_like",       "new_ones",
    "full",           "full_like",       "new_full",
    "scalar_tensor",  "arange",          "lift",
    "lift_fresh",     "lift_fresh_copy",
});

constexpr auto kArranging = std::to_array<Name>({
    // views
    "view",
    "_unsafe_view",
    "reshape",
    "_reshape_alias",
    "view_as",
    "reshape_as",
    "as_strided",
    "as_strided_",
    "expand",
    "expand_as",
    "broadcast_to",
    "permute",
    "transpose",
    "transpose_",
    "t",
    "t_",
    "numpy_T",
    "mT",
    "mH",
    "matrix_H",
    "movedim",
    "moveaxis",
    "swapaxes",
    "swapdims",
    "squeeze",
    "squeeze_",
    "unsqueeze",
    "unsqueeze_",
    "slice",
    "select",
    "narrow",
    "unbind",
    "split",
    "split_with_sizes",
    "chunk",
    "tensor_split",
    "unsafe_split",
    "unsafe_chunk",
    "unsafe_split_with_sizes",
    "flatten",
    "unflatten",
    "diagonal",
    "unfold",
    "detach",
    "detach_",
    "alias",
    "view_as_real",
    "view_as_complex",
    "real",
    "imag",
    // copies, casts, contiguity, and overwriting with one value
    "cat",
    "concat",
    "concatenate",
    "stack",
    "hstack",
    "vstack",
    "dstack",
    "column_stack",
    "repeat",
    "tile",
    "constant_pad_nd",
    "copy_",
    "copy",
    "clone",
    "_to_copy",
    "to",
    "type_as",
    "contiguous",
    "fill_",
    "fill",
    "zero_",
    "zero",
    // asks about a tensor without touching its values
    "sym_size",
    "sym_stride",
    "sym_numel",
    "sym_storage_offset",
    "is_same_size",
    "is_contiguous",
});

constexpr auto kCudnns = std::to_array<Name>({
    "convolution",
    "_convolution",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution_overrideable",
    "cudnn_convolution",
    "cudnn_convolution_transpose",
    "lstm",
    "gru",
    "rnn_tanh",
    "rnn_relu",
    "lstm_cell",
    "gru_cell",
    "rnn_tanh_cell",
    "rnn_relu_cell",
    "_thnn_fused_lstm_cell",
    "_thnn_fused_gru_cell",
    "_cudnn_rnn",
});

// Beside these.
constexpr auto kVendorGrade = std::to_array<Name>({
    "mm",
    "addmm",
    "addmm_",
    "bmm",
    "baddbmm",
    "baddbmm_",
    "addbmm",
    "matmul",
    "linear",
    "dot",
    "mv",
    "addmv",
    "addr",
    "einsum",
    "_int_mm",
    "_scaled_mm",
    "_addmm_activation",
    "scaled_dot_product_attention",
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_fused_attention_overrideable",
});

// With a leading underscore only these: most others are back ends' own entries that trust their
// arguments.
constexpr auto kInternal = std::to_array<Name>({
    "_softmax",
    "_log_softmax",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "_batch_norm_no_update",
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d",
    "_trilinear",
    "_prelu_kernel",
    "_weight_norm",
    "_weight_norm_interface",
    "_cdist_forward",
    "_euclidean_dist",
    "_fft_r2c",
    "_fft_c2r",
    "_fft_c2c",
    "_logcumsumexp",
    "_log_softmax_backward_data",
    "_stack",
    "_unique2",
    "_fused_rms_norm",
    "_conj",
    "_conj_physical",
    "_neg_view",
    "_is_all_true",
    "_is_any_true",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
    "_linalg_det",
    "_linalg_eigh",
    "_linalg_svd",
    "_linalg_solve_ex",
    "_linalg_slogdet",
    "_pdist_forward",
    "_to_cpu",
    "_ctc_loss",
    "_foreach_add",
    "_foreach_mul",
    "_assert_async",
    "_addmm_activation",
    "_transformer_encoder_layer_fwd",
    "_native_multi_head_attention",
    "_safe_softmax",
    "_masked_softmax",
    "_histogramdd_bin_edges",
    "_cummax_helper",
    // the operators of Python
    "__and__",
    "__or__",
    "__xor__",
    "__lshift__",
    "__rshift__",
    "__iand__",
    "__ior__",
    "__ixor__",
    "__ilshift__",
    "__irshift__",
});

constexpr auto kRefused = std::to_array<Name>({
    "from_file",
    "set_",
    "set",
    "set_data",
    "resize_",
    "resize",
    "resize_as_",
    "resize_as",
    "embedding_bag",
    "segment_reduce",
    "quantize_per_tensor",
    "quantize_per_channel",
    "dequantize",
    "to_sparse",
    "to_mkldnn",
    "record_stream",
    "pin_memory",
    "is_pinned",
    "item",
    "retain_grad",
    "requires_grad_",
    "output_nr",
    "data",
    "backward",
    "rename",
    "rename_",
    "align_to",
});

constexpr auto kRefusedParts =
    std::to_array<Name>({"sparse", "nested", "quantized", "fake_quantize", "mkldnn", "miopen",
                         "mps_", "xnnpack", "fbgemm", "storage"});

template <std::size_t n>
bool contains(const std::array<Name, n>& table, Name name) {
  return std::ranges::find(table, name) != table.end();
}

}  // namespace

std::string_view aten_base_name(std::string_view full_name) {
  constexpr Name prefix = "aten::";
  if (!full_name.starts_with(prefix)) return {};
  full_name.remove_prefix(prefix.size());
  return full_name.substr(0, full_name.find('.'));
}

bool is_replayable(std::string_view full_name) {
  const Name name = aten_base_name(full_name);
  if (name.empty() || contains(kRefused, name)) return false;
  for (const Name part : kRefusedParts)
    if (name.find(part) != Name::npos) return false;
  if (name.front() != '_') return true;
  return contains(kInternal, name) || contains(kArranging, name) || is_vendor_grade(full_name);
}

bool only_allocates(std::string_view full_name) {
  return contains(kAllocating, aten_base_name(full_name));
}

bool leaves_unwritten(std::string_view full_name) {
  const Name name = aten_base_name(full_name);
  return only_allocates(full_name) && (name.starts_with("empty") || name.starts_with("new_empty"));
}

bool only_arranges(std::string_view full_name) {
  const Name name = aten_base_name(full_name);
  return contains(kAllocating, name) || contains(kArranging, name);
}

bool is_vendor_grade(std::string_view full_name) {
  return runs_in_cudnn(full_name) || contains(kVendorGrade, aten_base_name(full_name));
}

bool runs_in_cudnn(std::string_view full_name) {
  return contains(kCudnns, aten_base_name(full_name));
}

}  // namespace tritonsmith::gym::plan::operators

#include "gym/plan/operators/candidate_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "gym/plan/operators/operator_name.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::operators {
namespace {

// clang-format off
constexpr const char* kNames =
    "__and__ __iand__ __ilshift__ __ior__ __irshift__ __ixor__ __lshift__ __or__ __rshift__ "
    "__xor__ _adaptive_avg_pool2d _adaptive_avg_pool3d _addmm_activation _conj _conj_physical "
    "_convolution _euclidean_dist _fused_rms_norm _int_mm _is_all_true _is_any_true _linalg_det "
    "_linalg_eigh _linalg_slogdet _linalg_solve_ex _linalg_svd _log_softmax _logcumsumexp "
    "_neg_view _prelu_kernel _safe_softmax _scaled_dot_product_attention_math _softmax _to_copy "
    "_unique2 _unsafe_view _upsample_nearest_exact1d _upsample_nearest_exact2d "
    "_upsample_nearest_exact3d _weight_norm_interface abs abs_ absolute absolute_ acos acos_ acosh "
    "acosh_ adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
    "adaptive_max_pool2d adaptive_max_pool3d add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul "
    "addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint affine_grid_generator alias all "
    "allclose alpha_dropout alpha_dropout_ amax amin aminmax angle any arange arccos arccos_ "
    "arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh "
    "arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_scatter asin asin_ "
    "asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d avg_pool1d "
    "avg_pool2d avg_pool3d baddbmm baddbmm_ bartlett_window batch_norm bernoulli bernoulli_ "
    "bilinear binary_cross_entropy binary_cross_entropy_with_logits bitwise_and "
    "bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or "
    "bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ blackman_window "
    "block_diag bmm broadcast_tensors broadcast_to bucketize cartesian_prod cat cauchy cauchy_ "
    "cdist ceil ceil_ celu celu_ chain_matmul chalf channel_shuffle cholesky cholesky_inverse "
    "cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone "
    "col2im column_stack combinations complex concat concatenate conj conj_physical conj_physical_ "
    "constant_pad_nd contiguous conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d convolution copy copy_ copysign copysign_ corrcoef cos cos_ cosh cosh_ "
    "cosine_embedding_loss cosine_similarity count_nonzero cov cross cummax cummin cumprod "
    "cumprod_ cumsum cumsum_ cumulative_trapezoid deg2rad deg2rad_ det detach detach_ diag "
    "diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff digamma digamma_ dist div "
    "div_ divide divide_ dot dropout dropout_ dsplit dstack einsum elu elu_ embedding empty "
    "empty_like empty_permuted empty_strided eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp "
    "exp2 exp2_ exp_ expand expand_as expm1 expm1_ exponential exponential_ eye "
    "feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fft_fft "
    "fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 "
    "fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn "
    "fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn fill fill_ fill_diagonal_ fix fix_ flatten flip "
    "fliplr flipud float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod "
    "fmod_ frac frac_ frexp frobenius_norm full full_like gather gcd gcd_ ge ge_ gelu gelu_ "
    "geometric geometric_ geqrf ger glu gradient greater greater_ greater_equal greater_equal_ "
    "grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell gt gt_ hamming_window "
    "hann_window hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ "
    "heaviside heaviside_ hinge_embedding_loss histogram histogramdd hsplit hstack huber_loss "
    "hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ im2col imag index index_add index_add_ "
    "index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_ "
    "index_select inner instance_norm inverse is_complex is_floating_point is_same_size isclose "
    "isfinite isin isinf isnan isneginf isposinf isreal istft kaiser_window kl_div kron kthvalue "
    "l1_loss layer_norm ldexp ldexp_ le le_ leaky_relu leaky_relu_ lerp lerp_ less less_ "
    "less_equal less_equal_ lgamma lgamma_ lift lift_fresh lift_fresh_copy linalg_cholesky "
    "linalg_cholesky_ex linalg_cond linalg_cross linalg_det linalg_diagonal linalg_eigh "
    "linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_lu "
    "linalg_lu_factor linalg_lu_factor_ex linalg_matmul linalg_matrix_norm linalg_matrix_power "
    "linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv linalg_qr linalg_slogdet "
    "linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals "
    "linalg_tensorinv linalg_tensorsolve linalg_vander linalg_vecdot linalg_vector_norm linear "
    "linspace log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal log_normal_ log_sigmoid "
    "log_sigmoid_forward log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and "
    "logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit "
    "logit_ logspace logsumexp lstm lstm_cell lt lt_ mH mT margin_ranking_loss masked_fill "
    "masked_fill_ masked_scatter masked_scatter_ masked_select matmul matrix_H matrix_power max "
    "max_pool1d max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool2d "
    "max_unpool3d maximum mean median meshgrid min minimum mish mish_ mm mode moveaxis movedim "
    "mse_loss msort mul mul_ multi_margin_loss multinomial multiply multiply_ mv mvlgamma "
    "mvlgamma_ nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy "
    "native_channel_shuffle native_dropout native_group_norm native_layer_norm ne ne_ neg neg_ "
    "negative negative_ new_empty new_empty_strided new_full new_ones new_zeros nextafter "
    "nextafter_ nll_loss nll_loss_forward nonzero nonzero_static norm norm_except_dim normal "
    "normal_ normal_functional not_equal not_equal_ nuclear_norm numpy_T one_hot ones ones_like "
    "orgqr ormqr outer pad pad_sequence pairwise_distance pdist permute pinverse pixel_shuffle "
    "pixel_unshuffle poisson poisson_nll_loss polar positive pow pow_ prelu prod put put_ qr "
    "quantile rad2deg rad2deg_ rand rand_like randint randint_like randn randn_like random random_ "
    "randperm range ravel real reciprocal reciprocal_ reflection_pad1d reflection_pad2d "
    "reflection_pad3d relu relu6 relu6_ relu_ remainder remainder_ renorm renorm_ repeat "
    "repeat_interleave replication_pad1d replication_pad2d replication_pad3d reshape reshape_as "
    "resolve_conj resolve_neg rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 "
    "round round_ row_stack rrelu rrelu_ rsqrt rsqrt_ rsub scalar_tensor "
    "scaled_dot_product_attention scatter scatter_ scatter_add scatter_add_ scatter_reduce "
    "scatter_reduce_ searchsorted select select_scatter selu selu_ sgn sgn_ sigmoid sigmoid_ sign "
    "sign_ signbit silu silu_ sin sin_ sinc sinc_ sinh sinh_ slice slice_scatter slogdet "
    "smooth_l1_loss soft_margin_loss softmax softplus softshrink sort special_airy_ai "
    "special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma "
    "special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit "
    "special_expm1 special_gammainc special_gammaincc special_gammaln special_i0 special_i0e "
    "special_i1 special_i1e special_log1p special_log_ndtr special_log_softmax special_logit "
    "special_logsumexp special_modified_bessel_i0 special_modified_bessel_i1 "
    "special_modified_bessel_k0 special_modified_bessel_k1 special_multigammaln special_ndtr "
    "special_ndtri special_psi special_round special_scaled_modified_bessel_k0 "
    "special_scaled_modified_bessel_k1 special_sinc special_softmax special_spherical_bessel_j0 "
    "special_xlog1py special_xlogy split split_with_sizes sqrt sqrt_ square square_ squeeze "
    "squeeze_ stack std std_mean stft sub sub_ subtract subtract_ sum sum_to_size svd swapaxes "
    "swapaxes_ swapdims swapdims_ sym_numel sym_size sym_stride t t_ take take_along_dim tan tan_ "
    "tanh tanh_ tensor_split tensordot threshold threshold_ tile to topk trace transpose "
    "transpose_ trapezoid trapz triangular_solve tril tril_ tril_indices triplet_margin_loss triu "
    "triu_ triu_indices true_divide true_divide_ trunc trunc_ type_as unbind unflatten unfold "
    "uniform uniform_ unique_consecutive unique_dim unique_dim_consecutive unsqueeze unsqueeze_ "
    "upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d "
    "upsample_nearest2d upsample_nearest3d upsample_trilinear3d vander var var_mean vdot view "
    "view_as view_as_complex view_as_real vsplit vstack where xlogy xlogy_ zero zero_ zeros "
    "zeros_like ";
constexpr const char* kIntoTensors =
    "abs add addmm baddbmm bmm clamp cos div exp eye log matmul maximum minimum mm mul neg pow "
    "reciprocal rsqrt sigmoid sin sqrt sub tanh ";
// clang-format on

std::set<std::string> words_of(const char* text) {
  std::istringstream words(text);
  return std::set<std::string>(std::istream_iterator<std::string>(words), {});
}

const std::set<std::string>& names() {
  static const std::set<std::string> all = words_of(kNames);
  return all;
}

// Of these one overload only: others take sizes or counts from tensors on trust.
std::string_view safe_overload(std::string_view name) {
  if (name == "repeat_interleave") return "self_int";
  if (name == "lstm" || name == "gru" || name == "rnn_tanh" || name == "rnn_relu") return "input";
  return "";
}

// Writes into a tensor that it is given by keyword.
bool has_given_result(const std::string& full_name) {
  const auto handle = c10::Dispatcher::singleton().findSchema(operator_name(full_name));
  if (!handle) return false;
  return std::ranges::any_of(handle->schema().arguments(), [](const c10::Argument& argument) {
    return argument.kwarg_only() && argument.alias_info() != nullptr &&
           argument.alias_info()->isWrite();
  });
}

// By the names of dimensions, which most of what holds results against each other refuses: as
// "names", "using_names", "Dimname" or "dim_DimnameList" the overload says so.
bool names_dimensions(std::string_view full_name) {
  const std::size_t dot = full_name.find('.');
  return dot != std::string_view::npos && full_name.find("name", dot) != std::string_view::npos;
}

}  // namespace

bool is_for_candidates(std::string_view full_name) {
  static const std::set<std::string> into_tensors = words_of(kIntoTensors);
  const std::string name(aten_base_name(full_name));
  const std::string_view overload = safe_overload(name);
  if (!overload.empty() && !full_name.ends_with(fmt::format(".{}", overload))) return false;
  return names().contains(name) && !names_dimensions(full_name) &&
         (into_tensors.contains(name) || !has_given_result(std::string(full_name)));
}

const PlanStep* find_unsafe_step(const Plan& candidate) {
  const auto at = std::ranges::find_if(candidate.steps, [](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    return call != nullptr && !is_for_candidates(call->op);
  });
  return at == candidate.steps.end() ? nullptr : &*at;
}

}  // namespace tritonsmith::gym::plan::operators

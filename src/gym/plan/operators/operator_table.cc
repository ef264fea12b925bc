#include "gym/plan/operators/operator_table.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tritonsmith::gym::plan::operators {
namespace {

std::unordered_map<std::string_view, Traits> by_name() {
  std::unordered_map<std::string_view, Traits> all;
  for (const OperatorRow& row : operator_rows()) {
    std::string_view rest = row.names;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      all.emplace(rest.substr(0, end), row.traits);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return all;
}

}  // namespace

// clang-format off
// The table is one expression, whatever its length.
// NOLINTNEXTLINE(readability-function-size)
std::span<const OperatorRow> operator_rows() {
  using enum Trait;
  static constexpr auto kRows = std::to_array<OperatorRow>({
      // Allocating.
      {{allocates, for_candidates},
       "lift lift_fresh new_full new_ones new_zeros ones_like"},
      {{allocates, for_candidates, filled},
       "ones"},
      {{allocates, for_candidates, filled, unnamed},
       "scalar_tensor"},
      {{allocates, for_candidates, tables, unnamed},
       "arange"},
      {{allocates, for_candidates, unnamed},
       "lift_fresh_copy"},
      {{allocates, for_candidates, fills, filled, unnamed},
       "full"},
      {{allocates, for_candidates, fills, unnamed},
       "full_like"},
      {{allocates, for_candidates, zeros},
       "zeros_like"},
      {{allocates, for_candidates, zeros, filled},
       "zeros"},
      {{allocates, unwritten, leaves_drawn, for_candidates},
       "empty empty_like new_empty"},
      {{allocates, unwritten, for_candidates},
       "empty_permuted empty_strided new_empty_strided"},
      // Views, copies and casts, which policy `strict` leaves to PyTorch.
      {{arranges, for_candidates},
       "as_strided_ broadcast_to column_stack concatenate constant_pad_nd copy detach_ diagonal "
       "expand_as imag is_same_size mH matrix_H real reshape_as squeeze_ sym_numel sym_size "
       "sym_stride t_ transpose_ unfold unsqueeze_ view_as view_as_complex"},
      {{arranges, for_candidates, keeps_elements, unnamed},
       "as_strided"},
      {{arranges, for_candidates, fills},
       "fill"},
      {{arranges, for_candidates, zeros},
       "zero"},
      {{arranges, keeps_as_drawn, for_candidates},
       "concat dstack hstack mT moveaxis movedim narrow numpy_T split_with_sizes swapaxes "
       "swapdims tile to type_as unflatten view_as_real vstack"},
      {{arranges, keeps_as_drawn, for_candidates, joins},
       "cat stack"},
      {{arranges, keeps_as_drawn, for_candidates, keeps_elements},
       "flatten repeat"},
      {{arranges, keeps_as_drawn, for_candidates, keeps_elements, unnamed},
       "select slice"},
      {{arranges, keeps_as_drawn, rearranges, keeps_statistic, for_candidates, casts,
        keeps_elements, unnamed},
       "_to_copy"},
      {{arranges, keeps_as_drawn, rearranges, keeps_statistic, for_candidates, keeps_elements,
        unnamed},
       "_unsafe_view clone reshape squeeze unsqueeze view"},
      {{arranges},
       "_reshape_alias is_contiguous sym_storage_offset unsafe_split_with_sizes"},
      {{arranges, keeps_as_drawn, rearranges, for_candidates, keeps_elements},
       "contiguous"},
      {{arranges, keeps_as_drawn, rearranges, for_candidates, keeps_elements, moves, unnamed},
       "permute t transpose"},
      {{arranges, keeps_as_drawn, lists_views, for_candidates},
       "chunk"},
      {{arranges, keeps_as_drawn, lists_views, for_candidates, keeps_elements, unnamed},
       "split unbind"},
      {{lists_views, for_candidates},
       "dsplit hsplit vsplit"},
      {{arranges, leaves_drawn, keeps_as_drawn, rearranges, keeps_statistic, for_candidates,
        keeps_elements, unnamed},
       "alias detach"},
      {{arranges, for_candidates, overwrites, fills},
       "fill_"},
      {{arranges, for_candidates, overwrites, zeros},
       "zero_"},
      {{keeps_as_drawn, for_candidates, moves},
       "flip roll"},
      {{arranges, lists_views},
       "unsafe_chunk unsafe_split"},
      {{arranges, keeps_as_drawn, for_candidates, overwrites},
       "copy_"},
      {{arranges, keeps_as_drawn, keeps_statistic, for_candidates, keeps_elements, unnamed},
       "expand"},
      {{arranges, lists_views, for_candidates},
       "tensor_split"},
      // Random numbers.
      {{random},
       "_cudnn_attention_backward _cudnn_attention_forward _efficient_attention_forward "
       "_flash_attention_forward _fused_sdp_choice _lstm_mps _nested_tensor_softmax_with_shape "
       "_sample_dirichlet _standard_gamma _triton_scaled_dot_attention binomial miopen_rnn "
       "rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_functional"},
      {{random, for_candidates},
       "cauchy cauchy_ exponential exponential_ geometric geometric_ log_normal log_normal_ "
       "poisson rrelu rrelu_"},
      {{random, checks_values, for_candidates, draws_whole},
       "bernoulli bernoulli_"},
      {{random, checks_values, for_candidates},
       "multinomial"},
      {{random, dropout, for_candidates},
       "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout "
       "feature_alpha_dropout_ feature_dropout feature_dropout_ native_dropout"},
      {{random, generator, leaves_drawn, for_candidates, fills_by_chance, draws_normal},
       "normal normal_ randn randn_like"},
      {{random, generator, leaves_drawn, for_candidates, fills_by_chance, draws_uniform},
       "rand rand_like uniform uniform_"},
      {{random, for_candidates, fills_by_chance},
       "normal_functional"},
      {{random, for_candidates, fills_by_chance, draws_whole},
       "randint randint_like random random_"},
      {{random, for_candidates, fills_by_chance, draws_order},
       "randperm"},
      {{random, dropout},
       "_cudnn_init_dropout_state _fill_mem_eff_dropout_mask_ _fused_dropout"},
      {{dropout},
       "native_dropout_backward"},
      // Matrix products, convolutions, attention, recurrent cells.
      {{cudnn, for_candidates, convolves},
       "_convolution convolution"},
      {{cudnn, for_candidates, convolves, called_to_compute},
       "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"},
      {{cudnn, for_candidates, recurrent_cell},
       "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell"},
      {{vendor, for_candidates},
       "_int_mm"},
      {{vendor, for_candidates, adds_to_product},
       "addmm_ baddbmm_"},
      {{vendor, for_candidates, adds_to_product, called_to_compute},
       "addbmm addr"},
      {{vendor, for_candidates, vector_product, called_to_compute},
       "dot mv"},
      {{vendor, for_candidates, vector_product, adds_to_product, called_to_compute},
       "addmv"},
      {{vendor, random, attention},
       "_scaled_dot_product_cudnn_attention _scaled_dot_product_efficient_attention "
       "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
       "_scaled_dot_product_fused_attention_overrideable"},
      {{cudnn, recurrent_cell},
       "_thnn_fused_gru_cell _thnn_fused_lstm_cell"},
      {{cudnn, convolves},
       "convolution_overrideable cudnn_convolution cudnn_convolution_transpose"},
      {{vendor, matrix_product, scores, for_candidates, into_given, adds_to_product,
        called_to_compute},
       "addmm baddbmm"},
      {{vendor, matrix_product, scores, for_candidates, into_given, called_to_compute},
       "bmm mm"},
      {{cudnn, random, for_candidates, recurrent},
       "gru lstm rnn_relu rnn_tanh"},
      {{random, attention},
       "_scaled_dot_product_attention_math_for_mps _scaled_dot_product_cudnn_attention_backward "
       "_scaled_dot_product_efficient_attention_backward"},
      {{attention},
       "_scaled_dot_product_flash_attention_backward "
       "_scaled_dot_product_flash_attention_for_cpu_backward "
       "_scaled_dot_product_fused_attention_overrideable_backward"},
      {{vendor, random, attention, for_candidates},
       "_scaled_dot_product_attention_math scaled_dot_product_attention"},
      {{vendor, scores, for_candidates},
       "linear"},
      {{vendor, scores, for_candidates, called_to_compute},
       "einsum"},
      {{vendor, for_candidates, internal, adds_to_product},
       "_addmm_activation"},
      {{cudnn, random, recurrent_cell},
       "_cudnn_rnn"},
      {{vendor},
       "_scaled_mm"},
      {{vendor, scores, for_candidates, into_given, called_to_compute},
       "matmul"},
      // Elementwise operators, with the traits that the analyses need.
      {{elementwise, for_candidates},
       "mish silu softplus"},
      {{elementwise, for_candidates, called_to_compute},
       "atan elu erf exp2 expm1 gelu leaky_relu log1p square"},
      {{elementwise, for_candidates, keeps_numbers, called_to_compute},
       "relu"},
      {{elementwise, for_candidates, into_given, called_to_compute},
       "cos sigmoid sin tanh"},
      {{elementwise, for_candidates, into_given, keeps_numbers, called_to_compute},
       "abs"},
      {{scales, for_candidates, keeps_from_zero},
       "add_"},
      {{scales, for_candidates},
       "div_ mul_ sub_"},
      {{elementwise, keeps_statistic, for_candidates, into_given, called_to_compute},
       "exp log sqrt"},
      {{elementwise, keeps_statistic, for_candidates, into_given, of_two, called_to_compute},
       "pow"},
      {{scales, combines_draws, elementwise, linear, keeps_statistic, combines, for_candidates,
        into_given, keeps_from_zero, keeps_whole, of_two, arithmetic, called_to_compute},
       "add"},
      {{scales, combines_draws, elementwise, linear, keeps_statistic, combines, for_candidates,
        into_given, keeps_whole, of_two, arithmetic, called_to_compute},
       "mul sub"},
      {{keeps_statistic, for_candidates, into_given, inverts, called_to_compute},
       "reciprocal"},
      {{keeps_statistic, for_candidates, into_given, called_to_compute},
       "rsqrt"},
      {{keeps_statistic, bounds, for_candidates, keeps_from_zero, clamps, keeps_numbers,
        called_to_compute},
       "clamp_min"},
      {{scales, elementwise, linear, keeps_statistic, combines, for_candidates, into_given, inverts,
        of_two, arithmetic, called_to_compute},
       "div"},
      {{negates, elementwise, linear, keeps_statistic, for_candidates, into_given, keeps_numbers,
        called_to_compute},
       "neg"},
      {{negates, for_candidates},
       "neg_"},
      {{elementwise, linear, keeps_statistic, for_candidates, arithmetic, called_to_compute},
       "rsub"},
      // Norms and softmax.
      {{normalises, for_candidates, scans, counts, called_to_compute},
       "cumsum"},
      {{normalises, for_candidates},
       "native_group_norm"},
      {{normalises, for_candidates, called_to_compute},
       "native_layer_norm"},
      {{normalises, softmax, for_candidates, internal},
       "_log_softmax _softmax"},
      {{running_statistics, for_candidates, called_to_compute},
       "batch_norm instance_norm"},
      {{normalises, running_statistics},
       "cudnn_batch_norm native_batch_norm"},
      {{softmax, for_candidates, called_to_compute},
       "log_softmax softmax"},
      {{normalises, running_statistics, internal},
       "_native_batch_norm_legit"},
      {{running_statistics, internal},
       "_native_batch_norm_legit_no_training"},
      {{softmax, for_candidates, internal},
       "_safe_softmax"},
      // Reductions and orders.
      {{reduces, for_candidates, asks_of_all, keeps_elements, called_to_compute},
       "amin"},
      {{reduces, for_candidates, asks_of_all, keeps_elements, takes_maximum, called_to_compute},
       "amax"},
      {{reduces, for_candidates, asks_of_all, gives_indices, called_to_compute},
       "argmax argmin"},
      {{reduces, for_candidates},
       "linalg_vector_norm"},
      {{reduces, for_candidates, called_to_compute},
       "logsumexp mean std var"},
      {{reduces, for_candidates, counts, called_to_compute},
       "sum"},
      {{reduces, for_candidates, asks_of_all, indices_along_dim, indices_second, keeps_elements,
        called_to_compute},
       "min"},
      {{reduces, for_candidates, asks_of_all, indices_along_dim, indices_second, keeps_elements,
        takes_maximum, called_to_compute},
       "max"},
      {{orders, for_candidates, called_to_compute},
       "argsort mode msort"},
      {{orders, for_candidates, indices_second, called_to_compute},
       "kthvalue median topk"},
      {{specials, orders, for_candidates, indices_second, called_to_compute},
       "nanmedian"},
      {{orders, for_candidates, indices_second, keeps_elements, called_to_compute},
       "sort"},
      // Others, with the traits that perturbations ask.
      {{steps, bounds, for_candidates},
       "eq_ ge_ greater greater_ greater_equal greater_equal_ gt_ le_ less less_ less_equal "
       "less_equal_ lt_ ne_ not_equal not_equal_ softshrink threshold_"},
      {{steps, bounds, for_candidates, called_to_compute},
       "hardshrink threshold"},
      {{steps, bounds, for_candidates, compares},
       "eq ge gt le lt ne"},
      {{steps, for_candidates},
       "ceil_ fix fix_ floor_ frac_ heaviside round_ searchsorted sgn_ sign_ "
       "special_round trunc_"},
      {{steps, zero_signs, for_candidates},
       "signbit"},
      {{steps, for_candidates, asks_for_zeros},
       "sgn"},
      {{steps, for_candidates, asks_for_zeros, called_to_compute},
       "sign"},
      {{steps, for_candidates, called_to_compute},
       "bucketize"},
      {{steps, for_candidates, rounds, called_to_compute},
       "ceil floor frac round trunc"},
      {{bounds, for_candidates, keeps_from_zero},
       "clamp_ clamp_min_"},
      {{bounds, for_candidates, keeps_from_zero, clamps, called_to_compute},
       "clip"},
      {{bounds, for_candidates},
       "clamp_max_ clip_ hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ relu6 "
       "relu6_"},
      {{bounds, for_candidates, clamps, keeps_numbers, called_to_compute},
       "clamp_max"},
      {{specials, for_candidates},
       "fmax fmin nan_to_num nan_to_num_ nanmean nanquantile nansum"},
      {{specials, for_candidates, also_elementwise},
       "isclose isfinite isinf isnan isneginf isposinf"},
      {{overwrites_at_indices, checks_indices, for_candidates},
       "index_copy index_copy_ index_put index_put_ put put_ scatter scatter_"},
      {{overwrites_at_indices, for_candidates},
       "masked_scatter masked_scatter_"},
      {{checks_indices, for_candidates},
       "embedding index index_add index_add_ index_fill index_fill_ index_reduce index_reduce_ "
       "nll_loss one_hot scatter_add scatter_add_ scatter_reduce scatter_reduce_ take "
       "take_along_dim"},
      {{checks_indices, for_candidates, keeps_elements},
       "gather index_select"},
      {{checks_indices, for_candidates, loss},
       "nll_loss_forward"},
      {{checks_values, for_candidates, loss},
       "binary_cross_entropy"},
      {{for_candidates},
       "abs_ absolute absolute_ acos_ acosh acosh_ adaptive_avg_pool1d adaptive_avg_pool2d "
       "adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d addbmm_ "
       "addcdiv_ addcmul_ addmv_ addr_ adjoint affine_grid_generator allclose aminmax "
       "arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan "
       "arctan_ arctanh arctanh_ argwhere as_strided_scatter asin_ asinh asinh_ atan_ "
       "atanh atanh_ atleast_1d atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool3d "
       "bartlett_window bilinear bitwise_and_ bitwise_left_shift bitwise_left_shift_ "
       "bitwise_not_ bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor "
       "bitwise_xor_ blackman_window block_diag broadcast_tensors cartesian_prod celu_ "
       "chain_matmul chalf channel_shuffle cholesky cholesky_inverse cholesky_solve col2im "
       "combinations complex conj conj_physical conj_physical_ corrcoef cos_ "
       "cosh_ cosine_embedding_loss cosine_similarity cov cumprod_ cumsum_ cumulative_trapezoid "
       "deg2rad deg2rad_ det diag diag_embed diagflat diagonal_copy diagonal_scatter diff "
       "digamma digamma_ dist divide_ elu_ equal erf_ erfc_ erfinv_ exp2_ exp_ expm1_ fft_fft "
       "fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft "
       "fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 "
       "fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn fliplr flipud float_power "
       "float_power_ floor_divide_ fmod_ frexp frobenius_norm gcd gcd_ gelu_ geqrf ger glu "
       "gradient grid_sampler grid_sampler_2d grid_sampler_3d hamming_window hann_window "
       "heaviside_ hinge_embedding_loss histogram histogramdd hypot_ i0 i0_ igamma igamma_ "
       "igammac igammac_ im2col inverse is_complex is_floating_point isin isreal istft "
       "kaiser_window ldexp ldexp_ leaky_relu_ lerp_ lgamma_ linalg_cholesky linalg_cholesky_ex "
       "linalg_cond linalg_cross linalg_det linalg_diagonal linalg_eigh linalg_eigvalsh "
       "linalg_householder_product linalg_inv linalg_inv_ex linalg_lu linalg_lu_factor "
       "linalg_lu_factor_ex linalg_matmul linalg_matrix_norm linalg_matrix_power "
       "linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv linalg_qr linalg_slogdet "
       "linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals "
       "linalg_tensorinv linalg_tensorsolve linalg_vander linalg_vecdot log10_ log1p_ log2_ log_ "
       "log_sigmoid log_sigmoid_forward logaddexp2 logdet logical_and_ logical_not_ logical_or_ "
       "logical_xor_ logit_ margin_ranking_loss masked_fill_ matrix_power max_pool1d max_pool2d "
       "max_pool3d max_unpool2d max_unpool3d meshgrid mish_ multi_margin_loss multiply_ mvlgamma "
       "mvlgamma_ narrow_copy native_channel_shuffle negative_ nextafter nextafter_ nonzero "
       "nonzero_static norm_except_dim nuclear_norm orgqr ormqr pad pad_sequence "
       "pairwise_distance pdist pinverse pixel_shuffle pixel_unshuffle poisson_nll_loss polar "
       "positive pow_ qr quantile rad2deg rad2deg_ range ravel reciprocal_ reflection_pad1d "
       "reflection_pad2d reflection_pad3d relu_ remainder_ renorm renorm_ repeat_interleave "
       "replication_pad1d replication_pad2d replication_pad3d resolve_conj resolve_neg rot90 "
       "row_stack rsqrt_ select_scatter selu_ sigmoid_ silu_ sin_ sinc sinc_ sinh_ slice_scatter "
       "slogdet special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 "
       "special_bessel_y1 special_digamma special_entr special_erf special_erfc special_erfcx "
       "special_erfinv special_exp2 special_expit special_expm1 special_gammainc "
       "special_gammaincc special_gammaln special_i0 special_i0e special_i1 special_i1e "
       "special_log1p special_log_ndtr special_log_softmax special_logit special_logsumexp "
       "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 "
       "special_modified_bessel_k1 special_multigammaln special_ndtr special_ndtri special_psi "
       "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_sinc "
       "special_softmax special_spherical_bessel_j0 special_xlog1py special_xlogy sqrt_ square_ "
       "stft subtract_ sum_to_size svd swapaxes_ swapdims_ tan_ tanh_ trapezoid trapz "
       "triangular_solve tril_ triplet_margin_loss triu_ true_divide_ unique_consecutive "
       "unique_dim_consecutive upsample_bicubic2d upsample_bilinear2d upsample_linear1d "
       "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d vander "
       "vdot xlogy_"},
      {{for_candidates, asks_for_zeros, counts},
       "count_nonzero"},
      {{for_candidates, called_to_compute},
       "acos addcdiv addcmul asin cdist celu cosh cross divide erfc erfinv floor_divide "
       "group_norm hypot inner kron layer_norm lerp lgamma log10 log2 logaddexp logit "
       "masked_fill multiply negative norm outer prelu rms_norm selu sinh std_mean subtract tan "
       "tensordot trace tril triu true_divide var_mean xlogy"},
      {{for_candidates, keeps_numbers, called_to_compute},
       "where"},
      {{for_candidates, zero_signs},
       "angle arctan2 arctan2_ atan2_ copysign copysign_"},
      {{for_candidates, zero_signs, called_to_compute},
       "atan2"},
      {{for_candidates, keeps_elements},
       "masked_select"},
      {{for_candidates, tables},
       "linspace logspace tril_indices triu_indices"},
      {{for_candidates, asks_of_all, any_or_all, called_to_compute},
       "all any"},
      {{for_candidates, loss},
       "binary_cross_entropy_with_logits huber_loss kl_div l1_loss mse_loss smooth_l1_loss "
       "soft_margin_loss"},
      {{for_candidates, also_elementwise},
       "bitwise_and bitwise_not bitwise_or logical_and logical_or logical_xor"},
      {{for_candidates, also_elementwise, asks_for_zeros},
       "logical_not"},
      {{for_candidates, also_elementwise, called_to_compute},
       "fmod remainder"},
      {{for_candidates, gives_indices, indices_second},
       "max_pool2d_with_indices max_pool3d_with_indices"},
      {{for_candidates, gives_indices, indices_second, called_to_compute},
       "cummax cummin"},
      {{for_candidates, scans, called_to_compute},
       "cumprod logcumsumexp"},
      {{for_candidates, fills},
       "fill_diagonal_"},
      {{for_candidates, asks_of_all, called_to_compute},
       "prod"},
      {{for_candidates, gives_indices},
       "unique_dim"},
      {{for_candidates, internal, also_elementwise},
       "__and__ __or__ __xor__"},
      {{for_candidates, internal},
       "__iand__ __ilshift__ __ior__ __irshift__ __ixor__ __lshift__ __rshift__ "
       "_adaptive_avg_pool2d _adaptive_avg_pool3d _conj _conj_physical _euclidean_dist "
       "_fused_rms_norm _is_all_true _is_any_true _linalg_det _linalg_eigh _linalg_slogdet "
       "_linalg_solve_ex _linalg_svd _logcumsumexp _neg_view _prelu_kernel "
       "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d "
       "_weight_norm_interface"},
      {{for_candidates, internal, gives_indices},
       "_unique2"},
      {{internal},
       "_assert_async _batch_norm_no_update _batch_norm_with_update "
       "_batch_norm_with_update_functional _cdist_forward _ctc_loss _fft_c2c _fft_c2r _fft_r2c "
       "_foreach_add _foreach_mul _histogramdd_bin_edges _log_softmax_backward_data "
       "_masked_softmax _native_batch_norm_legit_functional _native_multi_head_attention "
       "_pdist_forward _stack _to_cpu _transformer_encoder_layer_fwd _trilinear "
       "_upsample_bicubic2d_aa _upsample_bilinear2d_aa _weight_norm"},
      {{internal, gives_indices},
       "_cummax_helper"},
      {{bounds, for_candidates, into_given, keeps_from_zero, clamps, keeps_numbers,
        called_to_compute},
       "clamp"},
      {{for_candidates, into_given, keeps_whole, of_two, keeps_numbers, called_to_compute},
       "maximum minimum"},
      {{for_candidates, into_given, tables},
       "eye"},
      {{counts, called_to_compute},
       "bincount histc"},
      // Refused operators. They read files, reinterpret memory, or belong to layouts that
      // plans do not have.
      {{refused},
       "align_to backward data dequantize embedding_bag from_file is_pinned item output_nr "
       "pin_memory quantize_per_channel quantize_per_tensor record_stream rename rename_ "
       "requires_grad_ resize resize_ resize_as resize_as_ retain_grad segment_reduce set set_ "
       "set_data to_mkldnn to_sparse"},
  });
  return kRows;
}
// clang-format on

Traits traits_of(std::string_view base_name) {
  static const std::unordered_map<std::string_view, Traits> all = by_name();
  const auto at = all.find(base_name);
  return at == all.end() ? Traits() : at->second;
}

std::string_view only_overload(std::string_view base_name) {
  if (base_name == "repeat_interleave") return "self_int";
  return has_trait(base_name, Trait::recurrent) ? "input" : "";
}

}  // namespace tritonsmith::gym::plan::operators

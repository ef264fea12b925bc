// Computes the final norm and the head on the CPU: log-probabilities and entropies of targets, and
// their backward. It makes the logits of some rows at a time.
#pragma once

#include <cstdint>

namespace tritonsmith::model::cpu {

template <typename T>
struct HeadShape {
  std::int64_t rows = 0, hidden = 0, vocabulary = 0;
  T inverse_temperature = 1;
};

// The trainer and the sampler both use this expression, so that they get the same bits. Rounding
// may lift the logarithm of a sure token above 0 by an ulp, hence the limit. NaN stays NaN.
template <typename T>
T target_logprob(T logit, T inverse_temperature, T log_normaliser) {
  const T logprob = logit * inverse_temperature - log_normaliser;
  return logprob > 0 ? T{0} : logprob;
}

template <typename T>
struct HeadForward {
  const T* hidden = nullptr;                                            // [N, H]
  const T* weight = nullptr;                                            // [V, H]
  const std::int64_t* targets = nullptr;                                // [N], negative: masked
  T *logprob = nullptr, *entropy = nullptr, *log_normaliser = nullptr;  // [N] each
};
template <typename T>
void head_logprob(const HeadShape<T>& shape, const HeadForward<T>& pass);

template <typename T>
struct HeadBackward {
  const T* hidden = nullptr;
  const T* weight = nullptr;
  const std::int64_t* targets = nullptr;
  const T *entropy = nullptr, *log_normaliser = nullptr;
  const T *d_logprob = nullptr, *d_entropy = nullptr;  // [N]; d_entropy may be null
  T* d_hidden = nullptr;                               // [N, H], written
  T* d_weight = nullptr;                               // [V, H], written
};
template <typename T>
void head_logprob_backward(const HeadShape<T>& shape, const HeadBackward<T>& pass);

// logits [N, V] = hidden transposed^T, for the rows from which the engine samples. `transposed` is
// the weight as [H, V].
template <typename T>
void head_logits(const HeadShape<T>& shape, const T* hidden, const T* transposed, T* logits);

template <typename T>
struct NormBackward {
  const T *x = nullptr, *weight = nullptr, *d_out = nullptr;
  T *d_x = nullptr, *d_weight = nullptr;  // written
};
template <typename T>
void norm_rows(const T* x, const T* weight, std::int64_t rows, std::int64_t width, double eps,
               T* out);
template <typename T>
void norm_rows_backward(std::int64_t rows, std::int64_t width, double eps,
                        const NormBackward<T>& pass);

}  // namespace tritonsmith::model::cpu

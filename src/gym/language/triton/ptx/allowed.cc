#include "gym/language/triton/ptx/allowed.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tritonsmith::gym::language::triton::ptx {
namespace {

using Words = std::string_view;

// Sorted. Triton writes all of them, but it writes some only for other chips or operations.
constexpr auto kOperations = std::to_array<Words>(
    {"abs",   "add",      "addc", "and",      "atom", "bar",       "bfe",          "bfi",   "bfind",
     "bra",   "brev",     "clz",  "copysign", "cos",  "cp",        "createpolicy", "cvt",   "cvta",
     "div",   "elect",    "ex2",  "fence",    "fma",  "ld",        "ldmatrix",     "lg2",   "lop3",
     "mad",   "madc",     "max",  "mbarrier", "min",  "mma",       "mov",          "mul",   "neg",
     "not",   "or",       "popc", "prmt",     "rcp",  "red",       "redux",        "rem",   "ret",
     "rsqrt", "selp",     "setp", "shf",      "shfl", "shl",       "shr",          "sin",   "sqrt",
     "st",    "stmatrix", "sub",  "subc",     "tanh", "tensormap", "vote",         "wgmma", "xor"});

constexpr auto kModifiers = std::to_array<Words>(
    {"1d", "2d", "3d", "4d", "5d",
     // caches
     "L1::evict_first", "L1::evict_last", "L1::evict_normal", "L1::evict_unchanged",
     "L1::no_allocate", "L2::128B", "L2::256B", "L2::64B", "L2::cache_hint", "L2::evict_first",
     "L2::evict_last", "L2::evict_normal", "L2::evict_unchanged", "ca", "cg", "cs", "cv", "lu",
     "nc", "wb", "wt",
     // state spaces
     "global", "local", "param", "shared", "shared::cluster", "shared::cta", "tensormap::generic",
     // order and scope
     "acq_rel", "acquire", "cluster", "cta", "gpu", "proxy", "relaxed", "release", "volatile",
     // types and vectors
     "b1024", "b16", "b32", "b64", "b8", "bf16", "bf16x2", "e4m3", "e4m3x2", "e5m2", "e5m2x2",
     "f16", "f16x2", "f32", "f64", "pred", "s16", "s32", "s64", "s8", "tf32", "u16", "u32", "u64",
     "u8", "v2", "v4", "v8",
     // arithmetic
     "abs", "add", "and", "approx", "cas", "cc", "dec", "exch", "full", "ftz", "hi", "inc", "lo",
     "max", "min", "nan", "noftz", "or", "relu", "rm", "rmi", "rn", "rna", "rni", "rp", "rpi", "rz",
     "rzi", "sat", "satfinite", "shiftamt", "wide", "xor", "xorsign",
     // comparisons
     "eq", "equ", "ge", "geu", "gt", "gtu", "hs", "le", "leu", "ls", "lt", "ltu", "ne", "neu",
     "num",
     // exchange between threads, matrices, asynchronous copies
     "aligned", "all", "any", "arrive", "async", "ballot", "bfly", "bulk", "bulk_group", "clamp",
     "col", "commit_group", "cp_fenceproxy", "down", "expect_tx", "fence", "idx", "init", "inval",
     "l", "mbarrier::complete_tx::bytes", "mma_async", "num", "parity", "r", "read", "row", "sync",
     "tensor", "tile", "trans", "try_wait", "uni", "up", "wait_group", "warp", "wrap", "x1", "x2",
     "x4", "sem", "fractional",
     // descriptors of tensors
     "box_dim", "element_stride", "elemtype", "fill_mode", "global_address", "global_dim",
     "global_stride", "interleave_layout", "rank", "replace", "swizzle_mode", "to"});

constexpr auto kSpecialRegisters =
    std::to_array<Words>({"%cluster_ctarank", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%laneid",
                          "%nctaid.x", "%nctaid.y", "%nctaid.z", "%tid.x"});

constexpr auto kRegisterTypes =
    std::to_array<Words>({".b128", ".b16", ".b32", ".b64", ".f32", ".f64", ".pred", ".s32", ".s64",
                          ".u16", ".u32", ".u64"});

template <typename Table>
bool is_in(const Table& table, std::string_view word) {
  return std::ranges::find(table, word) != table.end();
}

// Says whether the word is a matrix shape: m16n8k16.
bool is_shape(std::string_view word) {
  for (const char letter : {'m', 'n', 'k'}) {
    if (!word.starts_with(letter)) return letter == 'k' && word.empty();
    word.remove_prefix(1);
    const auto end = std::ranges::find_if_not(
        word, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
    if (end == word.begin()) return false;
    word.remove_prefix(static_cast<std::size_t>(end - word.begin()));
  }
  return word.empty();
}

}  // namespace

bool is_allowed_operation(std::string_view name) { return is_in(kOperations, name); }

bool is_allowed_modifier(std::string_view name) {
  return is_in(kModifiers, name) || is_shape(name) || name == "m8n8";
}

bool is_allowed_special_register(std::string_view name) { return is_in(kSpecialRegisters, name); }

bool is_register_type(std::string_view name) { return is_in(kRegisterTypes, name); }

}  // namespace tritonsmith::gym::language::triton::ptx

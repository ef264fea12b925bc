// Knows the names that a judge gives to its files, in the directory that a command lends it.
#pragma once

#include <string_view>

namespace tritonsmith::gym::api {

inline constexpr std::string_view kSecretFile = "judge.secret";
inline constexpr std::string_view kVerdictsFile = "verdicts.sqlite";  // SQLite adds -wal and -shm
inline constexpr std::string_view kKernelsDirectory = "kernels";      // the compile cache

// Tells whether a judge made the file, or a file beside it that a write leaves.
inline bool is_judge_file(std::string_view name) {
  return name.starts_with(kSecretFile) || name.starts_with(kVerdictsFile) ||
         name == kKernelsDirectory;
}

}  // namespace tritonsmith::gym::api

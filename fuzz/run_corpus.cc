// run_corpus FOLDER: gives every file of the folder to a fuzz target, without libFuzzer. Faults
// that fuzzing found thus stay corrected in every build. A fault crashes the program, as it does
// with libFuzzer.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc == 2 ? argv[1] : "";
  std::error_code problem;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::cout << entry.path().filename().string() << '\n'
              << std::flush;  // the last file printed is at fault
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  if (files == 0) std::cerr << "run_corpus: no files in '" << folder.string() << "'\n";
  return files == 0 ? 1 : 0;
}

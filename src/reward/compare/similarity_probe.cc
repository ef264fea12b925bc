// The program that compare_similarity.py runs. stdin: pairs of texts, each as 4 bytes of length
// (little endian) and its bytes. stdout: the ratios as doubles.
#include <cstdint>
#include <cstdio>
#include <string>

#include "reward/similarity.h"

namespace {

bool read_text(std::string& text) {
  std::uint32_t size = 0;
  if (std::fread(&size, sizeof size, 1, stdin) != 1) return false;
  text.resize(size);
  return std::fread(text.data(), 1, size, stdin) == size;
}

}  // namespace

int main() {
  std::string a, b;
  while (read_text(a) && read_text(b)) {
    const double ratio = tritonsmith::reward::similarity(a, b);
    std::fwrite(&ratio, sizeof ratio, 1, stdout);
  }
}

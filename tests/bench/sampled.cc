// Programs to sample: bench_sampled throw|spin ROUNDS. Each takes about a second.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

namespace {

volatile unsigned sink;

NOINLINE void Throw(int depth) {
  if (depth == 0) throw std::runtime_error("bench");
  Throw(depth - 1);
  sink = sink + 1;
}

NOINLINE void ThrowAndCatch() {
  try {
    Throw(8);
  } catch (const std::exception& error) {
    sink = sink + static_cast<unsigned>(error.what()[0]);
  }
}

NOINLINE void Spin(int depth) {
  if (depth > 0) {
    Spin(depth - 1);
    sink = sink + 1;
    return;
  }
  for (unsigned i = 0; i < 1000; ++i) sink = sink * 1664525 + 1013904223;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  const long rounds = std::strtol(argv[2], nullptr, 10);
  const bool throws = std::strcmp(argv[1], "throw") == 0;
  for (long i = 0; i < rounds; ++i) {
    if (throws) {
      ThrowAndCatch();
    } else {
      Spin(20);
    }
  }
  return 0;
}

#include "common/tree/seeded_hash.h"

#include <random>

namespace fieldcost::tree {
namespace {

const std::uint64_t kSeed = [] {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}();

}  // namespace

std::uint64_t SeededHash(std::uint64_t value) {
  // The finalizer of MurmurHash3 (Austin Appleby), between two uses of the secret seed.
  value ^= kSeed;
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdULL;
  value += kSeed;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

}  // namespace fieldcost::tree

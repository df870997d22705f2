#pragma once

#include <cstdint>
#include <cstring>

#include "common/shm/lab_file.h"
#include "tests/support/sparse_bytes.h"

namespace fieldcost::testing {

// A lab file in memory.
class LabBytes final : public SparseBytes {
 public:
  // Contains only the header of a program that called nothing.
  explicit LabBytes(std::uint32_t mode) : SparseBytes(shm::LabFileBytes(mode)) {
    shm::LabHeader header{};
    std::memcpy(header.magic, shm::kLabMagic, sizeof header.magic);
    header.version = shm::kLabVersion;
    header.mode = mode;
    header.size_bytes = size();
    header.complete = 1;
    header.attached = 1;
    Put(0, header);
  }
};

// Offsets of its parts.
constexpr std::uint64_t LabApiAt(std::uint64_t api) {
  return shm::LabApisOffset() + api * sizeof(shm::LabApi);
}
constexpr std::uint64_t LabPairWordAt(std::uint64_t outer, std::uint64_t inner) {
  return shm::LabPairsOffset() + outer * shm::kLabRowBytes + inner / 64 * sizeof(std::uint64_t);
}
constexpr std::uint64_t LabNodeAt(std::uint64_t slot, std::uint64_t node) {
  return shm::LabNodesOffset() + (slot * shm::kLabNodes + node) * sizeof(shm::LabNode);
}
constexpr std::uint64_t LabIoBlockAt(std::uint64_t number) {
  return shm::LabIoOffset() + number * sizeof(shm::LabIoBlock);
}
constexpr std::uint64_t LabBlockAt(std::uint32_t mode, std::uint64_t block) {
  return shm::LabBlocksOffset() + block * shm::LabBlockBytes(mode);
}

}  // namespace fieldcost::testing

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>

#include "agent/runs/run_file_reader.h"
#include "common/shm/lab_file.h"

namespace fieldcost::testing {

// A lab file in memory, of which only what was written takes any: the rest of it are zeros.
class LabBytes final : public agent::RunBytes {
 public:
  // Empty but for the header of a program that called nothing.
  explicit LabBytes(std::uint32_t mode) : size_(shm::LabFileBytes(mode)) {
    shm::LabHeader header{};
    std::memcpy(header.magic, shm::kLabMagic, sizeof header.magic);
    header.version = shm::kLabVersion;
    header.mode = mode;
    header.size_bytes = size_;
    header.complete = 1;
    header.attached = 1;
    Put(0, header);
  }

  std::uint64_t size() const override { return size_; }
  void Resize(std::uint64_t size) { size_ = size; }

  bool Read(std::uint64_t offset, void* to, std::size_t size) const override {
    if (offset > size_ || size > size_ - offset) return false;
    std::memset(to, 0, size);
    ForEachPiece(offset, size,
                 [&](std::uint64_t page, std::size_t in_page, std::size_t done, std::size_t piece) {
                   const auto found = pages_.find(page);
                   if (found == pages_.end()) return;
                   std::memcpy(static_cast<char*>(to) + done, found->second.data() + in_page,
                               piece);
                 });
    return true;
  }
  std::uint64_t NextData(std::uint64_t offset) const override {
    const auto next = pages_.lower_bound(offset / kPage);
    return next == pages_.end() ? size_ : std::max(offset, next->first * kPage);
  }

  void Write(std::uint64_t offset, std::string_view bytes) {
    ForEachPiece(offset, bytes.size(),
                 [&](std::uint64_t page, std::size_t in_page, std::size_t done, std::size_t piece) {
                   std::memcpy(pages_[page].data() + in_page, bytes.data() + done, piece);
                 });
  }
  template <typename Part>
  void Put(std::uint64_t offset, const Part& part) {
    Write(offset, {reinterpret_cast<const char*>(&part), sizeof part});
  }
  template <typename Part>
  Part Get(std::uint64_t offset) const {
    Part part{};
    Read(offset, &part, sizeof part);
    return part;
  }

 private:
  static constexpr std::size_t kPage = 4096;

  template <typename Use>
  static void ForEachPiece(std::uint64_t offset, std::size_t size, Use use) {
    for (std::size_t done = 0; done < size;) {
      const std::size_t in_page = (offset + done) % kPage;
      const std::size_t piece = std::min(size - done, kPage - in_page);
      use((offset + done) / kPage, in_page, done, piece);
      done += piece;
    }
  }

  std::uint64_t size_;
  std::map<std::uint64_t, std::array<char, kPage>> pages_;
};

// Where its parts are.
constexpr std::uint64_t LabApiAt(std::uint64_t api) {
  return shm::LabApisOffset() + api * sizeof(shm::LabApi);
}
constexpr std::uint64_t LabPairWordAt(std::uint64_t outer, std::uint64_t inner) {
  return shm::LabPairsOffset() + outer * shm::kLabRowBytes + inner / 64 * sizeof(std::uint64_t);
}
constexpr std::uint64_t LabNodeAt(std::uint64_t slot, std::uint64_t node) {
  return shm::LabNodesOffset() + (slot * shm::kLabNodes + node) * sizeof(shm::LabNode);
}
constexpr std::uint64_t LabBlockAt(std::uint32_t mode, std::uint64_t block) {
  return shm::LabBlocksOffset() + block * shm::LabBlockBytes(mode);
}

}  // namespace fieldcost::testing

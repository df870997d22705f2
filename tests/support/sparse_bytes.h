#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>

#include "agent/runs/run_file_reader.h"

namespace fieldcost::testing {

// A large file in memory that stores only the written parts; the rest reads as zeros.
class SparseBytes : public runs::RunBytes {
 public:
  explicit SparseBytes(std::uint64_t size) : size_(size) {}

  std::uint64_t size() const override { return size_; }
  void Resize(std::uint64_t size) { size_ = size; }

  bool Read(std::uint64_t offset, void* to, std::size_t size) const override {
    if (offset > size_ || size > size_ - offset) return false;
    if (size == 0) return true;
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

}  // namespace fieldcost::testing

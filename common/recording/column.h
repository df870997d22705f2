#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/recording/bytes.h"

namespace fieldcost::recording {

// A column of integers, read in place from the file: the i-th is base + scale * q[i] modulo 2^64,
// with q in 0, 1, 2, 4 or 8 bytes. Equal values take no bytes. Pure.
//   column := base:u64 scale:u64 width:u32 0:u32 q:(u8|u16|u32|u64)*     padded to 8
// width: the bytes per q; if it is 0, scale is 1.
struct Column {
  std::uint64_t base = 0;
  std::uint64_t scale = 1;
  std::uint32_t width = 0;
  std::uint32_t count = 0;
  const char* at = nullptr;

  // REQUIRES: i < count.
  std::uint64_t operator[](std::uint32_t i) const;
};

// Calls `work` with an integer of that width, so that a loop over a column is compiled per width.
// REQUIRES: width is 1, 2, 4 or 8.
template <typename Work>
void WithWidth(std::uint32_t width, Work&& work) {
  switch (width) {
    case 1:
      return work(std::uint8_t{});
    case 2:
      return work(std::uint16_t{});
    case 4:
      return work(std::uint32_t{});
    default:
      return work(std::uint64_t{});
  }
}

// Appends a column. It begins and ends at a multiple of 8 of `out` if `out` now ends at one.
void AppendColumn(std::span<const std::uint64_t> values, std::string& out);
// Reads a column of `count` values. REQUIRES: the reader's bytes outlive it.
Column ReadColumn(ByteReader& untrusted_bytes, std::uint32_t count);

// Dense columns, at memory speed. REQUIRES: out.size() >= column.count.
void SetAll(const Column& column, std::span<std::uint64_t> out);  // the rest of `out` is 0
// Adds each value times `factor`, modulo 2^64.
void AddAll(const Column& column, std::uint64_t factor, std::span<std::uint64_t> out);

// Sums of a few among many paths: distinct ascending ids, and a value per metric.
//   sums := entries:u32 wide_gaps:u32 gap:u8* wide_gap:u32* column*      each padded to 8
//   column := scale:u64 width:u32 wide:u32 q:(u8|u16|u32|u64)* wide:u64*       ; one q per entry
// A gap is the difference to the previous id (to 0 for the first one); 255 refers to the next wide
// gap. A value is scale * q; the maximum q of the width refers to the next wide value, except for
// width 8, which has no wide values.
inline constexpr std::uint32_t kWideGap = 255;
struct Sums {
  std::uint32_t entries = 0;
  std::uint32_t wide_gaps = 0;
  const char* gaps = nullptr;
  const char* wide_gap = nullptr;
  std::uint64_t scale = 1;
  std::uint32_t width = 1;
  std::uint32_t wide_values = 0;
  const char* values = nullptr;
  const char* wide_value = nullptr;
};

void AppendSums(std::span<const std::uint32_t> ids,
                std::span<const std::vector<std::uint64_t>> values_by_metric, std::string& out);
// Reads the sums of one metric. REQUIRES: the reader's bytes outlive them.
Sums ReadSums(ByteReader& untrusted_bytes, std::uint32_t metric);

// Calls take(id, value) for each entry. Returns false, possibly after some calls, if the sums are
// malformed; never passes an id of `paths` or more.
template <typename Take>
[[nodiscard]] bool ForEachSum(const Sums& sums, std::size_t paths, Take&& take) {
  // Local copies, because the compiler must assume that take() may modify the sums.
  const Sums all = sums;
  bool good = true;
  WithWidth(all.width, [&good, &take, all, paths](auto integer) {
    using Integer = decltype(integer);
    constexpr Integer kWide = static_cast<Integer>(~Integer{0});
    std::uint64_t id = 0;
    std::uint32_t gaps = 0;
    std::uint32_t values = 0;
    for (std::uint32_t i = 0; i < all.entries; ++i) {
      std::uint32_t gap = static_cast<unsigned char>(all.gaps[i]);
      if (gap == kWideGap) [[unlikely]] {
        if (gaps == all.wide_gaps) return void(good = false);
        gap = LoadAt<std::uint32_t>(all.wide_gap + sizeof gap * gaps++);
      }
      id += gap;
      std::uint64_t q = LoadAt<Integer>(all.values + sizeof(Integer) * i);
      if (sizeof(Integer) < sizeof q && q == kWide) [[unlikely]] {
        if (values == all.wide_values) return void(good = false);
        q = LoadAt<std::uint64_t>(all.wide_value + sizeof q * values++);
      }
      if (id >= paths) return void(good = false);
      take(static_cast<std::uint32_t>(id), all.scale * q);
    }
    good = gaps == all.wide_gaps && values == all.wide_values;
  });
  return good;
}

}  // namespace fieldcost::recording

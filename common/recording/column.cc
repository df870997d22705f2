#include "common/recording/column.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "common/base/check.h"

namespace fieldcost::recording {
namespace {

constexpr std::array<std::uint32_t, 4> kWidths = {1, 2, 4, 8};

std::uint64_t GreatestOf(std::uint32_t width) {
  return width == 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * width) - 1;
}

// The greatest common divisor of all differences to `base`; 1 if they are all 0. Stops once it is
// 1.
std::uint64_t CommonScale(std::span<const std::uint64_t> values, std::uint64_t base) {
  std::uint64_t scale = 0;
  for (const std::uint64_t value : values) {
    scale = std::gcd(scale, value - base);
    if (scale == 1) return 1;
  }
  return scale == 0 ? 1 : scale;
}

void AppendQuotient(std::uint64_t quotient, std::uint32_t width, std::string& out) {
  out.append(reinterpret_cast<const char*>(&quotient), width);
}

// The width that takes the fewest bytes in total, given that values beyond its maximum take 8 more.
std::uint32_t BestWidth(std::span<const std::uint64_t> values, std::uint64_t scale) {
  std::array<std::size_t, kWidths.size()> bytes{};
  for (std::size_t i = 0; i < kWidths.size(); ++i) bytes[i] = kWidths[i] * values.size();
  for (const std::uint64_t value : values) {
    for (std::size_t i = 0; i + 1 < kWidths.size(); ++i) {
      if (value / scale < GreatestOf(kWidths[i])) break;
      bytes[i] += sizeof(std::uint64_t);
    }
  }
  return kWidths[static_cast<std::size_t>(std::min_element(bytes.begin(), bytes.end()) -
                                          bytes.begin())];
}

void AppendSumColumn(std::span<const std::uint64_t> values, std::string& out) {
  const std::uint64_t scale = CommonScale(values, 0);
  const std::uint32_t width = BestWidth(values, scale);
  std::string narrow;
  std::string wide;
  for (const std::uint64_t value : values) {
    const std::uint64_t quotient = value / scale;
    const bool is_wide = width < 8 && quotient >= GreatestOf(width);
    AppendQuotient(is_wide ? GreatestOf(width) : quotient, width, narrow);
    if (is_wide) AppendQuotient(quotient, sizeof quotient, wide);
  }
  ByteWriter bytes(out);
  bytes.Fixed(scale);
  bytes.Fixed(width);
  bytes.Fixed(static_cast<std::uint32_t>(wide.size() / sizeof(std::uint64_t)));
  out += narrow;
  bytes.Pad();
  out += wide;
}

bool IsWidth(std::uint32_t width) {
  return std::find(kWidths.begin(), kWidths.end(), width) != kWidths.end();
}

}  // namespace

std::uint64_t Column::operator[](std::uint32_t i) const {
  if (width == 0) return base;
  std::uint64_t quotient = 0;
  WithWidth(width,
            [&](auto integer) { quotient = LoadAt<decltype(integer)>(at + sizeof(integer) * i); });
  return base + scale * quotient;
}

void AppendColumn(std::span<const std::uint64_t> values, std::string& out) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const std::uint64_t base = values.empty() ? 0 : *least;
  const std::uint64_t scale = CommonScale(values, base);
  const std::uint64_t range = values.empty() ? 0 : (*greatest - base) / scale;
  std::uint32_t width = 0;
  if (range > 0) {
    width = *std::find_if(kWidths.begin(), kWidths.end(),
                          [&](std::uint32_t one) { return range <= GreatestOf(one); });
  }
  ByteWriter bytes(out);
  bytes.Fixed(base);
  bytes.Fixed(scale);
  bytes.Fixed(width);
  bytes.Fixed(std::uint32_t{0});
  if (width == 0) return;
  out.reserve(Padded(out.size() + width * values.size()));
  for (const std::uint64_t value : values) {
    AppendQuotient(scale == 1 ? value - base : (value - base) / scale, width, out);
  }
  bytes.Pad();
}

Column ReadColumn(ByteReader& untrusted_bytes, std::uint32_t count) {
  Column column;
  column.base = untrusted_bytes.Fixed<std::uint64_t>();
  column.scale = untrusted_bytes.Fixed<std::uint64_t>();
  column.width = untrusted_bytes.Fixed<std::uint32_t>();
  column.count = count;
  if (untrusted_bytes.Fixed<std::uint32_t>() != 0) untrusted_bytes.Fail();
  if (column.width == 0 ? column.scale != 1 : !IsWidth(column.width)) untrusted_bytes.Fail();
  column.at = untrusted_bytes.Bytes(std::size_t{column.width} * count).data();
  untrusted_bytes.SkipPadding();
  return untrusted_bytes.ok() ? column : Column{};
}

void SetAll(const Column& column, std::span<std::uint64_t> out) {
  FIELDCOST_CHECK(out.size() >= column.count);
  std::fill(out.begin() + column.count, out.end(), 0);
  if (column.width == 0) {
    std::fill_n(out.begin(), column.count, column.base);
    return;
  }
  WithWidth(column.width, [&](auto integer) {
    for (std::uint32_t i = 0; i < column.count; ++i) {
      out[i] =
          column.base + column.scale * LoadAt<decltype(integer)>(column.at + sizeof(integer) * i);
    }
  });
}

void AddAll(const Column& column, std::uint64_t factor, std::span<std::uint64_t> out) {
  FIELDCOST_CHECK(out.size() >= column.count);
  const std::uint64_t base = column.base * factor;
  const std::uint64_t scale = column.scale * factor;
  if (column.width == 0) {
    for (std::uint32_t i = 0; base != 0 && i < column.count; ++i) out[i] += base;
    return;
  }
  WithWidth(column.width, [&](auto integer) {
    for (std::uint32_t i = 0; i < column.count; ++i) {
      out[i] += base + scale * LoadAt<decltype(integer)>(column.at + sizeof(integer) * i);
    }
  });
}

void AppendSums(std::span<const std::uint32_t> ids,
                std::span<const std::vector<std::uint64_t>> values_by_metric, std::string& out) {
  std::string gaps;
  std::string wide;
  std::uint32_t before = 0;
  for (const std::uint32_t id : ids) {
    const std::uint32_t gap = id - before;
    gaps += static_cast<char>(std::min(gap, kWideGap));
    if (gap >= kWideGap) ByteWriter(wide).Fixed(gap);
    before = id;
  }
  ByteWriter bytes(out);
  bytes.Fixed(static_cast<std::uint32_t>(ids.size()));
  bytes.Fixed(static_cast<std::uint32_t>(wide.size() / sizeof(std::uint32_t)));
  out += gaps;
  bytes.Pad();
  out += wide;
  bytes.Pad();
  for (const std::vector<std::uint64_t>& values : values_by_metric) AppendSumColumn(values, out);
}

Sums ReadSums(ByteReader& untrusted_bytes, std::uint32_t metric) {
  Sums sums;
  sums.entries = untrusted_bytes.Fixed<std::uint32_t>();
  sums.wide_gaps = untrusted_bytes.Fixed<std::uint32_t>();
  sums.gaps = untrusted_bytes.Bytes(sums.entries).data();
  untrusted_bytes.SkipPadding();
  sums.wide_gap = untrusted_bytes.Bytes(sizeof(std::uint32_t) * sums.wide_gaps).data();
  untrusted_bytes.SkipPadding();
  for (std::uint32_t i = 0; i <= metric && untrusted_bytes.ok(); ++i) {
    sums.scale = untrusted_bytes.Fixed<std::uint64_t>();
    sums.width = untrusted_bytes.Fixed<std::uint32_t>();
    sums.wide_values = untrusted_bytes.Fixed<std::uint32_t>();
    if (!IsWidth(sums.width)) untrusted_bytes.Fail();
    sums.values = untrusted_bytes.Bytes(std::size_t{sums.width} * sums.entries).data();
    untrusted_bytes.SkipPadding();
    sums.wide_value = untrusted_bytes.Bytes(sizeof(std::uint64_t) * sums.wide_values).data();
  }
  return untrusted_bytes.ok() ? sums : Sums{};
}

}  // namespace fieldcost::recording

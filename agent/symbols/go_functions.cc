#include "agent/symbols/go_functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>

namespace fieldcost::symbols {
namespace {

using Bytes = std::span<const std::uint8_t>;

// The header: the magic number, two zeros, the size of the smallest instruction, the size of an
// address; then words, beginning with the number of functions.
constexpr std::size_t kPrefixBytes = 8;
constexpr std::size_t kWordBytes = 8;
constexpr std::array<std::uint8_t, 4> kPrefixEnd = {0, 0, 1, kWordBytes};

struct Layout {
  std::uint32_t magic = 0;
  // Words of the header that contain the positions of names and of the list of functions.
  std::size_t names_word = 0;
  std::size_t functions_word = 0;
  bool is_relative = false;  // the list has numbers of 4 bytes, relative to the code's start
};
constexpr std::array<Layout, 3> kLayouts = {{
    {.magic = 0xfffffffa, .names_word = 2, .functions_word = 6, .is_relative = false},  // 1.16
    {.magic = 0xfffffff0, .names_word = 3, .functions_word = 7, .is_relative = true},   // 1.18
    {.magic = 0xfffffff1, .names_word = 3, .functions_word = 7, .is_relative = true},   // 1.20
}};

// Returns the bytes from a position on; none if it is outside.
Bytes From(Bytes bytes, std::uint64_t position) {
  return bytes.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(position, bytes.size())));
}

template <typename Number>
std::optional<Number> FieldAt(Bytes bytes, std::uint64_t position) {
  const Bytes from = From(bytes, position);
  Number number{};
  if (from.size() < sizeof number) return std::nullopt;
  std::memcpy(&number, from.data(), sizeof number);
  return number;
}

std::optional<std::uint64_t> HeaderWord(Bytes table, std::size_t word) {
  return FieldAt<std::uint64_t>(table, kPrefixBytes + word * kWordBytes);
}

const Layout* LayoutOf(Bytes table) {
  const auto magic = FieldAt<std::uint32_t>(table, 0);
  if (!magic || table.size() < kPrefixBytes) return nullptr;
  if (!std::ranges::equal(table.subspan(sizeof *magic, kPrefixEnd.size()), kPrefixEnd)) {
    return nullptr;
  }
  const auto found = std::ranges::find(kLayouts, *magic, &Layout::magic);
  return found == kLayouts.end() ? nullptr : &*found;
}

}  // namespace

bool GoFunctions::Begins(Bytes untrusted_bytes) { return LayoutOf(untrusted_bytes) != nullptr; }

std::optional<GoFunctions> GoFunctions::Of(Bytes untrusted_table, std::uint64_t text_start) {
  const Layout* const layout = LayoutOf(untrusted_table);
  if (layout == nullptr) return std::nullopt;
  const auto count = HeaderWord(untrusted_table, 0);
  const auto names = HeaderWord(untrusted_table, layout->names_word);
  const auto functions = HeaderWord(untrusted_table, layout->functions_word);
  if (!count || !names || !functions) return std::nullopt;
  GoFunctions result;
  result.names_ = From(untrusted_table, *names);
  result.functions_ = From(untrusted_table, *functions);
  result.number_bytes_ = layout->is_relative ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
  const std::size_t numbers = result.functions_.size() / result.number_bytes_;
  if (numbers == 0 || *count > (numbers - 1) / 2) return std::nullopt;
  result.count_ = static_cast<std::size_t>(*count);
  result.base_ = layout->is_relative ? text_start : 0;
  return result;
}

std::uint64_t GoFunctions::Entry(std::size_t index) const {
  const std::size_t position = index * number_bytes_;
  return number_bytes_ == sizeof(std::uint32_t)
             ? FieldAt<std::uint32_t>(functions_, position).value_or(0)
             : FieldAt<std::uint64_t>(functions_, position).value_or(0);
}

std::string_view GoFunctions::Find(std::uint64_t address) const {
  const std::ranges::iota_view<std::size_t, std::size_t> all(0, count_ + 1);
  const auto next =
      std::ranges::upper_bound(all, address, {}, [this](std::size_t i) { return Start(i); });
  if (next == all.begin() || next == all.end()) return {};
  // A description begins with the function's start and the position of its name.
  const std::uint64_t description = Entry(2 * (*next - 1) + 1);
  if (description >= functions_.size()) return {};
  const auto name = FieldAt<std::uint32_t>(functions_, description + number_bytes_);
  if (!name) return {};
  const Bytes text = From(names_, *name);
  if (text.empty()) return {};
  const auto* const begin = reinterpret_cast<const char*>(text.data());
  return {begin, ::strnlen(begin, std::min(text.size(), kMostNameBytes))};
}

}  // namespace fieldcost::symbols

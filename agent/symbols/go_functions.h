#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fieldcost::symbols {

// Names of a Go program's functions by address, from the table that Go's runtime itself uses
// (.gopclntab): linkers keep it when they strip symbols. Reads the layouts of Go 1.16, 1.18 and
// 1.20 for 64-bit little-endian machines. Does not copy the table. A plain value; immutable once
// created.
class GoFunctions {
 public:
  static constexpr std::size_t kMostNameBytes = 4096;
  // Position of the address of the program's Go code (runtime.text) in tables of Go 1.18 and later.
  // In files of position-independent programs, a relocation holds that address instead; from Go
  // 1.26 on it is 0.
  static constexpr std::size_t kTextStartPosition = 24;

  // Returns whether a table of a known layout seems to begin with these bytes.
  static bool Begins(std::span<const std::uint8_t> untrusted_bytes);

  // Returns nullopt if this is not a table of a known layout, or if it is too short for the number
  // of functions that it states. `text_start` is the address of the program's Go code; tables of Go
  // 1.16 do not need it. REQUIRES: `untrusted_table` outlives the result.
  static std::optional<GoFunctions> Of(std::span<const std::uint8_t> untrusted_table,
                                       std::uint64_t text_start);

  // Returns the name of the function at an address, cut to kMostNameBytes; empty: unknown. The name
  // lives as long as the table.
  std::string_view Find(std::uint64_t address) const;
  std::size_t functions() const { return count_; }

 private:
  GoFunctions() = default;
  // Returns a number from the list of functions. The list has two numbers for each function (where
  // it begins, where it is described); the last number is the end of the code.
  std::uint64_t Entry(std::size_t index) const;
  std::uint64_t Start(std::size_t function) const { return base_ + Entry(2 * function); }

  std::span<const std::uint8_t> names_;
  std::span<const std::uint8_t> functions_;  // the list, then the descriptions
  std::size_t count_ = 0;
  std::size_t number_bytes_ = 0;  // of each number in the list
  std::uint64_t base_ = 0;        // added to addresses in the list
};

}  // namespace fieldcost::symbols

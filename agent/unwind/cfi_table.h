#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/unwind/elf_layout.h"
#include "agent/unwind/registers.h"
#include "common/base/read_at.h"
#include "common/base/result.h"

namespace fieldcost::unwind {

// How the caller's registers are found, for each instruction of a module. Made once of its
// .eh_frame; immutable and thread-safe from then on. 8 bytes a row, 4 a function,
// and what rows share.
class CfiTable {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 24;
  static constexpr std::uint64_t kMostEhFrameBytes = std::uint64_t{256} << 20;
  static constexpr std::size_t kMostRuleBytes = std::size_t{64} << 20;

  // The canonical frame address: where the stack pointer is after the return.
  enum class Cfa : std::uint8_t { kNone, kRegister, kExpression };
  // Where a caller's register is: at CFA + offset; is itself CFA + offset; in another register; at
  // or itself the value of an expression; nowhere.
  enum class Place : std::uint8_t {
    kAtCfa,
    kCfaItself,
    kRegister,
    kAtExpression,
    kExpressionItself,
    kNowhere
  };
  struct Saved {
    std::uint8_t number = 0;  // of the register, < kRegisters
    Place place = Place::kAtCfa;
    std::uint16_t reserved = 0;
    std::int32_t offset = 0;  // from the CFA; or the other register; or of the expression
  };
  struct Rule {
    Cfa cfa = Cfa::kNone;
    std::uint8_t cfa_register = 0;  // < kRegisters
    bool signal_frame = false;      // the kernel made it: its caller did not call
    bool simple = false;            // the CFA by a register, all saved at the CFA
    std::uint8_t saved = 0;         // how many
    std::int32_t cfa_offset = 0;    // or of the expression
    std::uint32_t first_saved = 0;
  };

  // The rule for the instruction at `address`, as the file names it; null where there is none.
  const Rule* Find(std::uint64_t address) const;
  // Where the function, or the part of one, begins that has the instruction; nullopt where nothing
  // is described.
  std::optional<std::uint64_t> FunctionStart(std::uint64_t address) const;
  std::span<const Saved> SavedOf(const Rule& rule) const {
    return std::span(saved_).subspan(rule.first_saved, rule.saved);
  }
  // True if the code has no caller: a program's first instructions.
  bool IsEntry(const Rule& rule) const;
  // The bytes of the expression at an offset that a rule of this table has.
  std::span<const std::uint8_t> ExpressionAt(std::int32_t offset) const;

  const ElfLayout& layout() const { return layout_; }
  // Lower-case hex; empty if the file has none.
  const std::string& build_id() const { return build_id_; }
  std::size_t rows() const { return row_addresses_.size(); }
  std::size_t rules() const { return rules_.size(); }
  std::size_t memory_bytes() const;
  // Functions of which something could not be understood: there are no rules from there on.
  std::size_t refused_functions() const { return refused_functions_; }

 private:
  friend class CfiTableBuilder;

  ElfLayout layout_;
  std::string build_id_;
  // Ascending, relative to the layout's lowest address; a row holds until the next one.
  std::vector<std::uint32_t> row_addresses_;
  std::vector<std::uint32_t> row_rules_;        // indices; 0 = none
  std::vector<std::uint32_t> function_starts_;  // ascending, relative as well
  std::vector<Rule> rules_;
  std::vector<Saved> saved_;
  std::vector<std::uint8_t> expressions_;  // each with its length in front
  std::size_t refused_functions_ = 0;
};

// Reads a module's file, which may be anything. A file without .eh_frame has a table without rows.
// kCorrupt, kTooLarge, kUnsupported: no ELF file for x86-64.
Result<CfiTable> MakeCfiTable(const ReadAt& read_untrusted);

}  // namespace fieldcost::unwind

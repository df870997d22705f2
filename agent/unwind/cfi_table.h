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

// How to find the caller's registers, for each instruction of a module. Made once from its
// .eh_frame; immutable and thread-safe from then on. Takes 8 bytes per row, 4 per function, and the
// rules that rows share.
class CfiTable {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 24;
  static constexpr std::uint64_t kMostEhFrameBytes = std::uint64_t{256} << 20;
  static constexpr std::size_t kMostRuleBytes = std::size_t{64} << 20;

  // The canonical frame address: the stack pointer after the return.
  enum class Cfa : std::uint8_t { kNone, kRegister, kExpression };
  // The location of a caller's register: at CFA + offset; the value CFA + offset itself; in another
  // register; at the value of an expression, or that value itself; nowhere.
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
    std::int32_t offset = 0;  // from the CFA; or the other register; or the expression's offset
  };
  struct Rule {
    Cfa cfa = Cfa::kNone;
    std::uint8_t cfa_register = 0;  // < kRegisters
    bool signal_frame = false;      // created by the kernel: its caller was interrupted
    bool simple = false;            // CFA from a register, and all registers saved at CFA offsets
    std::uint8_t saved = 0;         // number of saved registers
    std::int32_t cfa_offset = 0;    // or the expression's offset
    std::uint32_t first_saved = 0;
  };

  // Returns the rule for the instruction at `address` (in the file's address space); null if none.
  const Rule* Find(std::uint64_t address) const;
  // Returns the start of the function, or part of a function, that contains the instruction;
  // nullopt if no function is described there.
  std::optional<std::uint64_t> FunctionStart(std::uint64_t address) const;
  std::span<const Saved> SavedOf(const Rule& rule) const {
    return std::span(saved_).subspan(rule.first_saved, rule.saved);
  }
  // Returns true if the code has no caller: a program's first instructions.
  bool IsEntry(const Rule& rule) const;
  // Returns the bytes of the expression at an offset from one of this table's rules.
  std::span<const std::uint8_t> ExpressionAt(std::int32_t offset) const;

  const ElfLayout& layout() const { return layout_; }
  // In lower-case hex; empty if the file has none.
  const std::string& build_id() const { return build_id_; }
  std::size_t rows() const { return row_addresses_.size(); }
  std::size_t rules() const { return rules_.size(); }
  std::size_t memory_bytes() const;
  // Number of functions that were not completely understood: from that point on, they have no
  // rules.
  std::size_t refused_functions() const { return refused_functions_; }

 private:
  friend class CfiTableBuilder;

  ElfLayout layout_;
  std::string build_id_;
  // Ascending, relative to the layout's lowest address; a row is valid up to the next one.
  std::vector<std::uint32_t> row_addresses_;
  std::vector<std::uint32_t> row_rules_;        // indices; 0 = none
  std::vector<std::uint32_t> function_starts_;  // ascending, likewise relative
  std::vector<Rule> rules_;
  std::vector<Saved> saved_;
  std::vector<std::uint8_t> expressions_;  // each preceded by its length
  std::size_t refused_functions_ = 0;
};

// Reads a module's file, which may contain anything. A file without .eh_frame has a table without
// rows. Errors: kCorrupt, kTooLarge, or kUnsupported if it is not an ELF file for x86-64.
Result<CfiTable> MakeCfiTable(const ReadAt& read_untrusted);

}  // namespace fieldcost::unwind

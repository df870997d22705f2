#include "agent/unwind/cfi_table.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include "agent/unwind/eh_frame.h"
#include "agent/unwind/expression.h"
#include "agent/unwind/x86_64/unwind_machine.h"
#include "common/base/build_id.h"

namespace fieldcost::unwind {
namespace {

constexpr std::uint32_t kNoRule = 0;
constexpr std::size_t kMostExpressions = std::size_t{1} << 16;

// A program's or loader's first instructions have no caller. Where nothing describes them, they are
// at most this long.
constexpr std::uint64_t kMostEntryBytes = 64;

constexpr std::uint64_t kMostScannedBytes = std::uint64_t{16} << 20;

FrameState SignalReturnState() {
  FrameState state;
  state.cfa = CfiTable::Cfa::kRegister;
  state.cfa_register = kStackPointer;
  std::int32_t offset = kFirstRegisterInContext;
  for (const std::uint8_t number : kRegistersInContext) {
    state.registers[number] = {.place = CfiTable::Place::kAtCfa, .offset = offset};
    offset += static_cast<std::int32_t>(sizeof(std::uint64_t));
  }
  return state;
}

FrameState EntryState() {
  FrameState state;
  state.cfa = CfiTable::Cfa::kRegister;
  state.cfa_register = kStackPointer;
  state.registers[kInstructionPointer] = {.place = CfiTable::Place::kNowhere, .offset = 0};
  return state;
}

// Returns the executable segment that contains an address; null if none.
const ElfSegment* ExecutableAt(const ElfLayout& layout, std::uint64_t address) {
  const auto found =
      std::find_if(layout.segments.begin(), layout.segments.end(), [&](const ElfSegment& s) {
        return s.executable && address >= s.address && address - s.address < s.file_bytes;
      });
  return found == layout.segments.end() ? nullptr : &*found;
}

// Reads in pieces: a file may claim to be longer than it is.
std::string ReadBytes(const ReadAt& read, std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
  std::string bytes;
  while (bytes.size() < size) {
    const std::size_t had = bytes.size();
    const auto piece = static_cast<std::size_t>(std::min(kPieceBytes, size - had));
    bytes.resize(had + piece);
    const std::size_t got = read(offset + had, bytes.data() + had, piece);
    bytes.resize(had + got);
    if (got < piece) break;
  }
  return bytes;
}

// Returns the length of the first instructions: up to a following function that they call, if there
// is one.
std::uint64_t EntryBytes(const ReadAt& read, const ElfSegment& segment, std::uint64_t entry) {
  constexpr unsigned char kCall = 0xe8;
  constexpr std::size_t kCallBytes = 5;
  const std::uint64_t inside = entry - segment.address;
  const std::string code = ReadBytes(read, segment.offset + inside,
                                     std::min(kMostEntryBytes, segment.file_bytes - inside));
  std::size_t end = code.size();
  for (std::size_t i = 0; i + kCallBytes <= code.size(); ++i) {
    if (static_cast<unsigned char>(code[i]) != kCall) continue;
    std::int32_t distance = 0;
    std::memcpy(&distance, code.data() + i + 1, sizeof distance);
    if (distance < 0) continue;
    end = std::min(end, i + kCallBytes + static_cast<std::size_t>(distance));
  }
  return end;
}

}  // namespace

const CfiTable::Rule* CfiTable::Find(std::uint64_t address) const {
  const std::uint64_t relative = address - layout_.lowest_address;
  if (relative >= kMostElfSpan) return nullptr;
  const auto next = std::upper_bound(row_addresses_.begin(), row_addresses_.end(),
                                     static_cast<std::uint32_t>(relative));
  if (next == row_addresses_.begin()) return nullptr;
  const std::uint32_t rule =
      row_rules_[static_cast<std::size_t>(next - row_addresses_.begin()) - 1];
  return rule == kNoRule ? nullptr : &rules_[rule];
}

std::optional<std::uint64_t> CfiTable::FunctionStart(std::uint64_t address) const {
  if (Find(address) == nullptr) return std::nullopt;
  const auto relative = static_cast<std::uint32_t>(address - layout_.lowest_address);
  const auto next = std::ranges::upper_bound(function_starts_, relative);
  if (next == function_starts_.begin()) return std::nullopt;
  return layout_.lowest_address + *std::prev(next);
}

bool CfiTable::IsEntry(const Rule& rule) const {
  const auto saved = SavedOf(rule);
  return std::any_of(saved.begin(), saved.end(), [](const Saved& one) {
    return one.number == kInstructionPointer && one.place == Place::kNowhere;
  });
}

std::span<const std::uint8_t> CfiTable::ExpressionAt(std::int32_t offset) const {
  const auto at = static_cast<std::size_t>(offset);
  return std::span(expressions_).subspan(at + 1, expressions_[at]);
}

std::size_t CfiTable::memory_bytes() const {
  return sizeof *this + row_addresses_.capacity() * sizeof(std::uint32_t) +
         row_rules_.capacity() * sizeof(std::uint32_t) +
         function_starts_.capacity() * sizeof(std::uint32_t) + rules_.capacity() * sizeof(Rule) +
         saved_.capacity() * sizeof(Saved) + expressions_.capacity() +
         layout_.segments.capacity() * sizeof(ElfSegment);
}

class CfiTableBuilder : public FrameSink {
 public:
  explicit CfiTableBuilder(ElfLayout layout) {
    table_.layout_ = std::move(layout);
    table_.rules_.emplace_back();  // kNoRule
  }

  Status AddFunctions(const ReadAt& read);
  // Adds rows for code without any: code that has no caller, and code that kernels call.
  void AddUndescribed(const ReadAt& read);
  CfiTable Finish(std::string build_id);

  bool Row(std::uint64_t address, const FrameState& state) override;
  std::optional<std::int32_t> Expression(std::span<const std::uint8_t> bytes) override;

 private:
  // Returns false if a limit was reached.
  bool AddRow(std::uint64_t address, std::uint32_t rule);
  std::uint32_t Intern(const FrameState& state);
  void InsertRows(std::uint64_t start, std::uint64_t end, const FrameState& state, bool signal);

  CfiTable table_;
  bool signal_frame_ = false;
  bool full_ = false;
  std::unordered_map<std::string, std::uint32_t> rule_of_;
  std::map<std::string, std::int32_t, std::less<>> expression_of_;
  std::string key_;
};

std::optional<std::int32_t> CfiTableBuilder::Expression(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kMostExpressionBytes) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto found = expression_of_.find(text); found != expression_of_.end()) {
    return found->second;
  }
  if (expression_of_.size() == kMostExpressions) return std::nullopt;
  const auto offset = static_cast<std::int32_t>(table_.expressions_.size());
  table_.expressions_.push_back(static_cast<std::uint8_t>(bytes.size()));
  table_.expressions_.insert(table_.expressions_.end(), bytes.begin(), bytes.end());
  expression_of_.emplace(text, offset);
  return offset;
}

std::uint32_t CfiTableBuilder::Intern(const FrameState& state) {
  if (state.cfa == CfiTable::Cfa::kNone) return kNoRule;
  CfiTable::Rule rule{.cfa = state.cfa,
                      .cfa_register = state.cfa_register,
                      .signal_frame = signal_frame_,
                      .simple = state.cfa == CfiTable::Cfa::kRegister,
                      .saved = 0,
                      .cfa_offset = state.cfa_offset,
                      .first_saved = 0};
  std::array<CfiTable::Saved, kRegisters> saved;
  for (std::size_t number = 0; number < kRegisters; ++number) {
    const RegisterRule& one = state.registers[number];
    if (!one.place) continue;
    saved[rule.saved++] = {.number = static_cast<std::uint8_t>(number),
                           .place = *one.place,
                           .reserved = 0,
                           .offset = one.offset};
    rule.simple = rule.simple && *one.place == CfiTable::Place::kAtCfa;
  }
  static_assert(sizeof(CfiTable::Saved) == 8);
  key_.assign(reinterpret_cast<const char*>(saved.data()), rule.saved * sizeof saved[0]);
  key_ += static_cast<char>(rule.cfa);
  key_ += static_cast<char>(rule.cfa_register);
  key_ += rule.signal_frame ? '\1' : '\0';
  key_.append(reinterpret_cast<const char*>(&rule.cfa_offset), sizeof rule.cfa_offset);
  if (const auto found = rule_of_.find(key_); found != rule_of_.end()) return found->second;
  if (table_.saved_.size() * sizeof saved[0] + table_.rules_.size() * sizeof rule >
      CfiTable::kMostRuleBytes) {
    full_ = true;
    return kNoRule;
  }
  rule.first_saved = static_cast<std::uint32_t>(table_.saved_.size());
  table_.saved_.insert(table_.saved_.end(), saved.begin(), saved.begin() + rule.saved);
  table_.rules_.push_back(rule);
  const auto index = static_cast<std::uint32_t>(table_.rules_.size() - 1);
  rule_of_.emplace(key_, index);
  return index;
}

bool CfiTableBuilder::AddRow(std::uint64_t address, std::uint32_t rule) {
  auto& addresses = table_.row_addresses_;
  auto& rules = table_.row_rules_;
  const auto relative = static_cast<std::uint32_t>(address - table_.layout_.lowest_address);
  if (!addresses.empty() && addresses.back() == relative) {
    rules.back() = rule;
    return true;
  }
  if (rules.empty() ? rule == kNoRule : rules.back() == rule) return true;
  if (addresses.size() >= CfiTable::kMostRows) {
    full_ = true;
    return false;
  }
  addresses.push_back(relative);
  rules.push_back(rule);
  return true;
}

bool CfiTableBuilder::Row(std::uint64_t address, const FrameState& state) {
  const std::uint32_t rule = Intern(state);
  return AddRow(address, rule) && !full_;
}

Status CfiTableBuilder::AddFunctions(const ReadAt& read) {
  const ElfLayout& layout = table_.layout_;
  if (layout.eh_frame_bytes == 0) return {};
  if (layout.eh_frame_bytes > CfiTable::kMostEhFrameBytes) {
    return Fail(ErrorCode::kTooLarge, ".eh_frame of {} bytes", layout.eh_frame_bytes);
  }
  const std::string bytes = ReadBytes(read, layout.eh_frame_offset, layout.eh_frame_bytes);
  EhFrame frames({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                 layout.eh_frame_address, *this);
  FIELDCOST_TRY(frames.Read());
  auto& functions = frames.functions();
  // Functions that the linker discarded are described at addresses without code.
  std::erase_if(functions, [&](const FrameFunction& function) {
    return ExecutableAt(layout, function.start) == nullptr ||
           ExecutableAt(layout, function.end - 1) == nullptr;
  });
  std::stable_sort(functions.begin(), functions.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  table_.refused_functions_ = frames.refused();
  for (std::size_t i = 0; i < functions.size() && !full_; ++i) {
    const FrameFunction& function = functions[i];
    const std::uint64_t next =
        i + 1 < functions.size() ? functions[i + 1].start : std::uint64_t{UINT64_MAX};
    const std::uint64_t end = std::min(function.end, next);
    if (end == function.start) continue;
    table_.function_starts_.push_back(
        static_cast<std::uint32_t>(function.start - layout.lowest_address));
    signal_frame_ = frames.IsSignalFrame(function);
    const FrameOutcome outcome = frames.Run(function, end, *this);
    if (!outcome.understood) {
      ++table_.refused_functions_;
      if (outcome.reached < end) AddRow(outcome.reached, kNoRule);
    }
    if (end < next) AddRow(end, kNoRule);
  }
  if (full_) return Fail(ErrorCode::kTooLarge, ".eh_frame has too many rules");
  return {};
}

void CfiTableBuilder::InsertRows(std::uint64_t start, std::uint64_t end, const FrameState& state,
                                 bool signal) {
  auto& addresses = table_.row_addresses_;
  auto& rules = table_.row_rules_;
  const auto from = static_cast<std::uint32_t>(start - table_.layout_.lowest_address);
  const auto next = std::upper_bound(addresses.begin(), addresses.end(), from);
  if (next != addresses.end()) {
    end = std::min(end, table_.layout_.lowest_address + *next);
  }
  if (addresses.size() + 2 > CfiTable::kMostRows) return;
  signal_frame_ = signal;
  const std::uint32_t rule = Intern(state);
  const auto at = next - addresses.begin();
  const auto to = static_cast<std::uint32_t>(end - table_.layout_.lowest_address);
  const bool behind = next == addresses.end() || *next != to;
  if (at > 0 && addresses[static_cast<std::size_t>(at) - 1] == from) {
    rules[static_cast<std::size_t>(at) - 1] = rule;
  } else {
    rules.insert(rules.begin() + at, rule);
    addresses.insert(addresses.begin() + at, from);
  }
  if (!behind) return;
  const auto after = std::upper_bound(addresses.begin(), addresses.end(), from);
  rules.insert(rules.begin() + (after - addresses.begin()), kNoRule);
  addresses.insert(after, to);
}

void CfiTableBuilder::AddUndescribed(const ReadAt& read) {
  const ElfLayout& layout = table_.layout_;
  for (const ElfSegment& segment : layout.segments) {
    if (!segment.executable || layout.text_bytes > kMostScannedBytes) continue;
    const std::string text = ReadBytes(read, segment.offset, segment.file_bytes);
    const std::size_t found = text.find(kSignalReturn);
    if (found == std::string::npos) continue;
    const std::uint64_t address = segment.address + found;
    // Includes the byte before it: a return address is looked up by the byte before it.
    if (found > 0 && table_.Find(address) == nullptr && table_.Find(address - 1) == nullptr) {
      InsertRows(address - 1, address + kSignalReturn.size(), SignalReturnState(), true);
    }
  }
  const ElfSegment* const first = ExecutableAt(layout, layout.entry);
  if (first != nullptr && table_.Find(layout.entry) == nullptr) {
    const std::uint64_t size = EntryBytes(read, *first, layout.entry);
    if (size != 0) InsertRows(layout.entry, layout.entry + size, EntryState(), false);
  }
}

CfiTable CfiTableBuilder::Finish(std::string build_id) {
  table_.build_id_ = std::move(build_id);
  table_.row_addresses_.shrink_to_fit();
  table_.row_rules_.shrink_to_fit();
  table_.function_starts_.shrink_to_fit();
  table_.rules_.shrink_to_fit();
  table_.saved_.shrink_to_fit();
  return std::move(table_);
}

Result<CfiTable> MakeCfiTable(const ReadAt& read_untrusted) {
  FIELDCOST_ASSIGN(ElfLayout layout, ReadElfLayout(read_untrusted));
  CfiTableBuilder builder(std::move(layout));
  FIELDCOST_TRY(builder.AddFunctions(read_untrusted));
  builder.AddUndescribed(read_untrusted);
  return builder.Finish(BuildIdIn(read_untrusted));
}

}  // namespace fieldcost::unwind

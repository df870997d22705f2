#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {

// The numbers are stored in files and never reused.
enum class FrameKind : std::uint8_t {
  kFunction = 1,
  kUnnamed = 2,  // code without a known name
  kSpecial = 3,  // not code: one of the markers below
};

// Functions of special frames.
inline constexpr char kKernel[] = "[kernel]";        // time in the kernel
inline constexpr char kCut[] = "[cut]";              // the frames above it are missing
inline constexpr char kOther[] = "[other]";          // paths beyond a limit
inline constexpr char kGenerated[] = "[generated]";  // code generated at run time, without names
inline constexpr char kIdleWait[] = "[idle wait]";   // the CPU was idle

// A place in a program, identified across builds: equal frames mean the same code. MakeFrame()
// (identity.h) creates them from symbols. Ordered by all members. Members that do not apply to the
// kind are empty.
struct Frame {
  FrameKind kind = FrameKind::kFunction;
  std::string module;    // soname without version, or the executable's file name; may be unknown
  std::string function;  // demangled, with arguments, without clone suffixes; not empty
  std::string file;      // source file of a local symbol, if known
  std::string build_id;  // for unnamed code: bytes; empty if the module has none
  std::uint64_t offset = 0;  // for unnamed code: in the module's file, in bytes
  auto operator<=>(const Frame&) const = default;
};

// A special frame: `function` is one of the names above, or another in brackets.
Frame SpecialFrame(std::string function);

// kInvalidArgument unless valid as described above; kTooLarge beyond the limits (tree_limits.h).
Status Validate(const Frame& untrusted_frame);

using FrameId = StrongId<struct FrameIdTag, std::uint32_t>;

// Frames, numbered in the order of their first occurrence. Movable; not thread-safe.
class FrameTable {
 public:
  // Holds at most `most` frames, whose names have at most `most_bytes` bytes in total.
  explicit FrameTable(std::size_t most = kMaxFrames, std::size_t most_bytes = kMaxAllNameBytes)
      : most_(most), most_bytes_(most_bytes) {}

  // Returns the number of `frame`; equal frames have the same number. Errors of Validate();
  // kTooLarge if the table is full.
  Result<FrameId> Intern(const Frame& untrusted_frame);
  std::optional<FrameId> Find(const Frame& frame) const;

  // REQUIRES: id.value() < size(). The reference remains valid.
  const Frame& frame(FrameId id) const;
  std::size_t size() const { return frames_.size(); }

 private:
  std::size_t SlotOf(const Frame& frame) const;
  void Grow();

  std::size_t most_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::deque<Frame> frames_;
  std::vector<std::uint32_t> hashes_;  // by id
  std::vector<std::uint32_t> slots_;   // 1 + id, or 0; open addressing; a power of two
};

}  // namespace fieldcost::tree

#include "agent/intercept/mappings.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {
namespace {

uint64_t ParseHex(const char* text, uint32_t* at, uint32_t end) {
  uint64_t value = 0;
  for (; *at < end; ++*at) {
    const char c = text[*at];
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      break;
    }
  }
  return value;
}

// Returns true if the line of text that ends at `end` describes a file whose name begins with
// `name`.
bool IsFile(const char* text, uint32_t begin, uint32_t end, const char* name, uint32_t bytes) {
  uint32_t at = end;
  while (at > begin && text[at - 1] != '/') --at;
  for (uint32_t i = 0; i < bytes; ++i, ++at) {
    if (at >= end || text[at] != name[i]) return false;
  }
  return true;
}

// Parses a line of /proc/self/maps: "begin-end rwxp ...".
Mapping ParseMapping(const char* text, uint32_t begin, uint32_t end) {
  Mapping mapping = {};
  uint32_t at = begin;
  mapping.begin = ParseHex(text, &at, end);
  ++at;
  mapping.end = ParseHex(text, &at, end);
  mapping.none = at + 2 < end && text[at + 1] == '-' && text[at + 2] == '-';
  return mapping;
}

}  // namespace

bool FindMapping(uint64_t address, char* text, uint32_t bytes, Mapping* below, Mapping* found) {
  const int64_t fd = OpenFile("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  *found = Mapping{};
  bool hit = false;
  bool copier = false;
  uint32_t kept = 0;  // bytes of an incomplete line at the start of scratch
  bool in_long_line = false;
  while (!copier) {
    const int64_t got = SystemCall(SYS_read, static_cast<uint64_t>(fd),
                                   reinterpret_cast<uint64_t>(text + kept), bytes - kept);
    if (got <= 0) break;
    const uint32_t size = kept + static_cast<uint32_t>(got);
    uint32_t line = 0;
    for (uint32_t i = kept; i < size; ++i) {
      if (text[i] != '\n') continue;
      if (IsFile(text, line, i, kStackCopier, sizeof kStackCopier - 1)) copier = true;
      if (!in_long_line && !hit) {
        *below = *found;
        *found = ParseMapping(text, line, i);
        hit = found->begin <= address && address < found->end;
      }
      in_long_line = false;
      line = i + 1;
    }
    kept = size - line;
    if (kept == bytes) {  // a line longer than the buffer: skips its rest
      in_long_line = true;
      kept = 0;
    }
    for (uint32_t i = 0; i < kept; ++i) text[i] = text[line + i];
  }
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  return hit && !copier;
}

StackRange LeastStack(uint64_t first_top) {
  constexpr uint64_t kFirstThreadStack = 8 << 20;
  constexpr uint64_t kOtherThreadStack = 12 << 10;
  if (first_top != 0) return {first_top - kFirstThreadStack, first_top};
  return {ThreadPointer() - kOtherThreadStack, ThreadPointer()};
}

StackRange OwnStack(uint64_t first_top, char* scratch, uint32_t scratch_bytes) {
  const StackRange least = LeastStack(first_top);
  if (first_top != 0) return least;
  Mapping below{};
  Mapping stack{};
  // There is a guard directly below: a stack from glibc, which has the control block at its top.
  const bool is_guarded = FindMapping(least.end, scratch, scratch_bytes, &below, &stack) &&
                          below.none && below.end == stack.begin;
  return is_guarded ? StackRange{stack.begin, least.end} : least;
}

}  // namespace fieldcost::intercept

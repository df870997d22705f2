#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"

namespace fieldcost::recording {

// The threads of samples. Pure functions.

// A thread's number in the recording's table, which begins with kNoThread.
using ThreadId = StrongId<struct ThreadIdTag, std::uint32_t>;
// For samples of several threads combined, or of an unknown thread.
inline constexpr ThreadId kNoThread{0};

// A thread while it executes one program: after an exec it counts as a different one. Unknown
// fields are 0 or empty.
struct Thread {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string process;  // name of the process's main thread; printable
  std::string name;     // its own name; printable
  bool operator==(const Thread&) const = default;
};

// Replaces control characters and truncates names to kMaxNameBytes.
Thread Printable(Thread thread);

//   threads := thread*
//   thread := number pid tid text:process text:name      ; the next number, or one that has changed
std::string EncodeThreads(std::span<const Thread> all, std::span<const std::uint32_t> numbers);
// Adds to, or changes, the content of the preceding frames. kCorrupt unless it follows from them
// and is as described above; kTooLarge beyond kMaxThreads.
Status DecodeThreads(std::string_view untrusted_payload, std::vector<Thread>& all);

}  // namespace fieldcost::recording

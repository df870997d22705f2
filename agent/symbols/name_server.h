#pragma once

#include <cstdint>

namespace fieldcost::symbols {

// Requests to a helper. A request is a number (NameRequest) followed by the fields given here. An
// answer begins with 1; or else with 0, an ErrorCode and a message.
enum class NameRequest : std::uint64_t {
  kOpen = 1,  // key, build-id, number of directories, directories; with the file → soname, build-id
  kFrames = 2,     // key, address → count, then function, file, line, local, inlined of each
  kFunctions = 3,  // with the file → count, names
};

inline constexpr char kServeNames[] = "--serve-names";
inline constexpr int kNameSocket = 3;

// Answers requests on the socket until it is closed. Returns a status for exit().
int ServeNames(int socket);

}  // namespace fieldcost::symbols

#pragma once

namespace fieldcost {

// Prints file, line and condition to stderr and aborts. Used by FIELDCOST_CHECK only.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace fieldcost

// A bug, not an expected error: aborts in every build. Never used inside the preload library.
#define FIELDCOST_CHECK(condition)                                              \
  do {                                                                          \
    if (!(condition)) ::fieldcost::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

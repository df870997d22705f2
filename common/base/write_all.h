#pragma once

#include <string_view>

namespace fieldcost {

// Writes all bytes to an open file or pipe, retrying after partial writes and signals. Returns 0,
// or the errno of the write that failed; some bytes may then have been written.
int WriteAll(int fd, std::string_view bytes);

}  // namespace fieldcost

#pragma once

#include <string_view>

namespace fieldcost {

// Writes all of the bytes to an open file or pipe, in as many pieces as it takes, signals or not.
// 0, or the errno of the piece that failed; those before it are written.
int WriteAll(int fd, std::string_view bytes);

}  // namespace fieldcost

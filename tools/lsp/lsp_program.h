#pragma once

#include <string>
#include <vector>

namespace fieldcost::lsp {

// The program: options, then LSP on stdin and stdout until "exit" or the end of stdin. One thread
// reads, one responds, one indexes C++ names. Returns the exit status.
int Main(std::vector<std::string> arguments);

}  // namespace fieldcost::lsp

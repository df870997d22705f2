// fieldcost-lsp: the language server.
#include <string>
#include <vector>

#include "tools/lsp/lsp_program.h"

int main(int argc, char** argv) {
  return fieldcost::lsp::Main(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}

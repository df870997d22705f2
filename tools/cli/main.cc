// The program `fieldcost`.
#include <string>
#include <vector>

#include "tools/cli/cli_commands.h"

int main(int argc, char** argv) {
  return fieldcost::cli::Main(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}

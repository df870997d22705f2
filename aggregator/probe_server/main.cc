// fieldcost-probe-server: stores and shows probe points. Independent of the aggregator.
#include <string>
#include <vector>

#include "aggregator/probe_server/probe_server_commands.h"
#include "common/command/program.h"

int main(int argument_count, char** arguments) {
  return fieldcost::command::RunProgram(
      fieldcost::probe_server::Program(), FIELDCOST_VERSION,
      std::vector<std::string>(arguments + 1, arguments + argument_count));
}

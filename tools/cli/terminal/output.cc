#include "tools/cli/terminal/output.h"

#include <string>

#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {

Output OutputOf(const command::Arguments& arguments) {
  const std::string& color = arguments.Text("--color");
  return {.json = arguments.Has("--json"),
          .csv = arguments.Has("--csv"),
          .pager = !arguments.Has("--no-pager"),
          .style = StdoutStyle(color == "always"  ? draw::ColorChoice::kAlways
                               : color == "never" ? draw::ColorChoice::kNever
                                                  : draw::ColorChoice::kAuto)};
}

}  // namespace fieldcost::cli

#include "tools/cli/terminal/page_file.h"

#include <fmt/format.h>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {

command::Option HtmlOption(std::string_view help) {
  return {
      .names = "--html", .value = "FILE", .help = help, .completes = command::Completes::kFiles};
}

Status CheckPageOption(const command::Arguments& arguments, std::string_view option) {
  for (const std::string_view other : {"--json", "--csv"}) {
    if (!arguments.Has(option) || !arguments.Has(other)) continue;
    return Fail(ErrorCode::kInvalidArgument, "{} cannot be combined with {}", other, option);
  }
  return {};
}

Status WritePage(const std::filesystem::path& file, const std::string& html, PageOf page_of) {
  if (file == kStdout) return WriteStdout(html);
  FIELDCOST_TRY(WriteFileAtomically(file, html, page_of == PageOf::kOwn ? 0600 : 0644));
  Remark(fmt::format("{} in {}", Counted(html.size(), "byte"), file.string()));
  return {};
}

}  // namespace fieldcost::cli

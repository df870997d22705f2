#include "tools/cli/lab/called_exports.h"

#include <map>
#include <optional>
#include <utility>

#include "agent/reach/exported_functions.h"
#include "agent/reach/imports.h"
#include "agent/reach/reach.h"
#include "common/base/text.h"
#include "common/shm/lab_file.h"

namespace fieldcost::cli {
namespace {

using ExportNames = std::set<std::string>;
// By soname and file.
using Called = std::map<std::pair<std::string, std::string>, ExportNames>;

Called CalledFunctions(const lab::Sums& sums) {
  Called called;
  for (const lab::ApiSums& api : sums.apis()) {
    if (api.path.empty()) continue;  // of a program
    called[{api.api.soname, api.path}].insert(api.api.symbol);
  }
  return called;
}

// The functions whose address is taken by the program or by a measured library.
ExportNames TakenAddresses(const Called& called, const lab::MeasureOptions& options) {
  std::set<std::filesystem::path> files;
  for (const auto& [library, names] : called) files.insert(library.second);
  const auto program =
      reach::ExplainProgram(reach::FindProgram(options.runner.scenario.command[0]));
  if (program && !program->program.empty()) files.insert(program->program);
  ExportNames taken;
  for (const std::filesystem::path& file : files) {
    taken.merge(reach::AddressesTaken(file, options.data_slots));
  }
  return taken;
}

bool IsSelected(std::string_view globs, std::string_view library, std::string_view symbol) {
  if (globs.empty()) return true;
  for (const std::string_view glob : Split(globs, ",")) {
    const std::size_t mark = glob.find('!');
    const bool is_library =
        mark == std::string_view::npos || GlobMatch(glob.substr(0, mark), library);
    if (is_library &&
        GlobMatch(mark == std::string_view::npos ? glob : glob.substr(mark + 1), symbol)) {
      return true;
    }
  }
  return false;
}

}  // namespace

analysis::Coverage CoverageOf(const lab::Measurement& found, const lab::MeasureOptions& options) {
  const Called called = CalledFunctions(found.sums);
  const ExportNames taken = TakenAddresses(called, options);
  analysis::Coverage all = {.is_incomplete = found.lost_calls != 0 || found.beyond_most != 0 ||
                                             found.detached != 0 || found.still_running != 0 ||
                                             found.refused != 0 || !found.unmeasured.empty()};
  for (const auto& [library, names] : called) {
    const auto exports = reach::ExportsOfLibrary(library.second);
    if (!exports) {
      all.unreadable.insert(library.first);
      continue;
    }
    analysis::LibraryCoverage coverage = {.library = library.first, .called = names};
    const auto add = [&](const std::string& name, bool can_be_measured) {
      if (names.contains(name) || !IsSelected(options.apis, library.first, name)) return;
      (can_be_measured ? coverage.uncalled : coverage.not_measured).insert(name);
    };
    for (const std::string& name : exports->untrusted_names) {
      add(name, name.size() < sizeof(shm::LabApi::symbol) && !taken.contains(name));
    }
    for (const std::string& name : exports->untrusted_never_measured) add(name, false);
    Merge({.libraries = {std::move(coverage)}}, all);
  }
  return all;
}

}  // namespace fieldcost::cli

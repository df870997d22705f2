#include "tools/cli/commands/check_tree.h"

#include <utility>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/wire/limits.h"
#include "common/wire/pprof.h"
#include "tools/analysis/stack_tree.h"
#include "tools/cli/check_json.h"
#include "tools/cli/page_file.h"
#include "tools/cli/pager.h"
#include "tools/cli/terminal_io.h"
#include "tools/report/checked_tree.h"
#include "tools/report/flame_page.h"

namespace fieldcost::cli {
namespace {

static_assert(wire::kMaxPprofBytes <= analysis::kMaxFoldedBytes);
static_assert(wire::kMaxStackFrames <= analysis::kMaxFoldedFrames);

// A profile that is not compressed has its empty first text in it, folded stacks have no NUL.
bool IsPprof(std::string_view untrusted_bytes) {
  return wire::IsGzip(untrusted_bytes) || untrusted_bytes.find('\0') != std::string_view::npos;
}

Result<std::string> ReadStacks(std::string_view untrusted_bytes, analysis::StackTree& tree) {
  if (!IsPprof(untrusted_bytes)) {
    FIELDCOST_TRY(analysis::AddFoldedStacks(untrusted_bytes, tree));
    return std::string();
  }
  if (untrusted_bytes.size() > wire::kMaxPprofBytes) {
    return Fail(ErrorCode::kTooLarge, "{} bytes of a pprof profile, at most {} are accepted",
                untrusted_bytes.size(), wire::kMaxPprofBytes);
  }
  FIELDCOST_ASSIGN(const wire::PprofUnit unit,
                   wire::ReadPprof(untrusted_bytes, [&](const auto& frames, std::uint64_t value) {
                     return tree.Add(frames, value);
                   }));
  return unit.untrusted_unit;
}

struct Stacks {
  analysis::StackTree tree;
  std::string untrusted_unit;
};

Result<Stacks> ReadStackFile(const std::filesystem::path& file) {
  FIELDCOST_ASSIGN(const std::string untrusted_bytes, ReadFile(file, analysis::kMaxFoldedBytes));
  Stacks stacks;
  Result<std::string> unit = ReadStacks(untrusted_bytes, stacks.tree);
  if (!unit) return Within(unit.error(), EscapeControl(file.string()));
  stacks.untrusted_unit = std::move(*unit);
  return stacks;
}

}  // namespace

Status ShowCheckedTree(const std::filesystem::path& file, const analysis::CheckReport& report,
                       const Output& output) {
  FIELDCOST_ASSIGN(const Stacks stacks, ReadStackFile(file));
  if (output.json) return WriteStdout(CheckedTreeJson(stacks.tree, report, stacks.untrusted_unit));
  return WritePaged(
      report::CheckedTreeText(stacks.tree, report, stacks.untrusted_unit, output.style), output);
}

Status WriteFlameGraph(const std::filesystem::path& file, const std::filesystem::path& page,
                       const analysis::CheckReport& report, bool synthetic) {
  FIELDCOST_ASSIGN(const Stacks stacks, ReadStackFile(file));
  return WritePage(page,
                   report::FlamePage({.tree = &stacks.tree,
                                      .report = &report,
                                      .untrusted_unit = stacks.untrusted_unit,
                                      .untrusted_name = file.filename().string(),
                                      .synthetic = synthetic}),
                   PageOf::kOwn);
}

}  // namespace fieldcost::cli

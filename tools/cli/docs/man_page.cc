#include "tools/cli/docs/man_page.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "tools/cli/terminal/helper_program.h"
#include "tools/report/cards/card_text.h"

namespace fieldcost::cli {
namespace {

// Sections of functions: library calls, then system calls. Otherwise printf would be the shell's.
constexpr char kFunctions[] = "--sections=3:2";

Result<pid_t> StartMan(ChildOptions options) {
  options.arguments.insert(options.arguments.begin(), "man");
  Result<pid_t> child = StartHelper(std::move(options));
  if (child) return child;
  return Fail(ErrorCode::kUnavailable, "man(1) cannot be run; use --roff instead");
}

// Reads about kMaxManBytes at most; the rest stays unread.
std::string ReadAll(int fd) {
  std::string text;
  char buffer[16 * 1024];
  while (text.size() < kMaxManBytes) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

bool IsMdoc(std::string_view page) {
  return page.starts_with(".Dd") || page.find("\n.Dd") != std::string_view::npos;
}

}  // namespace

Result<std::string> FindManPage(const std::string& untrusted_name,
                                const std::string& untrusted_section) {
  // A name with a slash could be any file of this machine.
  if (untrusted_name.find('/') != std::string::npos) return std::string();
  FIELDCOST_ASSIGN(Pipe pipe, MakePipe());
  ChildOptions options{
      .arguments = {"--recode=UTF-8"}, .output = pipe.write_end.get(), .errors = kNowhere};
  if (untrusted_section.empty()) {
    options.arguments.insert(options.arguments.end(), {kFunctions, "--"});
  } else {
    options.arguments.insert(options.arguments.end(), {"--", untrusted_section});
  }
  options.arguments.push_back(untrusted_name);
  FIELDCOST_ASSIGN(const pid_t child, StartMan(std::move(options)));
  pipe.write_end.Reset();
  std::string page = ReadAll(pipe.read_end.get());
  pipe.read_end.Reset();
  return WaitForHelper(child) == 0 ? page : "";
}

std::string WithCost(std::string page, std::string_view name, const report::CostCard& card) {
  const report::RoffMacros macros =
      IsMdoc(page) ? report::RoffMacros::kMdoc : report::RoffMacros::kMan;
  if (page.empty()) {
    const std::string escaped = report::EscapeRoff(name);
    page = fmt::format(".TH \"{0}\" 3\n.SH NAME\n\\&{0} \\- what calls cost\n", escaped);
  }
  if (!page.ends_with('\n')) page += '\n';
  return page + CardRoff(card, macros);
}

Result<int> ShowManPage(const std::string& roff) {
  FIELDCOST_ASSIGN(Pipe pipe, MakePipe());
  const IgnoreInterrupts ignore;
  FIELDCOST_ASSIGN(const pid_t child,
                   StartMan({.arguments = {"--local-file", "-"}, .input = pipe.read_end.get()}));
  pipe.read_end.Reset();
  Feed(pipe.write_end.get(), roff);
  pipe.write_end.Reset();
  return WaitForHelper(child);
}

}  // namespace fieldcost::cli

#include "agent/perf/recorder_options.h"

#include <fmt/format.h>
#include <getopt.h>

#include <cstdio>

#include "common/base/error.h"
#include "common/base/text.h"

namespace fieldcost::perf {

std::uint64_t NumberFromOne(const char* text, std::uint64_t most) {
  const std::uint64_t number = ParseUint64(text).value_or(0);
  return number <= most ? number : 0;
}

std::optional<std::vector<std::string>> TakeOptions(int argc, char** argv,
                                                    const std::vector<RecorderOption>& options) {
  std::vector<option> known;
  for (const RecorderOption& one : options) {
    const int index = static_cast<int>(known.size());
    known.push_back({.name = one.name,
                     .has_arg = one.has_value ? required_argument : no_argument,
                     .flag = nullptr,
                     .val = index});
  }
  known.push_back({});
  ::opterr = 0;
  ::optind = 0;  // starts over, even if options were parsed before
  // "+": stops at the command line that follows.
  for (int index = 0; (index = ::getopt_long(argc, argv, "+", known.data(), nullptr)) != -1;) {
    if (index == '?' || !options[static_cast<std::size_t>(index)].take(::optarg))
      return std::nullopt;
  }
  return std::vector<std::string>(argv + ::optind, argv + argc);
}

int RefuseCommandLine(const char* program, const char* command) {
  fmt::print(stderr, "{}: internal program; run `{}`\n", program, command);
  return ExitStatus(ErrorCode::kInvalidArgument);
}

}  // namespace fieldcost::perf

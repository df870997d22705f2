#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace fieldcost::testing {

// Returns the output of a command; if the command fails, so does the test.
inline std::string Output(std::vector<std::string> arguments, std::string input = {}) {
  const auto result = RunProcess({.arguments = std::move(arguments),
                                  .environment = {{"LC_ALL", "C"}},
                                  .unset = {},
                                  .directory = {},
                                  .input = std::move(input)});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  return result.output;
}

struct Range {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

// The ranges of functions, by linker symbol.
inline std::map<std::string, Range> FunctionsOf(const std::filesystem::path& file) {
  std::map<std::string, Range> functions;
  std::istringstream lines(Output({"nm", "-S", "--defined-only", file.string()}));
  std::string start, size, kind, name;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    if (words >> start >> size >> kind >> name && (kind == "t" || kind == "T" || kind == "W")) {
      functions[name] = {.start = std::stoull(start, nullptr, 16),
                         .size = std::stoull(size, nullptr, 16)};
    }
  }
  return functions;
}

}  // namespace fieldcost::testing

#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace fieldcost::perf {

// The command lines of recorders, internal programs run by other fieldcost programs: options
// ("--NAME", "--NAME VALUE"), then another program's command line.

struct RecorderOption {
  const char* name = nullptr;  // without the dashes
  bool has_value = true;
  // Takes the value; null for a flag. Returns false if the value is invalid.
  std::function<bool(const char* text)> take;
};

inline RecorderOption FlagOption(const char* name, bool& flag) {
  return {.name = name, .has_value = false, .take = [&flag](const char*) { return flag = true; }};
}

// A text or a path.
template <typename Text>
RecorderOption TextOption(const char* name, Text& text) {
  return {.name = name, .take = [&text](const char* given) {
            text = given;
            return true;
          }};
}

// Parses a number from 1 to `most`; returns 0 if it is invalid.
std::uint64_t NumberFromOne(const char* text, std::uint64_t most);

// A number of at least 1.
template <std::integral Number>
RecorderOption NumberOption(const char* name, Number& number,
                            std::uint64_t most = std::numeric_limits<Number>::max()) {
  return {.name = name, .take = [&number, most](const char* text) {
            number = static_cast<Number>(NumberFromOne(text, most));
            return number != 0;
          }};
}

// Takes the options of a command line whose first word is the name of a program or command. Returns
// the words after the options; nullopt if an option is unknown or a value invalid.
std::optional<std::vector<std::string>> TakeOptions(int argc, char** argv,
                                                    const std::vector<RecorderOption>& options);

// Reports that only `command` ("fieldcost trace") runs `program`. Returns the exit status.
int RefuseCommandLine(const char* program, const char* command);

}  // namespace fieldcost::perf

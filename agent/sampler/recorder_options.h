#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace fieldcost::sampler {

// The command lines of recorders, internal programs that others of fieldcost run: options
// ("--NAME", "--NAME VALUE"), then another program's command line.

struct RecorderOption {
  const char* name = nullptr;  // without the dashes
  bool has_value = true;
  // Takes the value, of a flag null. False: it is no such value.
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

// The number that `text` is, from 1 to `most`; 0: it is none of those.
std::uint64_t NumberFromOne(const char* text, std::uint64_t most);

// A number from 1 on.
template <std::integral Number>
RecorderOption NumberOption(const char* name, Number& number,
                            std::uint64_t most = std::numeric_limits<Number>::max()) {
  return {.name = name, .take = [&number, most](const char* text) {
            number = static_cast<Number>(NumberFromOne(text, most));
            return number != 0;
          }};
}

// Takes the options of a line whose first word is a program's or a command's name; the words that
// follow them. nullopt: it has others, or values that they do not take.
std::optional<std::vector<std::string>> TakeOptions(int argc, char** argv,
                                                    const std::vector<RecorderOption>& options);

// Says that `program` is run by `command` alone ("fieldcost trace"); the exit status.
int RefuseCommandLine(const char* program, const char* command);

}  // namespace fieldcost::sampler

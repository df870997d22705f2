#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::command {

class Arguments;

// What completion offers for a value, in addition to its choices.
enum class Completes {
  kNothing,
  kFiles,
  kPrograms,
  kSymbol,    // a function of the catalogue, by name or as soname!name
  kApi,       // only as soname!symbol, with the linker's symbol name
  kApiGlobs,  // a list of soname!name
  kLibrary,   // a library of the catalogue
  kVersion,   // of the library (or the function's) named earlier on the line
  kMetrics,   // a list of metrics of `run`
};

// Normalizes a value, or returns why it is invalid. The reason may be empty.
using CheckText = std::function<Status(std::string& untrusted_text)>;

// A flag ("--json"), an option with a value ("--limit N"), or an operand, identified by its
// position ("api"). Texts are literals.
struct Option {
  // "--limit" or "--yes,-y"; Arguments uses the first name. Without dashes: an operand.
  std::string_view names;
  std::string_view value = "";  // the value's placeholder in the help, "FILE"; empty for a flag
  std::string_view help = "";   // one sentence, without its choices and default
  std::string_view default_text = "";
  std::vector<std::string> choices = {};  // the only values; empty = any
  Completes completes = Completes::kNothing;
  CheckText check = nullptr;
  bool required = false;
  bool repeats = false;  // may occur several times; for operands, only the last one
  std::vector<std::string_view> needs = {};     // options that it requires
  std::vector<std::string_view> excludes = {};  // options that it conflicts with

  bool is_operand() const { return !names.starts_with('-'); }
  bool is_flag() const { return value.empty(); }
  std::string_view first_name() const { return names.substr(0, names.find(',')); }
};

// Runs a command; returns the exit status.
using Handler = std::function<Result<int>(const Arguments&)>;

// The complete description of a command: parser, help, completion and manual pages read this value
// and nothing else. A program is also a command; its options may stand anywhere on the line.
struct Command {
  std::string_view name;
  std::string_view summary;                    // one line
  std::string_view help = "";                  // the text below its options: details, examples
  std::vector<Option> options = {};            // operands in the order of the line
  std::vector<Command> commands = {};          // subcommands
  Handler handler = nullptr;                   // null: one of `commands` is required
  std::vector<std::string_view> without = {};  // the program's options that it does not accept
  bool takes_program = false;                  // another command line follows after "--"
  std::vector<std::string_view> instead_of_program = {};  // one of these may replace it
  bool program_is_optional = false;                       // even without one of these
  // Returns what is wrong with a combination of options (kInvalidArgument).
  std::function<Status(const Arguments&)> check = nullptr;
};

// A CheckText: an unsigned decimal number.
Status CheckNumber(std::string& untrusted_text);
// A CheckText: an unsigned decimal number from `least` to `most`.
CheckText CheckBetween(std::uint64_t least, std::uint64_t most);
// A CheckText: a TCP port, 0 to 65535.
Status CheckPort(std::string& untrusted_text);
// A CheckText: rejects an empty value.
Status CheckNotEmpty(std::string& untrusted_text);
// A CheckText: 64 hexadecimal digits, as sha256sum prints them; makes them lower-case.
Status CheckSha256(std::string& untrusted_text);

}  // namespace fieldcost::command

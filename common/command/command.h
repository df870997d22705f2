#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::command {

class Arguments;

// What completion offers for a value beside its choices.
enum class Completes {
  kNothing,
  kFiles,
  kPrograms,
  kSymbol,    // a function of the catalogue by its name, or as soname!name
  kApi,       // only as soname!symbol, as linkers know it
  kApiGlobs,  // a list of soname!name
  kLibrary,   // a library of the catalogue
  kVersion,   // of the library, or of the function's, that the line names before
  kMetrics,   // a list of what `run` measures
};

// Brings a value into its normal form, or says why it cannot be one. The reason may be empty.
using CheckText = std::function<Status(std::string& untrusted_text)>;

// A flag ("--json"), an option with a value ("--limit N"), or an operand, which is told by its
// place ("api"). Texts are literals.
struct Option {
  // "--limit" or "--yes,-y", the first of which Arguments knows it by. Without dashes: an operand.
  std::string_view names;
  std::string_view value = "";  // stands for the value in the help, "FILE"; a flag has none
  std::string_view help = "";   // one sentence, without its choices and default
  std::string_view default_text = "";
  std::vector<std::string> choices = {};  // the only values; empty = any
  Completes completes = Completes::kNothing;
  CheckText check = nullptr;
  bool required = false;
  bool repeats = false;  // each time another value; of an operand the last one only
  std::vector<std::string_view> needs = {};     // not without these
  std::vector<std::string_view> excludes = {};  // nor with these

  bool is_operand() const { return !names.starts_with('-'); }
  bool is_flag() const { return value.empty(); }
  std::string_view first_name() const { return names.substr(0, names.find(',')); }
};

// Does what a command says; the exit status.
using Handler = std::function<Result<int>(const Arguments&)>;

// A command with all that is known of it: parser, help, completion and manual pages read this value
// and nothing else. A program is a command, too; its options may stand anywhere on the line.
struct Command {
  std::string_view name;
  std::string_view summary;            // one line
  std::string_view help = "";          // what stands below its options: more of it, examples
  std::vector<Option> options = {};    // operands in the order of the line
  std::vector<Command> commands = {};  // below it
  Handler handler = nullptr;           // none: one of `commands` is needed
  std::vector<std::string_view> without = {};  // options of the program that do not go with it
  bool takes_program = false;                  // another command line follows behind "--"
  std::vector<std::string_view> instead_of_program = {};  // or else one of these is given
  // Says what is wrong with options together; "" = nothing.
  std::function<std::string(const Arguments&)> check = nullptr;
};

// A CheckText: an unsigned decimal number.
Status CheckNumber(std::string& untrusted_text);
// A CheckText: such a number from `least` to `most`.
CheckText CheckBetween(std::uint64_t least, std::uint64_t most);
// A CheckText: a TCP port, 0 to 65535.
Status CheckPort(std::string& untrusted_text);
// A CheckText: anything but nothing.
Status CheckNotEmpty(std::string& untrusted_text);

}  // namespace fieldcost::command

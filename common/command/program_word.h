#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// Returns the option with that name ("--limit", "-n") of these commands (each is a subcommand of
// the previous one), or an option that all programs have; nullptr if none.
const Option* FindOption(const std::vector<const Command*>& path, std::string_view name);

// A command's options without its operands, including those that every command has.
std::vector<const Option*> OptionsOf(const Command& command, bool is_program);

// "--limit" and "-n" of "--limit,-n".
std::vector<std::string> NamesOf(const Option& option);

// Whether a word that is neither an option nor a subcommand can only be another program: the
// command takes one and no operands, and the word resembles none of its subcommands.
bool IsProgramWord(const Command& command, std::string_view word);

// Whether words[word], which is not an option, begins the first of two programs separated by "--":
// the command takes programs or operands, never both (instead_of_program names an operand).
bool IsFirstOfTwoPrograms(const Command& command, const std::vector<std::string>& words,
                          std::size_t word);

// Returns where another program's command line begins without a preceding "--", as after `perf` and
// `time`: the index of the first word that is not an option, an option's value or a command, if one
// of the two functions above returns true for it. words.size() if none, or if "--" or an unknown
// option comes first.
std::size_t ProgramWord(const Command& program, const std::vector<std::string>& words);

}  // namespace fieldcost::command

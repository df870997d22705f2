#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::tree {

// Handles two builds of a program with different file names ("./old" and "./new"), since an
// executable's file name is part of its frames. Pure functions.

struct MainPrograms {
  std::string before;
  std::string after;
};
// The names of the main programs of two sides, if they differ: the first words of the commands that
// name a module of their own side and none of the other; without such words, the only executable of
// each side that the other side lacks. nullopt if there are no such modules. A command is as typed
// by the user, and may be empty.
std::optional<MainPrograms> DifferentPrograms(const Dictionary& before,
                                              std::string_view command_before,
                                              const Dictionary& after,
                                              std::string_view command_after);

// Returns the same dictionary, with the module `from` renamed to `to`, as well as the threads and
// processes with that name; ids are unchanged. kInvalidArgument if `to` is not a valid name.
// REQUIRES: no frame has the module `to`.
Result<std::shared_ptr<const Dictionary>> RenameModule(const Dictionary& dictionary,
                                                       std::string_view from, std::string_view to);

}  // namespace fieldcost::tree

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::tree {

// Two builds of one program often have different file names ("./old" and "./new"), and an
// executable's file name is part of its frames. Pure functions.

struct MainPrograms {
  std::string before;
  std::string after;
};
// The names of the main programs of two sides, if they differ: the first words of the commands that
// name a module of their own side and none of the other; without such words, the only executable
// that each side does not share with the other. nullopt if there are no such modules. A command is
// as typed by the user; it may be empty.
std::optional<MainPrograms> DifferentPrograms(const Dictionary& before,
                                              std::string_view command_before,
                                              const Dictionary& after,
                                              std::string_view command_after);

// The same dictionary, in which the module `from` is called `to`, as are the threads and processes
// of that name; ids stay as they are.
// kInvalidArgument if `to` is no valid name. REQUIRES: no frame has the module `to`.
Result<std::shared_ptr<const Dictionary>> RenameModule(const Dictionary& dictionary,
                                                       std::string_view from, std::string_view to);

}  // namespace fieldcost::tree

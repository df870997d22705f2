#pragma once

#include <stdint.h>
#include <string.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text.h"

namespace fieldcost::intercept {

// Of the object's first part with code: place in the file less virtual address. Its first page,
// which is looked at, is mapped by every linker's layout; 0 if it does not look like that.
uint64_t CodeOffsetOf(const ElfObject& object);

// What a library's file says of a loaded object, for who names addresses in it; a field `complete`
// is left to whoever writes the rest.
template <typename Module>
void DescribeModule(const ElfObject& object, Module* module) {
  CopyText(module->path, *object.path == '\0' ? ProgramPath() : object.path);
  static_assert(sizeof module->build_id == kMaxBuildIdBytes);
  module->build_id_bytes = object.build_id_bytes;
  memcpy(module->build_id, object.build_id, object.build_id_bytes);
  module->base = object.base;
  module->begin = object.begin;
  module->end = object.end;
  module->code_offset = CodeOffsetOf(object);
}

}  // namespace fieldcost::intercept

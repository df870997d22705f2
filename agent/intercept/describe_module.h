#pragma once

#include <stdint.h>
#include <string.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text.h"

namespace fieldcost::intercept {

// Place in the file less virtual address, for the object's first part with code; 0 if its first
// page does not look like an ELF file's. Every linker's layout maps that page.
uint64_t CodeOffsetOf(const ElfObject& object);

// Fills what a library's file says of a loaded object, so that addresses in it can be named later.
// The field `complete` is left to the caller.
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

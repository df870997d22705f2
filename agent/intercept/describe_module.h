#pragma once

#include <stdint.h>
#include <string.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"

namespace fieldcost::intercept {

// Returns file offset minus virtual address of the object's first code segment; 0 if its first page
// is not that of an ELF file. Every linker's layout maps that page.
uint64_t CodeOffsetOf(const ElfObject& object);

// Describes a loaded object in a library's file, so that addresses in it can be resolved later. The
// caller sets the field `complete`.
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

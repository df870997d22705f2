#include "agent/intercept/functions.h"

#include <string.h>

#include "agent/intercept/text_builder.h"
#include "agent/intercept/wrappers.h"
#include "common/shm/never_measured.h"

namespace fieldcost::intercept {

bool IsSameFunction(const Function& one, const Function& other) {
  return one.target == other.target && strcmp(one.symbol, other.symbol) == 0 &&
         strcmp(one.version, other.version) == 0;
}

bool MayBeStoodBefore(const char* symbol) {
  while (*symbol == '_') ++symbol;
  const size_t bytes = strlen(symbol);
  if (bytes == 0) return true;
  for (const shm::NamePattern& pattern : shm::kNeverMeasured) {
    // A comparison of the first and last letters rejects most patterns quickly: a program has
    // thousands of names.
    const char first = pattern.text[0];
    const char last = pattern.text[pattern.bytes - 1];
    if (first != *symbol && first != '*') continue;
    if (last != symbol[bytes - 1] && last != '*') continue;
    if (GlobMatches(pattern.text, pattern.bytes, symbol, bytes)) return false;
  }
  return true;
}

bool FollowSlot(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                const uint64_t* slot, Function* function) {
  const char* const symbol = NameOf(importer, relocation);
  if (!MayBeStoodBefore(symbol)) return false;
  const uint64_t target = TargetOf(space, importer, relocation, slot);
  if (target == 0) return false;
  const ElfObject* const provider = ObjectAt(space.objects, space.object_count, target);
  if (provider == nullptr) return false;
  const Elf64_Sym* const definition =
      FindExport(*provider, symbol, NeededVersion(importer, relocation));
  if (definition == nullptr) return false;
  const unsigned type = ELF64_ST_TYPE(definition->st_info);
  if (type != STT_FUNC && type != STT_GNU_IFUNC) return false;
  *function = {};
  function->provider = provider;
  function->module = *provider->soname != '\0' ? provider->soname : FileNameOf(provider->path);
  function->symbol = provider->strings + definition->st_name;
  function->version = DefinedVersion(*provider, definition);
  function->target = target;
  if (type == STT_FUNC) {
    function->code_begin = target;
    function->code_end = target + definition->st_size;
  }
  return true;
}

}  // namespace fieldcost::intercept

#include "agent/preload/candidates.h"

#include <string.h>

#include "agent/preload/slots.h"
#include "agent/preload/text.h"

namespace fieldcost::preload {
namespace {

// Measured: an intercepted dlopen loses its caller's RUNPATH, an intercepted dlsym(RTLD_NEXT)
// returns its caller. The others return twice, never return, or have a calling convention of their
// own.
constexpr const char* kNeverPicked[] = {
    "_Exit",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__fentry__",
    "__fortify_fail",
    "__gmon_start__",
    "__longjmp_chk",
    "__morestack",
    "__sigsetjmp",
    "__stack_chk_fail",
    "_dl_find_object",
    "_exit",
    "_longjmp",
    "_mcount",
    "_setjmp",
    "abort",
    "clone",
    "dlmopen",
    "dlopen",
    "dlsym",
    "dlvsym",
    "err",
    "errx",
    "exit",
    "getcontext",
    "longjmp",
    "makecontext",
    "mcount",
    "pthread_exit",
    "quick_exit",
    "setcontext",
    "setjmp",
    "siglongjmp",
    "sigsetjmp",
    "swapcontext",
    "thrd_exit",
    "verr",
    "verrx",
    "vfork",
};

constexpr const char* kNeverPickedPrefixes[] = {"_Unwind_", "__cxa_", "__tls_get_addr",
                                                "__libc_start_", "__libc_longjmp"};

// Draws that lead to modules that are not allowed are thrown away, up to this many for each pick.
constexpr uint32_t kDrawsPerPick = 64;

const ElfObject* ProviderOf(const ElfObject* objects, uint32_t count, uint64_t address) {
  for (uint32_t i = 0; i < count; ++i) {
    if (Contains(objects[i], address)) return &objects[i];
  }
  return nullptr;
}

// Follows a slot to a candidate. False if it leads nowhere, to data, or to something that may not
// be picked.
bool MakeCandidate(const ElfObject* objects, uint32_t object_count, const ElfObject& importer,
                   const Elf64_Rela& relocation, const uint64_t* slot, Candidate* candidate) {
  const char* const symbol = NameOf(importer, relocation);
  if (!MayBePicked(symbol)) return false;
  const uint64_t target = ResolveSlot(importer, relocation, slot);
  if (target == 0) return false;
  const ElfObject* const provider = ProviderOf(objects, object_count, target);
  if (provider == nullptr || *provider->soname == '\0') return false;
  const Elf64_Sym* const definition =
      FindExport(*provider, symbol, NeededVersion(importer, relocation));
  if (definition == nullptr) return false;
  const unsigned type = ELF64_ST_TYPE(definition->st_info);
  if (type != STT_FUNC && type != STT_GNU_IFUNC) return false;
  *candidate = {provider, symbol, DefinedVersion(*provider, definition), target, 0, 0};
  if (type == STT_FUNC) {
    candidate->code_begin = target;
    candidate->code_end = target + definition->st_size;
  }
  return true;
}

bool AlreadyPicked(const Picks& picks, uint64_t target) {
  for (uint32_t i = 0; i < picks.count; ++i) {
    if (picks.candidates[i].target == target) return true;
  }
  return false;
}

// splitmix64 (Steele, Lea, Flood 2014): turns one random number into a sequence.
uint64_t NextRandom(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

bool MatchesList(const char* list, const char* soname, const char* symbol) {
  char name[512];
  TextBuilder builder(name, sizeof name);
  builder.Add(soname).Add("!").Add(symbol);
  if (!builder.ok()) return false;
  while (*list != '\0') {
    const size_t bytes = strcspn(list, ",");
    if (GlobMatches(list, bytes, name, strlen(name))) return true;
    list += bytes;
    if (*list == ',') ++list;
  }
  return false;
}

// True if some pattern of the list could match this symbol of any library: spares the resolution of
// slots that cannot be meant.
bool SymbolMatchesList(const char* list, const char* symbol) {
  while (*list != '\0') {
    const size_t bytes = strcspn(list, ",");
    const auto* mark = static_cast<const char*>(memchr(list, '!', bytes));
    const char* const pattern = mark == nullptr ? list : mark + 1;
    if (GlobMatches(pattern, static_cast<size_t>(list + bytes - pattern), symbol, strlen(symbol))) {
      return true;
    }
    list += bytes;
    if (*list == ',') ++list;
  }
  return false;
}

}  // namespace

bool MayBePicked(const char* symbol) {
  for (const char* const name : kNeverPicked) {
    if (strcmp(symbol, name) == 0) return false;
  }
  for (const char* const prefix : kNeverPickedPrefixes) {
    if (strncmp(symbol, prefix, strlen(prefix)) == 0) return false;
  }
  return true;
}

void PickAtRandom(const Request& request, const ElfObject* objects, uint32_t object_count,
                  uint64_t random, Picks* picks) {
  picks->count = 0;
  picks->candidate_count = 0;
  for (uint32_t i = 0; i < object_count; ++i) picks->candidate_count += objects[i].plt_count;
  if (picks->candidate_count == 0) return;
  const uint32_t wanted = request.policy->picks_per_run;
  for (uint32_t draw = 0; draw < wanted * kDrawsPerPick && picks->count < wanted; ++draw) {
    uint64_t index = NextRandom(&random) % picks->candidate_count;
    uint32_t o = 0;
    while (index >= objects[o].plt_count) index -= objects[o++].plt_count;
    const ElfObject& importer = objects[o];
    const Elf64_Rela& relocation = importer.plt[index];
    if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_JUMP_SLOT) continue;
    const auto* slot = reinterpret_cast<const uint64_t*>(importer.base + relocation.r_offset);
    Candidate candidate;
    if (!MakeCandidate(objects, object_count, importer, relocation, slot, &candidate)) continue;
    if (!IsAllowed(request, candidate.provider->soname)) continue;
    if (AlreadyPicked(*picks, candidate.target)) continue;
    picks->candidates[picks->count++] = candidate;
  }
}

void PickByName(const Request& request, const ElfObject* objects, uint32_t object_count,
                Picks* picks) {
  picks->count = 0;
  picks->candidate_count = 0;
  ForEachSlot(
      objects, object_count, false,
      [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
        ++picks->candidate_count;
        if (!SymbolMatchesList(request.forced_pick, NameOf(importer, relocation))) {
          return true;
        }
        Candidate candidate;
        if (MakeCandidate(objects, object_count, importer, relocation, slot, &candidate) &&
            MatchesList(request.forced_pick, candidate.provider->soname, candidate.symbol) &&
            !AlreadyPicked(*picks, candidate.target)) {
          picks->candidates[picks->count++] = candidate;
        }
        return picks->count < shm::kMaxPicks;
      });
}

}  // namespace fieldcost::preload

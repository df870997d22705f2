#include "agent/intercept/hosts.h"

#include <string.h>
#include <sys/auxv.h>

#include "agent/intercept/objects.h"
#include "agent/intercept/text_builder.h"
#include "common/shm/sanitizer_runtimes.h"

namespace fieldcost::intercept {
namespace {

// Conservative garbage collectors search stacks and registers for references. During a measured
// call, the caller's rbx is in neither: an object that only this register refers to would be
// collected.
constexpr const char* kCollectors[] = {
    "libgc.",        "libruby",      "libjavascriptcoregtk-", "libWPEWebKit",
    "libQt5WebKit.", "libmonosgen-", "libmonoboehm-",         "libcoreclr.",
    "libgphobos.",   "libdruntime-", "libphobos2-",           "libobjc_gc.",
    "libgcj.",
};
constexpr const char* kProgramsWithCollector[] = {"emacs"};

template <size_t N>
bool BeginsWithAny(const char* text, const char* const (&beginnings)[N]) {
  for (const char* const beginning : beginnings) {
    if (strncmp(text, beginning, strlen(beginning)) == 0) return true;
  }
  return false;
}

// Returns whether an object from `first` on has a soname with one of these prefixes.
template <size_t N>
bool IsAnyLoaded(uint32_t first, const char* const (&sonames)[N]) {
  const SlotSpace space = Objects(false);
  for (uint32_t i = first; i < space.object_count; ++i) {
    if (BeginsWithAny(space.objects[i].soname, sonames)) return true;
  }
  return false;
}

}  // namespace

bool HasSanitizer() { return IsAnyLoaded(0, shm::kSanitizerRuntimes); }

bool HasCollector(uint32_t first_object) {
  if (IsAnyLoaded(first_object, kCollectors)) return true;
  const auto* const program = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return first_object == 0 && program != nullptr &&
         BeginsWithAny(FileNameOf(program), kProgramsWithCollector);
}

}  // namespace fieldcost::intercept

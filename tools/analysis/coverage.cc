#include "tools/analysis/coverage.h"

#include <algorithm>

namespace fieldcost::analysis {
namespace {

void MergeLibrary(const LibraryCoverage& other, LibraryCoverage& library) {
  library.called.insert(other.called.begin(), other.called.end());
  library.not_measured.insert(other.not_measured.begin(), other.not_measured.end());
  library.uncalled.insert(other.uncalled.begin(), other.uncalled.end());
  std::erase_if(library.not_measured,
                [&](const std::string& name) { return library.called.contains(name); });
  std::erase_if(library.uncalled, [&](const std::string& name) {
    return library.called.contains(name) || library.not_measured.contains(name);
  });
}

}  // namespace

void Merge(const Coverage& other, Coverage& coverage) {
  for (const LibraryCoverage& library : other.libraries) {
    const auto place = std::ranges::lower_bound(coverage.libraries, library.library, {},
                                                &LibraryCoverage::library);
    if (place != coverage.libraries.end() && place->library == library.library) {
      MergeLibrary(library, *place);
    } else {
      coverage.libraries.insert(place, library);
    }
  }
  coverage.unreadable.insert(other.unreadable.begin(), other.unreadable.end());
  coverage.is_incomplete = coverage.is_incomplete || other.is_incomplete;
}

}  // namespace fieldcost::analysis

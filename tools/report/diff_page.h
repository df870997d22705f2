#pragma once

#include <string>
#include <string_view>

#include "tools/analysis/version_change.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::report {

// DiffText() as a self-contained HTML document without scripts: the sentence, the APIs that became
// more or less expensive (all APIs with `all`) with both versions' spectra on one scale, and the
// statistics, folded. Names are escaped. Deterministic.
std::string DiffPage(const analysis::LibraryChange& change, bool all, const Provenance& provenance);

}  // namespace fieldcost::report

#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "common/wire/batch.h"

namespace fieldcost::cli {

// Describes a row of a batch in a sentence for readers who do not know the format: the function,
// its library's version, the days, the number of calls counted or timed, and whether it was
// reported before. Pure; external text is escaped.
std::string RowSentence(const wire::BatchRow& row, const draw::Style& style);

}  // namespace fieldcost::cli

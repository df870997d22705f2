#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "common/wire/batch.h"

namespace fieldcost::cli {

// A batch's row as a sentence for people who do not know the format: the function and its library's
// version, the days, the number of calls counted or timed, and whether it was reported before.
// Pure; text from outside is escaped.
std::string RowSentence(const wire::BatchRow& row, const draw::Style& style);

}  // namespace fieldcost::cli

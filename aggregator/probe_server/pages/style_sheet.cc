#include "aggregator/probe_server/pages/style_sheet.h"

namespace fieldcost::probe_server {

// Three segments of a bar.
const std::string_view kIcon = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">)"
                               R"(<rect width="6" height="16" fill="#274690"/>)"
                               R"(<rect x="6" width="7" height="16" fill="#c48a3a"/>)"
                               R"(<rect x="13" width="3" height="16" fill="#f0e442"/></svg>)";

}  // namespace fieldcost::probe_server

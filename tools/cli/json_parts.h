#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "common/catalog/catalog.h"
#include "common/stats/stat_row.h"

namespace fieldcost::cli {

// What the files that print --json share (json_output.cc, check_json.cc); only they include this
// and see Boost.JSON. Pure.

// The document and a newline.
std::string Print(const boost::json::object& object);
// REQUIRES: UTF-8.
boost::json::string Text(std::string_view text);
// Text of any bytes, where JSON knows only UTF-8: what is not gets '?' for each byte above 0x7f.
boost::json::string UntrustedText(std::string_view untrusted_text);
boost::json::object HistogramJson(const stats::CostHistogram& histogram);
boost::json::object ApiJson(const stats::ApiKey& api);
boost::json::object HardwareJson(const stats::HardwareClass& hardware);
boost::json::object FreshnessJson(const catalog::Freshness& freshness);

}  // namespace fieldcost::cli

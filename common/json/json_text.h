#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace fieldcost {

// Returns the value as JSON, written by JsonWriter, so that all our JSON escapes texts, replaces
// invalid UTF-8 and formats numbers in the same way. Texts and keys may contain any bytes. Pure.
std::string JsonText(const boost::json::value& value);

}  // namespace fieldcost

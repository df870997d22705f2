#include "common/json/json_text.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include "common/base/json_writer.h"

namespace fieldcost {
namespace {

namespace json = boost::json;

void Write(const json::value& value, JsonWriter& writer) {
  switch (value.kind()) {
    case json::kind::null:
      writer.Null();
      break;
    case json::kind::bool_:
      writer.Bool(value.get_bool());
      break;
    case json::kind::int64:
      writer.Number(value.get_int64());
      break;
    case json::kind::uint64:
      writer.Number(value.get_uint64());
      break;
    case json::kind::double_:
      writer.Number(value.get_double());
      break;
    case json::kind::string:
      writer.Text({value.get_string().data(), value.get_string().size()});
      break;
    case json::kind::array:
      writer.Array();
      for (const json::value& element : value.get_array()) Write(element, writer);
      writer.EndArray();
      break;
    case json::kind::object:
      writer.Object();
      for (const auto& [key, member] : value.get_object()) {
        writer.Key({key.data(), key.size()});
        Write(member, writer);
      }
      writer.EndObject();
      break;
  }
}

}  // namespace

std::string JsonText(const boost::json::value& value) {
  JsonWriter writer;
  Write(value, writer);
  return writer.TakeValue();
}

}  // namespace fieldcost

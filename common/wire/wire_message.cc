#include "common/wire/wire_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>

#include "common/base/check.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

Status ParseMessage(std::string_view untrusted_bytes, google::protobuf::MessageLite& message) {
  // Callers have already checked the size against their own limits.
  FIELDCOST_CHECK(untrusted_bytes.size() <= kMaxMessageBytes);
  google::protobuf::io::CodedInputStream input(
      reinterpret_cast<const std::uint8_t*>(untrusted_bytes.data()),
      static_cast<int>(untrusted_bytes.size()));
  input.SetRecursionLimit(kMaxNesting);
  if (!message.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    return Fail(ErrorCode::kCorrupt, "not a protobuf message of the expected type");
  }
  return {};
}

std::string SerializeMessage(const google::protobuf::MessageLite& message) {
  std::string bytes;
  FIELDCOST_CHECK(message.SerializeToString(&bytes));
  return bytes;
}

}  // namespace fieldcost::wire

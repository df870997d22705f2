#include "tools/cli/costs/lab_table_file.h"

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/recording/file_format.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::cli {

Result<wire::LabTable> ReadLabTable(const std::filesystem::path& file) {
  FIELDCOST_ASSIGN(const std::string untrusted_bytes, ReadFile(file, wire::kMaxLabBytes));
  Result<wire::LabTable> table = wire::DecodeLabTable(untrusted_bytes);
  if (!table && recording::LooksLikeRecording(untrusted_bytes)) {
    return Fail(ErrorCode::kInvalidArgument,
                "{0}: it is a recording, not a lab table: `fieldcost tree show {0}` shows it",
                EscapeControl(file.string()));
  }
  if (!table) return Within(std::move(table).error(), EscapeControl(file.string()));
  return table;
}

Result<std::size_t> WriteLabTable(const std::filesystem::path& file, const wire::LabTable& table) {
  FIELDCOST_ASSIGN(const std::string bytes, wire::EncodeLabTable(table));
  FIELDCOST_TRY(WriteFileAtomically(file, bytes, kPrivateFileMode));
  return bytes.size();
}

std::uint64_t CallsOf(const wire::LabTable& table) {
  std::uint64_t calls = 0;
  bool saturated = false;
  for (const wire::LabApi& api : table.apis) {
    calls = stats::SaturatingAdd(calls, api.calls, saturated);
  }
  return calls;
}

}  // namespace fieldcost::cli

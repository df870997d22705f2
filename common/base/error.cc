#include "common/base/error.h"

namespace fieldcost {
namespace {

struct CodeRow {
  ErrorCode code;
  std::string_view name;
  int exit_status;
  int http_status;
};

constexpr CodeRow kTable[] = {
    {ErrorCode::kInvalidArgument, "invalid_argument", 64, 400},
    {ErrorCode::kNotFound, "not_found", 66, 404},
    {ErrorCode::kAlreadyExists, "already_exists", 73, 409},
    {ErrorCode::kPermissionDenied, "permission_denied", 77, 403},
    {ErrorCode::kUnauthenticated, "unauthenticated", 76, 401},
    {ErrorCode::kCorrupt, "corrupt", 65, 400},
    {ErrorCode::kTooLarge, "too_large", 65, 413},
    {ErrorCode::kUnavailable, "unavailable", 69, 503},
    {ErrorCode::kDeadlineExceeded, "deadline_exceeded", 75, 408},
    {ErrorCode::kIo, "io", 74, 500},
    {ErrorCode::kUnsupported, "unsupported", 78, 400},
    {ErrorCode::kInternal, "internal", 70, 500},
};

const CodeRow& RowOf(ErrorCode code) {
  for (const CodeRow& row : kTable) {
    if (row.code == code) return row;
  }
  return RowOf(ErrorCode::kInternal);
}

}  // namespace

std::string_view Name(ErrorCode code) { return RowOf(code).name; }
int ExitStatus(ErrorCode code) { return RowOf(code).exit_status; }
int HttpStatus(ErrorCode code) { return RowOf(code).http_status; }

}  // namespace fieldcost

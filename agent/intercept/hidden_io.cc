#include "agent/intercept/hidden_io.h"

#include <string.h>

#include "agent/intercept/io_wrappers.h"

namespace fieldcost::intercept {

extern "C" __attribute__((visibility("hidden"))) uint64_t fieldcost_hidden_targets[kHiddenIoCount];
uint64_t fieldcost_hidden_targets[kHiddenIoCount];

__thread uint32_t fieldcost_hidden_io;

namespace {

// One text, since pointers would have to be relocated in every program. Of files, then of sockets.
// clang-format off
constexpr char kNames[] =
    "_IO_do_write\0" "_IO_fclose\0" "_IO_fflush\0" "_IO_fgets\0" "_IO_flush_all\0" "_IO_fprintf\0"
    "_IO_fputs\0" "_IO_fread\0" "_IO_fwrite\0" "_IO_getc\0" "_IO_getline\0" "_IO_printf\0"
    "_IO_putc\0" "_IO_puts\0" "_IO_sgetn\0" "_IO_vfprintf\0" "_IO_vfscanf\0" "__dprintf_chk\0"
    "__fgets_chk\0" "__fgets_unlocked_chk\0" "__fgetws_chk\0" "__fgetws_unlocked_chk\0"
    "__fprintf_chk\0" "__fread_chk\0" "__fread_unlocked_chk\0" "__fwprintf_chk\0" "__getdelim\0"
    "__isoc99_fscanf\0" "__isoc99_fwscanf\0" "__isoc99_scanf\0" "__isoc99_vfscanf\0"
    "__isoc99_vfwscanf\0" "__isoc99_vscanf\0" "__isoc99_vwscanf\0" "__isoc99_wscanf\0"
    "__overflow\0" "__printf_chk\0" "__uflow\0" "__underflow\0" "__vdprintf_chk\0"
    "__vfprintf_chk\0" "__vfscanf\0" "__vfwprintf_chk\0" "__vprintf_chk\0" "__vwprintf_chk\0"
    "__wprintf_chk\0" "_flushlbf\0" "aio_read\0" "aio_read64\0" "aio_write\0" "aio_write64\0"
    "dprintf\0" "err\0" "error\0" "error_at_line\0" "errx\0" "fclose\0" "fcloseall\0" "fflush\0"
    "fflush_unlocked\0" "fgetc\0" "fgetc_unlocked\0" "fgets\0" "fgets_unlocked\0" "fgetwc\0"
    "fgetwc_unlocked\0" "fgetws\0" "fgetws_unlocked\0" "fprintf\0" "fputc\0" "fputc_unlocked\0"
    "fputs\0" "fputs_unlocked\0" "fputwc\0" "fputwc_unlocked\0" "fputws\0" "fputws_unlocked\0"
    "fread\0" "fread_unlocked\0" "freopen\0" "freopen64\0" "fscanf\0" "fseek\0" "fseeko\0"
    "fseeko64\0" "fwprintf\0" "fwrite\0" "fwrite_unlocked\0" "fwscanf\0" "getc\0"
    "getc_unlocked\0" "getchar\0" "getchar_unlocked\0" "getdelim\0" "getline\0" "gets\0" "getw\0"
    "getwc\0" "getwc_unlocked\0" "getwchar\0" "getwchar_unlocked\0" "lio_listio\0"
    "lio_listio64\0" "pclose\0" "perror\0" "printf\0" "psignal\0" "putc\0" "putc_unlocked\0"
    "putchar\0" "putchar_unlocked\0" "puts\0" "putw\0" "putwc\0" "putwc_unlocked\0" "putwchar\0"
    "putwchar_unlocked\0" "scanf\0" "vdprintf\0" "verr\0" "verrx\0" "vfprintf\0" "vfscanf\0"
    "vfwprintf\0" "vfwscanf\0" "vprintf\0" "vscanf\0" "vwarn\0" "vwarnx\0" "vwprintf\0"
    "vwscanf\0" "warn\0" "warnx\0" "wprintf\0" "wscanf\0"

    "__res_context_send\0" "__res_nquery\0" "__res_nsearch\0" "__res_nsend\0" "__res_query\0"
    "__res_search\0" "__res_send\0" "__syslog_chk\0" "__vsyslog_chk\0" "getaddrinfo\0"
    "gethostbyaddr\0" "gethostbyaddr_r\0" "gethostbyname\0" "gethostbyname2\0"
    "gethostbyname2_r\0" "gethostbyname_r\0" "getnameinfo\0" "res_nquery\0" "res_nsearch\0"
    "res_nsend\0" "res_query\0" "res_search\0" "res_send\0" "syslog\0" "vsyslog\0";
// clang-format on

constexpr uint32_t CountNames() {
  uint32_t count = 0;
  for (size_t i = 0; i + 1 < sizeof kNames; ++i) count += kNames[i] == '\0' ? 1 : 0;
  return count;
}
static_assert(CountNames() == kHiddenIoCount);

WrappedFunction functions[kHiddenIoCount];

}  // namespace

const WrappedFunction* HiddenIo() {
  const auto stubs = reinterpret_cast<uint64_t>(fieldcost_hidden_stubs);
  const char* name = kNames;
  for (uint32_t i = 0; i < kHiddenIoCount; ++i) {
    functions[i] = {name, stubs + uint64_t{i} * FIELDCOST_HIDDEN_STUB_BYTES,
                    &fieldcost_hidden_targets[i]};
    name += strlen(name) + 1;
  }
  return functions;
}

uint32_t NotMeasuredOf(const char* module, const char* symbol) {
  if (strcmp(module, "libc.so.6") != 0) return 0;
  for (const WrappedFunction& function : kIoFunctions) {
    if (strcmp(function.name, symbol) == 0) return 0;
  }
  return shm::kDiskInsideLibc | shm::kNetInsideLibc;
}

}  // namespace fieldcost::intercept

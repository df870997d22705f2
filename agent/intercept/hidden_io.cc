#include "agent/intercept/hidden_io.h"

#include <string.h>
#include <sys/syscall.h>

#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/wrapped_function.h"
#include "agent/intercept/wrappers.h"

namespace fieldcost::intercept {

extern "C" __attribute__((visibility("hidden"))) uint64_t fieldcost_hidden_targets[kHiddenIoCount];
uint64_t fieldcost_hidden_targets[kHiddenIoCount];

__thread uint32_t fieldcost_hidden_io;

namespace {

// One string, since pointers would have to be relocated in every program. Functions that move bytes
// of files come first, then those that use sockets, then those that use both.
// clang-format off
constexpr char kNames[] =
    "_IO_do_write\0" "_IO_fclose\0" "_IO_fflush\0" "_IO_fgets\0" "_IO_flush_all\0" "_IO_fprintf\0"
    "_IO_fputs\0" "_IO_fread\0" "_IO_fwrite\0" "_IO_getc\0" "_IO_getline\0" "_IO_printf\0"
    "_IO_putc\0" "_IO_puts\0" "_IO_sgetn\0" "_IO_vfprintf\0" "_IO_vfscanf\0" "__dprintf_chk\0"
    "__endmntent\0" "__fgets_chk\0" "__fgets_unlocked_chk\0" "__fgetws_chk\0"
    "__fgetws_unlocked_chk\0" "__fprintf_chk\0" "__fread_chk\0" "__fread_unlocked_chk\0"
    "__fwprintf_chk\0" "__getdelim\0" "__getlogin_r_chk\0" "__getmntent_r\0" "__gets_chk\0"
    "__isoc99_fscanf\0" "__isoc99_fwscanf\0" "__isoc99_scanf\0" "__isoc99_vfscanf\0"
    "__isoc99_vfwscanf\0" "__isoc99_vscanf\0" "__isoc99_vwscanf\0" "__isoc99_wscanf\0"
    "__newlocale\0" "__overflow\0" "__printf_chk\0" "__setmntent\0" "__strftime_l\0" "__uflow\0"
    "__underflow\0" "__vdprintf_chk\0" "__vfprintf_chk\0" "__vfscanf\0" "__vfwprintf_chk\0"
    "__vprintf_chk\0" "__vwprintf_chk\0" "__woverflow\0" "__wprintf_chk\0" "__wuflow\0"
    "__wunderflow\0" "_flushlbf\0" "addmntent\0" "aio_read\0" "aio_read64\0" "aio_write\0"
    "aio_write64\0" "argp_error\0" "argp_help\0" "argp_parse\0" "argp_usage\0" "dprintf\0"
    "endmntent\0" "err\0" "error\0" "error_at_line\0" "errx\0" "fclose\0" "fcloseall\0" "fflush\0"
    "fflush_unlocked\0" "fgetc\0" "fgetc_unlocked\0" "fgetgrent\0" "fgetgrent_r\0" "fgetpos\0"
    "fgetpos64\0" "fgetpwent\0" "fgetpwent_r\0" "fgets\0" "fgets_unlocked\0" "fgetsgent\0"
    "fgetsgent_r\0" "fgetspent\0" "fgetspent_r\0" "fgetwc\0" "fgetwc_unlocked\0" "fgetws\0"
    "fgetws_unlocked\0" "fprintf\0" "fputc\0" "fputc_unlocked\0" "fputs\0" "fputs_unlocked\0"
    "fputwc\0" "fputwc_unlocked\0" "fputws\0" "fputws_unlocked\0" "fread\0" "fread_unlocked\0"
    "freopen\0" "freopen64\0" "fscanf\0" "fseek\0" "fseeko\0" "fseeko64\0" "fsetpos\0"
    "fsetpos64\0" "fwprintf\0" "fwrite\0" "fwrite_unlocked\0" "fwscanf\0" "get_nprocs_conf\0"
    "getc\0" "getc_unlocked\0" "getchar\0" "getchar_unlocked\0" "getdate\0" "getdate_r\0"
    "getdelim\0" "getline\0" "getloadavg\0" "getlogin\0" "getlogin_r\0" "getmntent\0"
    "getmntent_r\0" "gets\0" "getusershell\0" "getutent\0" "getutent_r\0" "getutid\0" "getutid_r\0"
    "getutline\0" "getutline_r\0" "getutxent\0" "getutxid\0" "getutxline\0" "getw\0" "getwc\0"
    "getwc_unlocked\0" "getwchar\0" "getwchar_unlocked\0" "iconv_open\0" "lio_listio\0"
    "lio_listio64\0" "localtime\0" "localtime_r\0" "login\0" "logout\0" "logwtmp\0" "mktime\0"
    "newlocale\0" "pclose\0" "perror\0" "printf\0" "psiginfo\0" "psignal\0" "putc\0"
    "putc_unlocked\0" "putchar\0" "putchar_unlocked\0" "putgrent\0" "putpwent\0" "puts\0"
    "putspent\0" "pututline\0" "pututxline\0" "putw\0" "putwc\0" "putwc_unlocked\0" "putwchar\0"
    "putwchar_unlocked\0" "rewind\0" "scanf\0" "setlocale\0" "setmntent\0" "strftime\0"
    "strftime_l\0" "tzset\0" "updwtmp\0" "updwtmpx\0" "vdprintf\0" "verr\0" "verrx\0" "vfprintf\0"
    "vfscanf\0" "vfwprintf\0" "vfwscanf\0" "vprintf\0" "vscanf\0" "vwarn\0" "vwarnx\0" "vwprintf\0"
    "vwscanf\0" "warn\0" "warnx\0" "wcsftime\0" "wcsftime_l\0" "wordexp\0" "wprintf\0" "wscanf\0"

    "__res_nquery\0" "__res_nquerydomain\0" "__res_nsearch\0" "__res_nsend\0" "__res_query\0"
    "__res_querydomain\0" "__res_search\0" "__res_send\0" "getifaddrs\0" "if_nameindex\0"
    "res_nquery\0" "res_nquerydomain\0" "res_nsearch\0" "res_nsend\0" "res_query\0"
    "res_querydomain\0" "res_search\0" "res_send\0"

    "__res_init\0" "__res_ninit\0" "__syslog_chk\0" "__vsyslog_chk\0" "getaddrinfo\0"
    "getaddrinfo_a\0" "getgrent\0" "getgrent_r\0" "getgrgid\0" "getgrgid_r\0" "getgrnam\0"
    "getgrnam_r\0" "getgrouplist\0" "gethostbyaddr\0" "gethostbyaddr_r\0" "gethostbyname\0"
    "gethostbyname2\0" "gethostbyname2_r\0" "gethostbyname_r\0" "gethostent\0" "gethostent_r\0"
    "gethostid\0" "getnameinfo\0" "getnetbyaddr\0" "getnetbyaddr_r\0" "getnetbyname\0"
    "getnetbyname_r\0" "getnetent\0" "getnetgrent\0" "getnetgrent_r\0" "getprotobyname\0"
    "getprotobyname_r\0" "getprotobynumber\0" "getprotobynumber_r\0" "getprotoent\0" "getpw\0"
    "getpwent\0" "getpwent_r\0" "getpwnam\0" "getpwnam_r\0" "getpwuid\0" "getpwuid_r\0"
    "getrpcbyname\0" "getrpcbyname_r\0" "getrpcbynumber\0" "getrpcbynumber_r\0" "getservbyname\0"
    "getservbyname_r\0" "getservbyport\0" "getservbyport_r\0" "getservent\0" "getspent\0"
    "getspnam\0" "getspnam_r\0" "initgroups\0" "innetgr\0" "setnetgrent\0" "syslog\0" "vsyslog\0";
// clang-format on

constexpr uint32_t CountNames() {
  uint32_t count = 0;
  for (size_t i = 0; i + 1 < sizeof kNames; ++i) count += kNames[i] == '\0' ? 1 : 0;
  return count;
}
static_assert(CountNames() == kHiddenIoCount);

WrappedFunction functions[kHiddenIoCount];

// Not a switch, since its jump table would be large.
constexpr uint16_t kMovingCalls[] = {
    SYS_read,           SYS_write,   SYS_pread64,         SYS_pwrite64, SYS_readv,
    SYS_writev,         SYS_preadv,  SYS_pwritev,         SYS_preadv2,  SYS_pwritev2,
    SYS_sendfile,       SYS_splice,  SYS_copy_file_range, SYS_sendto,   SYS_recvfrom,
    SYS_sendmsg,        SYS_recvmsg, SYS_sendmmsg,        SYS_recvmmsg, SYS_io_submit,
    SYS_io_uring_enter,
};

constexpr char kLibc[] = "libc.so.6";

constexpr uint32_t ReasonsAt(uint32_t index) {
  if (index < FIELDCOST_HIDDEN_DISK_COUNT) return FIELDCOST_HIDDEN_DISK_BIT;
  if (index < FIELDCOST_HIDDEN_DISK_COUNT + FIELDCOST_HIDDEN_NET_COUNT) {
    return FIELDCOST_HIDDEN_NET_BIT;
  }
  return FIELDCOST_HIDDEN_BOTH_BITS;
}

}  // namespace

void InstallHiddenIo(const SlotSpace& space) {
  const auto stubs = reinterpret_cast<uint64_t>(fieldcost_hidden_stubs);
  const char* name = kNames;
  for (uint32_t i = 0; i < kHiddenIoCount; ++i) {
    functions[i] = {name, stubs + uint64_t{i} * FIELDCOST_HIDDEN_STUB_BYTES,
                    &fieldcost_hidden_targets[i]};
    name += strlen(name) + 1;
  }
  // Installed as two groups: a group has at most 255 functions.
  constexpr uint32_t kHalf = kHiddenIoCount / 2;
  InstallWrappers(functions, kHalf, space, 0);
  InstallWrappers(functions + kHalf, kHiddenIoCount - kHalf, space, 0);
}

uint32_t HiddenReasonsOf(const char* module, const char* symbol) {
  if (strcmp(module, kLibc) != 0 && strcmp(module, "libresolv.so.2") != 0) return 0;
  const char* name = kNames;
  for (uint32_t i = 0; i < kHiddenIoCount; ++i) {
    if (strcmp(name, symbol) == 0) return ReasonsAt(i);
    name += strlen(name) + 1;
  }
  return 0;
}

uint32_t HiddenBySystemCall(uint64_t number) {
  for (const uint16_t moving : kMovingCalls) {
    if (moving == number) return FIELDCOST_HIDDEN_BOTH_BITS;
  }
  return 0;
}

uint32_t NotMeasuredOf(const char* module, const char* symbol) {
  if (strcmp(module, kLibc) != 0) return 0;
  for (const WrappedFunction& function : kIoFunctions) {
    if (strcmp(function.name, symbol) == 0) return 0;
  }
  return FIELDCOST_HIDDEN_BOTH_BITS;
}

}  // namespace fieldcost::intercept

#include "agent/lab_preload/hidden_io.h"

#include <string.h>

#include "agent/intercept/text.h"

namespace fieldcost::lab_preload {
namespace {

constexpr char kLibc[] = "libc.so.6";
constexpr char kResolver[] = "libresolv.so.2";

// Names of libc without the underscores that they begin with; '*' is any run. Of those that format
// or parse, the ones that work in memory:
constexpr const char* kInMemory[] = {
    "asprintf*", "isoc99_s*",  "isoc99_vs*", "obstack_*", "s*printf*",
    "s*scanf",   "vasprintf*", "vs*printf*", "vs*scanf",  "parse_printf_format"};
constexpr const char* kHidden[] = {
    // Streams.
    "*printf*",
    "*scanf",
    "IO_getc",
    "IO_putc",
    "fget*ent*",
    "fgetc*",
    "fgetpos*",
    "fgets*",
    "fgetw*",
    "fclose",
    "fcloseall",
    "fflush*",
    "fput*",
    "fread",
    "fread_*",
    "freopen*",
    "fseek*",
    "fsetpos*",
    "fwrite*",
    "get*c",
    "get*c_unlocked",
    "getchar*",
    "getdelim",
    "getline",
    "gets",
    "gets_chk",
    "getw",
    "getwchar*",
    "overflow",
    "pclose",
    "perror",
    "psiginfo",
    "psignal",
    "putc*",
    "puts",
    "putw*",
    "rewind",
    "uflow",
    "underflow",
    "w*flow",
    // Messages, logs and records of logins.
    "*syslog*",
    "argp_*",
    "closelog",
    "error*",
    "login",
    "logout",
    "logwtmp",
    "openlog",
    "pututline",
    "updwtmp*",
    "vwarn*",
    "warn*",
    // Name services, and files that libc reads itself.
    "*mntent*",
    "*netgrent*",
    "*spnam*",
    "get*addr*",
    "get*by*",
    "getdate*",
    "getgrent*",
    "getgrgid*",
    "getgrnam*",
    "getgrouplist",
    "get_nprocs*",
    "getifaddrs",
    "getloadavg",
    "getlogin*",
    "getnameinfo",
    "getpw*",
    "getut*",
    "gethostid",
    "getusershell",
    "iconv_open",
    "if_nameindex",
    "initgroups",
    "innetgr",
    "localtime*",
    "mktime",
    "newlocale",
    "res_*",
    "setlocale",
    "strftime*",
    "tzset",
    "wordexp",
    // Requests that the kernel or another thread carries out.
    "aio_*",
    "lio_listio*",
    "posix_fallocate*",
    "sprofil",
    "syscall",
};

bool IsOneOf(const char* const* patterns, size_t count, const char* name) {
  const size_t bytes = strlen(name);
  for (size_t i = 0; i < count; ++i) {
    if (intercept::GlobMatches(patterns[i], strlen(patterns[i]), name, bytes)) return true;
  }
  return false;
}

}  // namespace

bool HidesIo(const char* module, const char* symbol) {
  if (strcmp(module, kResolver) == 0) return true;
  if (strcmp(module, kLibc) != 0) return false;
  while (*symbol == '_') ++symbol;
  return !IsOneOf(kInMemory, sizeof kInMemory / sizeof *kInMemory, symbol) &&
         IsOneOf(kHidden, sizeof kHidden / sizeof *kHidden, symbol);
}

}  // namespace fieldcost::lab_preload

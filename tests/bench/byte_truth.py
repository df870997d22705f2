#!/usr/bin/env python3
"""Compares the bytes that fieldcost records for real calls with an independent count.

It tests libraries that allocate through tables of function pointers: a separate program makes each
call below once, under `fieldcost measure` (the lab) and under a small allocation counter that is
loaded ahead of libc's malloc. SQLite's writes are compared with strace. A library that is not
installed is reported as missing. Exit status 1: a number differs.

  tests/bench/byte_truth.py --build build/dev [--json] [NAME...]
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Counts the bytes requested from the malloc family between begin and end, and forwards to libc's own functions.
COUNTER = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t);
extern void *__libc_memalign(size_t, size_t);
static __thread long on, bytes;
void truth_begin(void) { bytes = 0; on = 1; }
long truth_end(void) { on = 0; return bytes; }
static void *Count(void *made, size_t size) { if (on && made) bytes += size; return made; }
void *malloc(size_t n) { return Count(__libc_malloc(n), n); }
void *calloc(size_t c, size_t n) { return Count(__libc_calloc(c, n), c * n); }
void *realloc(void *p, size_t n) { return Count(__libc_realloc(p, n), n); }
void *memalign(size_t a, size_t n) { return Count(__libc_memalign(a, n), n); }
void *aligned_alloc(size_t a, size_t n) { return memalign(a, n); }
int posix_memalign(void **r, size_t a, size_t n) {
  *r = memalign(a, n);
  return *r ? 0 : ENOMEM;
}
"""

PROGRAM = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void *P;
__attribute__((weak)) void truth_begin(void);
__attribute__((weak)) long truth_end(void);
static int Write(void *user, const void *bytes, size_t count) { (void)user; (void)bytes; (void)count; return 0; }
%(declare)s
int main(void) {
  %(prepare)s
  if (truth_begin) truth_begin();
  %(call)s
  if (truth_end) printf("%%ld\n", truth_end());
  (void)Write;
  return 0;
}
"""

DOCUMENT = ('char *d = malloc(200000); strcpy(d, "<r>");'
            'for (int i = 0; i < 2000; i++) strcat(d, "<item a=\'1\'>text</item>"); strcat(d, "</r>");')

# soname, API, declarations, code before the call, the call.
CALLS = [
    ("libxml2.so.2", "xmlReadMemory", "P xmlReadMemory(const char*, int, const char*, const char*, int);",
     DOCUMENT, 'xmlReadMemory(d, strlen(d), "x", 0, 0);'),
    ("libxml2.so.2", "xmlParseMemory", "P xmlParseMemory(const char*, int);", DOCUMENT,
     "xmlParseMemory(d, strlen(d));"),
    ("libdeflate.so.0", "libdeflate_alloc_compressor", "P libdeflate_alloc_compressor(int);", "",
     "libdeflate_alloc_compressor(6);"),
    ("libjansson.so.4", "json_loads", "P json_loads(const char*, size_t, void*);", "",
     'json_loads("[1,2,3,{\\"a\\":[1,2,3,\\"text\\"]}]", 0, 0);'),
    ("libgnutls.so.30", "gnutls_priority_init", "int gnutls_priority_init(P*, const char*, const char**);",
     "P p;", 'gnutls_priority_init(&p, "NORMAL", 0);'),
    ("libgnutls.so.30", "gnutls_x509_crt_init", "int gnutls_x509_crt_init(P*);", "P p;",
     "gnutls_x509_crt_init(&p);"),
    ("libpcre.so.3", "pcre_compile",
     "P pcre_compile(const char*, int, const char**, int*, const unsigned char*);",
     "const char *e; int o;", 'pcre_compile("a(b|c)*d", 0, &e, &o, 0);'),
    ("libpcre2-8.so.0", "pcre2_compile_8", "P pcre2_compile_8(const char*, size_t, unsigned, int*, size_t*, P);",
     "int e; size_t o;", 'pcre2_compile_8("a(b|c)*d", 8, 0, &e, &o, 0);'),
    ("libpcre2-32.so.0", "pcre2_compile_32", "P pcre2_compile_32(const int*, size_t, unsigned, int*, size_t*, P);",
     "int e; size_t o;", 'pcre2_compile_32(L"a(b|c)*d", 8, 0, &e, &o, 0);'),
    ("libnghttp2.so.14", "nghttp2_hd_deflate_new", "int nghttp2_hd_deflate_new(P*, size_t);", "P d;",
     "nghttp2_hd_deflate_new(&d, 4096);"),
    # An empty frame of format 0.7: only decoders of old formats allocate through a table.
    ("libzstd.so.1", "ZSTD_decompress", "size_t ZSTD_decompress(P, size_t, const void*, size_t);",
     "static char out[1024];",
     'if (ZSTD_decompress(out, sizeof out, "\\x27\\xb5\\x2f\\xfd\\0\\0\\xc0\\0\\0", 9) != 0) return 1;'),
    ("libcurl.so.4", "curl_easy_escape", "P curl_easy_init(void); char *curl_easy_escape(P, const char*, int);",
     "P c = curl_easy_init();", 'curl_easy_escape(c, "hello world & more", 0);'),
    ("libcurl.so.4", "curl_easy_init", "P curl_easy_init(void);", "", "curl_easy_init();"),
    ("libcurl-gnutls.so.4", "curl_slist_append", "P curl_slist_append(P, const char*);", "",
     'curl_slist_append(0, "Header: value");'),
    ("libglib-2.0.so.0", "g_malloc0", "P g_malloc0(size_t);", "", "g_malloc0(1000);"),
    ("libglib-2.0.so.0", "g_hash_table_new", "P g_hash_table_new(P, P);", "", "g_hash_table_new(0, 0);"),
    ("libuv.so.1", "uv_loop_new", "P uv_loop_new(void);", "", "uv_loop_new();"),
    ("libksba.so.8", "ksba_cert_new", "int ksba_cert_new(P*);", "P c;", "ksba_cert_new(&c);"),
    ("libassuan.so.0", "assuan_new", "int assuan_new(P*);", "P c;", "assuan_new(&c);"),
    ("libcares.so.2", "ares_init", "int ares_init(P*);", "P c;", "ares_init(&c);"),
    ("libsasl2.so.2", "sasl_client_init", "int sasl_client_init(P);", "", "sasl_client_init(0);"),
    ("libEGL.so.1", "eglGetDisplay", "P eglGetDisplay(P);", "", "eglGetDisplay(0);"),
    ("libexpat.so.1", "XML_ParserCreate", "P XML_ParserCreate(const char*);", "", "XML_ParserCreate(0);"),
    ("libgpgme.so.11", "gpgme_data_new", "int gpgme_data_new(P*); const char *gpgme_check_version(P);",
     "P c; gpgme_check_version(0);", "gpgme_data_new(&c);"),
    ("libz.so.1", "compress", "int compress(P, unsigned long*, P, unsigned long);",
     "static char in[9999], out[19999]; unsigned long n = sizeof out;", "compress(out, &n, in, sizeof in);"),
    ("libsystemd.so.0", "sd_journal_open", "int sd_journal_open(P*, int);", "P j;", "sd_journal_open(&j, 1);"),
    ("libp11-kit.so.0", "p11_kit_uri_new", "P p11_kit_uri_new(void);", "", "p11_kit_uri_new();"),
    ("libpython3.11.so.1.0", "PyMem_RawMalloc", "P PyMem_RawMalloc(size_t);", "", "PyMem_RawMalloc(1000);"),
]


# These load libraries, for which the loader allocates without an observable call.
LOADING = {"sasl_client_init", "eglGetDisplay"}


def installed(soname):
    return any(os.path.exists(f"{d}/{soname}") for d in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"))


def output_of(command, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, **more).stdout


def allocated(fieldcost, program, soname, symbol):
    """Returns the sum that the lab recorded; None if it did not see the call."""
    told = json.loads(output_of([fieldcost, "measure", "--json", "--rounds", "1",
                                 "--apis", f"{soname}!{symbol}", "--", program]))
    for row in told["rows"]:
        if row["symbol"] == symbol:
            metric = row["metrics"].get("alloc_inclusive")
            return int(metric["all_calls"]["sum"]) if metric else 0
    return None


def compare_allocations(fieldcost, directory, names):
    counter = f"{directory}/libtruth.so"
    compile_c(COUNTER, counter, "-shared", "-fPIC", "-fno-builtin", "-ftls-model=initial-exec")
    for soname, symbol, declare, prepare, call in CALLS:
        if names and symbol not in names and soname not in names:
            continue
        row = {"library": soname, "call": symbol, "metric": "allocated"}
        if not installed(soname):
            yield {**row, "missing": True}
            continue
        program = f"{directory}/{symbol}"
        compile_c(PROGRAM % {"declare": declare, "prepare": prepare, "call": call}, program, f"-l:{soname}")
        truth = int(output_of([program], env={**os.environ, "LD_PRELOAD": counter}).split()[-1])
        yield {**row, "fieldcost": allocated(fieldcost, program, soname, symbol), "truth": truth}


def compile_c(source, target, *options):
    with open(f"{target}.c", "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run(["cc", "-O1", "-w", "-Wl,--no-as-needed", "-o", target, f"{target}.c", *options], check=True)


SQL = "create table t(x); insert into t values(zeroblob(1000000));"


def compare_sqlite(fieldcost, directory, names):
    row = {"library": "libsqlite3.so.0", "call": "sqlite3_step", "metric": "disk_written"}
    if names and row["call"] not in names and row["library"] not in names:
        return
    if not shutil.which("sqlite3") or not shutil.which("strace"):
        yield {**row, "missing": True}
        return
    traced = subprocess.run(["strace", "-f", "-e", "trace=write,pwrite64", "-y", "sqlite3", f"{directory}/a.db", SQL],
                            capture_output=True, text=True, timeout=120, check=True).stderr
    truth = sum(int(found) for found in re.findall(r"write(?:64)?\(\d+<[^>]*a\.db[^>]*>.*= (\d+)", traced))
    state = {**os.environ, "HOME": directory, "XDG_STATE_HOME": f"{directory}/state",
             "XDG_CONFIG_HOME": f"{directory}/config"}
    state.pop("XDG_RUNTIME_DIR", None)
    subprocess.run([fieldcost, "agent", "local"], env=state, capture_output=True, check=False)
    subprocess.run([fieldcost, "run", "--pick", "libsqlite3.so.0!sqlite3_step", "--metrics", "io", "--", "sqlite3",
                    f"{directory}/b.db", SQL], env=state, capture_output=True, timeout=120, check=True)
    told = json.loads(output_of([fieldcost, "show", "--local", "--json", "sqlite3_step"], env=state))
    found = [r["metrics"]["disk_written"] for r in told["rows"] if "disk_written" in r["metrics"]]
    yield {**row, "fieldcost": int(found[0]["all_calls"]["sum"]) if found else None, "truth": truth}


def is_wrong(row):
    if "missing" in row:
        return False
    if row["call"] in LOADING:
        return row["fieldcost"] > row["truth"]
    return row["fieldcost"] != row["truth"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    fieldcost = os.path.abspath(f"{options.build}/bin/fieldcost")
    wrong = False
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        for compare in (compare_allocations, compare_sqlite):
            for row in compare(fieldcost, directory, options.names):
                wrong = wrong or is_wrong(row)
                if options.json:
                    print(json.dumps(row), flush=True)
                else:
                    numbers = "missing" if "missing" in row else f"{row['fieldcost']} | {row['truth']}"
                    print(f"| {row['library']} | {row['call']} | {row['metric']} | {numbers} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The kernel types that the program in the kernel uses. Members' offsets are resolved from the
 * running kernel's BTF when it is loaded (CO-RE), so no kernel headers are needed. */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#ifdef __bpf__
#define CORE __attribute__((preserve_access_index))
#else
#define CORE
#endif

struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, orig_ax, ip, sp;
} CORE;

struct mm_struct;
struct task_struct {
  int pid;
  int tgid;
  unsigned int flags;
  unsigned int __state;
  struct mm_struct* mm;
} CORE;

struct bpf_iter__task {
  struct task_struct* task;
} CORE;

enum bpf_map_type {
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_RINGBUF = 27,
  BPF_MAP_TYPE_TASK_STORAGE = 29
};
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1 };
enum { BPF_ANY = 0 };

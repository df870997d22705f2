/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The part of `fieldcost idle` that runs in the kernel, at each context switch: it determines which
 * monitored thread left a CPU idle, for how long, and which one resumed. Its events are in
 * idle_events.h. Before it runs, the kernel verifies that it terminates and accesses only permitted
 * memory. It calls helpers that are available to GPL programs only, so this file has that licence,
 * too.
 */
#include "agent/idle/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "agent/idle/idle_events.h"

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define PAGE_BYTES 4096

char kLicense[] SEC("license") = "Dual BSD/GPL";

const volatile struct fc_settings settings;

/* The state of a monitored thread. */
struct thread {
  struct fc_stack stack; /* as it was when it last left a CPU */
  struct fc_stack waker_stack;
  __u64 waker;
  __u32 waker_kind;
  __u32 is_sent; /* `stack` */
  __u32 waker_is_sent;
  __u32 slot_cpu; /* 1 + the CPU that it last left; 0: none */
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread);
} threads SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, FC_MOST_CPUS);
  __type(key, __u32);
  __type(value, struct fc_cpu);
} cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 23);
} events SEC(".maps");

/* The number of CPUs that are idle now. */
static __u32 idle_cpus;

static struct fc_cpu* CpuAt(__u32 number) { return bpf_map_lookup_elem(&cpus, &number); }

static void Tell(struct fc_cpu* cpu, void* event, __u64 bytes) {
  if (bpf_ringbuf_output(&events, event, bytes, BPF_RB_NO_WAKEUP) != 0) ++cpu->lost_events;
}

static void SendStack(struct fc_cpu* cpu, struct fc_stack* stack) {
  __u64 bytes = stack->bytes;
  if (bytes > FC_STACK_BYTES) return;
  Tell(cpu, stack, __builtin_offsetof(struct fc_stack, stack) + bytes);
}

/* Copies the user-mode registers and stack of `task`, the current thread. */
static void TakeStack(struct fc_cpu* cpu, __u32 cpu_number, struct task_struct* task,
                      struct fc_stack* stack, __u64 now) {
  const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
  stack->kind = FC_STACK;
  stack->pid = task->tgid;
  stack->tid = task->pid;
  stack->number = ((__u64)cpu_number << 48) + FC_FIRST_STACK + cpu->stacks++;
  stack->time = now;
  stack->bytes = 0;
  stack->call = (__s64)regs->orig_ax;
  if (!task->mm || (task->flags & PF_EXITING)) return;
  stack->ip = regs->ip;
  stack->sp = regs->sp;
  stack->bp = regs->bp;
  stack->bx = regs->bx;
  stack->r12 = regs->r12;
  stack->r13 = regs->r13;
  stack->r14 = regs->r14;
  stack->r15 = regs->r15;
  if (bpf_probe_read_user(stack->stack, FC_STACK_BYTES, (const void*)stack->sp) == 0) {
    stack->bytes = FC_STACK_BYTES;
    return;
  }
  /* The stack may end earlier: copies up to the end of the page. */
  __u32 bytes = PAGE_BYTES - (stack->sp & (PAGE_BYTES - 1));
  if (bytes >= FC_STACK_BYTES) return;
  if (bpf_probe_read_user(stack->stack, bytes, (const void*)stack->sp) == 0) stack->bytes = bytes;
}

static void TellIdle(struct fc_cpu* cpu, struct fc_idle* idle) {
  if (bpf_ringbuf_output(&events, idle, sizeof *idle, BPF_RB_NO_WAKEUP) == 0) return;
  ++cpu->lost_events;
  __sync_fetch_and_add(&cpu->lost_ns, idle->end - idle->begin);
}

/* If the thread resumes on another CPU than the one that it left, it no longer explains why that
 * one is idle. */
static void LeaveSlot(struct thread* thread, __u32 here, __u64 now) {
  const __u32 number = thread->slot_cpu - 1;
  thread->slot_cpu = 0;
  if (number == here) return;
  struct fc_cpu* cpu = CpuAt(number);
  if (!cpu) return;
  const __u64 mine = thread->stack.number;
  if (__sync_val_compare_and_swap(&cpu->slot, mine, FC_MOVED) != mine) return;
  const __u64 begin = cpu->idle_begin;
  if (begin == 0 || now <= begin) return;
  if (__sync_val_compare_and_swap(&cpu->idle_begin, begin, now) != begin) return;
  struct fc_idle idle = {.kind = FC_IDLE, .cpu = number, .begin = begin, .end = now, .to = mine};
  TellIdle(cpu, &idle);
}

/* Sets the thread's stack and its waker; sends both stacks unless they have been sent. */
static void SetFrom(struct fc_cpu* cpu, struct thread* thread, struct fc_from* from) {
  from->stack = thread->stack.number ? thread->stack.number : FC_NEW;
  if (thread->stack.number && !thread->is_sent) {
    SendStack(cpu, &thread->stack);
    thread->is_sent = 1;
  }
  from->waker_kind = thread->waker_kind;
  if (thread->waker_kind != FC_WAKER_STACK) return;
  from->waker = thread->waker;
  if (!thread->waker_is_sent) {
    SendStack(cpu, &thread->waker_stack);
    thread->waker_is_sent = 1;
  }
}

static void LeaveCpu(struct fc_cpu* cpu, __u32 number, struct task_struct* prev,
                     struct thread* thread, __u64 now, int is_followed) {
  ++cpu->switches;
  TakeStack(cpu, number, prev, &thread->stack, now);
  thread->stack.state = prev->__state;
  thread->waker_kind = FC_WAKER_UNKNOWN;
  thread->is_sent = 0;
  thread->slot_cpu = number + 1;
  cpu->slot = thread->stack.number;
  /* It may have left the CPU idle, unless another monitored thread follows. */
  if (is_followed) return;
  SendStack(cpu, &thread->stack);
  thread->is_sent = 1;
}

static void BeginIdle(struct fc_cpu* cpu, __u64 now) {
  if (!cpu->since) __sync_fetch_and_add(&idle_cpus, 1);
  cpu->since = now;
  __sync_lock_test_and_set(&cpu->idle_begin, now);
}

static void EndIdle(struct fc_cpu* cpu, __u64 now, struct fc_idle* idle) {
  idle->end = now;
  idle->begin = __sync_lock_test_and_set(&cpu->idle_begin, 0);
  idle->to = cpu->slot;
  if (idle->begin) cpu->somebody = 1;
  if (!cpu->since) return;
  if (now > cpu->since) cpu->idle_ns += now - cpu->since;
  cpu->since = 0;
  __sync_fetch_and_add(&idle_cpus, -1);
}

SEC("tp_btf/sched_switch")
int OnSwitch(__u64* context) {
  struct task_struct* prev = (struct task_struct*)context[1];
  struct task_struct* next = (struct task_struct*)context[2];
  const __u32 number = bpf_get_smp_processor_id();
  struct fc_cpu* cpu = CpuAt(number);
  if (!cpu) return 0;
  const __u64 now = bpf_ktime_get_ns();

  struct thread* entering = next->pid ? bpf_task_storage_get(&threads, next, 0, 0) : 0;

  struct fc_idle idle = {.kind = FC_IDLE, .cpu = number};
  if (prev->pid == 0) {
    EndIdle(cpu, now, &idle);
  } else {
    struct thread* leaving = bpf_task_storage_get(&threads, prev, 0, 0);
    if (leaving) LeaveCpu(cpu, number, prev, leaving, now, entering != 0);
  }

  if (next->pid == 0) {
    BeginIdle(cpu, now);
    return 0;
  }
  if (entering) {
    if (entering->slot_cpu) LeaveSlot(entering, number, now);
    if (cpu->somebody) {
      cpu->somebody = 0;
      SetFrom(cpu, entering, &idle.from);
    }
  }
  if (idle.begin && idle.end > idle.begin) {
    TellIdle(cpu, &idle);
  } else if (idle.from.stack) {
    struct fc_on on = {.kind = FC_ON, .cpu = number, .time = now, .from = idle.from};
    Tell(cpu, &on, sizeof on);
  }
  return 0;
}

/* The kernel does not report the switches of some threads (of pid 1 of some virtual machines;
 * measured on Linux 6.18): idle periods after them begin here. */
SEC("tp_btf/cpu_idle")
int OnIdle(__u64* context) {
  const __u32 kEnd = 0xffffffff; /* PWR_EVENT_EXIT */
  struct fc_cpu* cpu = CpuAt(bpf_get_smp_processor_id());
  if (cpu && (__u32)context[0] != kEnd && !cpu->since) BeginIdle(cpu, bpf_ktime_get_ns());
  return 0;
}

SEC("tp_btf/sched_waking")
int OnWaking(__u64* context) {
  struct task_struct* woken = (struct task_struct*)context[0];
  struct thread* thread = bpf_task_storage_get(&threads, woken, 0, 0);
  if (!thread) return 0;
  thread->waker_is_sent = 0;
  thread->waker_kind = FC_WAKER_UNKNOWN;
  if (idle_cpus == 0) return 0; /* it cannot end an idle period */
  struct task_struct* waker = bpf_get_current_task_btf();
  if (waker->pid == 0) {
    thread->waker_kind = FC_WAKER_INTERRUPT;
    return 0;
  }
  if (waker->flags & PF_KTHREAD) {
    thread->waker_kind = FC_WAKER_KERNEL;
    return 0;
  }
  const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(waker);
  /* Not in a system call: it was interrupted while it ran. */
  if ((__s64)regs->orig_ax < 0) {
    thread->waker_kind = FC_WAKER_INTERRUPT;
    return 0;
  }
  if (!bpf_task_storage_get(&threads, waker, 0, 0)) {
    thread->waker_kind = FC_WAKER_OTHER;
    return 0;
  }
  const __u32 number = bpf_get_smp_processor_id();
  struct fc_cpu* cpu = CpuAt(number);
  if (!cpu) return 0;
  TakeStack(cpu, number, waker, &thread->waker_stack, bpf_ktime_get_ns());
  thread->waker_stack.is_running = 1;
  thread->waker = thread->waker_stack.number;
  thread->waker_kind = FC_WAKER_STACK;
  return 0;
}

/* Threads and processes started by monitored ones are monitored, too. */
SEC("tp_btf/task_newtask")
int OnNewTask(__u64* context) {
  struct task_struct* task = (struct task_struct*)context[0];
  if (!task->mm || task->tgid == settings.not_pid) return 0;
  if (!settings.all && !bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0)) return 0;
  bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  return 0;
}

/* Marks the existing threads that are monitored; runs once, at the beginning. */
SEC("iter/task")
int MarkTasks(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task || !task->mm) return 0;
  if (task->tgid == settings.not_pid) return 0;
  if (settings.pid_to_mark && task->tgid != settings.pid_to_mark) return 0;
  bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  return 0;
}

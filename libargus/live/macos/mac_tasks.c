/* What Mach tells of tasks: registers, memory and ports. Never run on a Mac (docs/macos.md).
 *
 * task_for_pid() gives a right to a task only to root and to programs with the debugger's
 * entitlement (com.apple.security.cs.debugger), and never to Apple's own and hardened programs while
 * System Integrity Protection is on. Nothing is changed by it: the calls here read. The exception is
 * mac_hold(), which suspends a task that runs for a moment; task_suspend2() gives a token, and the
 * kernel resumes the task when the last right to that ends, as at argus's own end (xnu
 * osfmk/kern/task.c, task_suspension_no_senders).
 *
 * thread_get_state() takes the registers of a thread that waits without waking it: the thread is
 * held while it cannot run anyway (xnu osfmk/kern/thread_act.c, thread_get_state_internal). */
#include <assert.h>
#include <mach/mach.h>
#include <mach/mach_port.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "base/vec.h"
#include "live/macos/mac_kernel.h"
#include "live/macos/mac_thread_state.h"

static_assert(MAC_PORT_SEND == MACH_PORT_TYPE_SEND && MAC_PORT_SET == MACH_PORT_TYPE_PORT_SET &&
                  MAC_PORT_RECEIVE == MACH_PORT_TYPE_RECEIVE &&
                  MAC_PORT_SEND_ONCE == MACH_PORT_TYPE_SEND_ONCE,
              "mach/port.h");
static_assert(sizeof(ipc_info_name_t) == 28, "mach_debug/ipc_info.h");

/* --- tasks, each opened once --- */

struct opened {
    uint32_t pid;
    task_t task; /* MACH_PORT_NULL: not allowed */
};

/* Of all snapshots that are open. */
static VEC(struct opened) tasks;

static task_t task_of(uint32_t pid)
{
    for (size_t i = 0; i < tasks.length; i++)
        if (tasks.data[i].pid == pid)
            return tasks.data[i].task;
    struct opened opened = {.pid = pid, .task = MACH_PORT_NULL};
    if (task_for_pid(mach_task_self(), (int)pid, &opened.task) != KERN_SUCCESS)
        opened.task = MACH_PORT_NULL;
    if (!vec_push(&tasks, opened) && opened.task) {
        mach_port_deallocate(mach_task_self(), opened.task);
        return MACH_PORT_NULL;
    }
    return opened.task;
}

void mac_close_tasks(void)
{
    for (size_t i = 0; i < tasks.length; i++)
        if (tasks.data[i].task)
            mach_port_deallocate(mach_task_self(), tasks.data[i].task);
    vec_deinit(&tasks);
}

enum argus_live_denied mac_access(uint32_t pid)
{
    struct mac_process process;
    if (task_of(pid))
        return ARGUS_LIVE_READABLE;
    return geteuid() != 0 && mac_process(pid, &process) && process.uid != geteuid()
               ? ARGUS_LIVE_DENIED_OWNER
               : ARGUS_LIVE_DENIED_TASK;
}

uint32_t mac_task_suspends(uint32_t pid)
{
    struct mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    task_t task = task_of(pid);
    return task && task_info(task, MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) == KERN_SUCCESS
               ? (uint32_t)info.suspend_count
               : 0;
}

uint64_t mac_images_address(uint32_t pid)
{
    struct task_dyld_info info;
    mach_msg_type_number_t count = TASK_DYLD_INFO_COUNT;
    task_t task = task_of(pid);
    return task && task_info(task, TASK_DYLD_INFO, (task_info_t)&info, &count) == KERN_SUCCESS &&
                   info.all_image_info_format == TASK_DYLD_ALL_IMAGE_INFO_64
               ? info.all_image_info_addr
               : 0;
}

bool mac_memory(uint32_t pid, uint64_t address, void *ret, size_t bytes)
{
    vm_size_t got = 0;
    task_t task = task_of(pid);
    return task &&
           vm_read_overwrite(task, (vm_address_t)address, bytes, (vm_address_t)ret, &got) ==
               KERN_SUCCESS &&
           got == bytes;
}

bool mac_hold(uint32_t pid, uint32_t *ret_token)
{
    task_t task = task_of(pid);
    return task && task_suspend2(task, ret_token) == KERN_SUCCESS;
}

void mac_release(uint32_t token)
{
    task_resume2(token);
}

/* --- threads --- */

#if defined(__aarch64__)
static bool read_registers(thread_t thread, struct mac_thread *ret)
{
    arm_thread_state64_t state;
    mach_msg_type_number_t count = ARM_THREAD_STATE64_COUNT;
    if (thread_get_state(thread, ARM_THREAD_STATE64, (thread_state_t)&state, &count) !=
        KERN_SUCCESS)
        return false;
    ret->is_arm64 = true;
    ret->number = state.__x[16];
    memcpy(ret->arg, state.__x, sizeof(ret->arg));
    ret->pc = arm_thread_state64_get_pc(state);
    ret->sp = arm_thread_state64_get_sp(state);
    ret->fp = arm_thread_state64_get_fp(state);
    ret->lr = arm_thread_state64_get_lr(state);
    return true;
}
#else
static bool read_registers(thread_t thread, struct mac_thread *ret)
{
    x86_thread_state64_t state;
    mach_msg_type_number_t count = x86_THREAD_STATE64_COUNT;
    if (thread_get_state(thread, x86_THREAD_STATE64, (thread_state_t)&state, &count) !=
        KERN_SUCCESS)
        return false;
    const uint64_t arg[] = {state.__rdi, state.__rsi, state.__rdx,
                            state.__r10, state.__r8,  state.__r9};
    ret->is_arm64 = false;
    ret->number = state.__rax;
    memcpy(ret->arg, arg, sizeof(arg));
    ret->pc = state.__rip;
    ret->sp = state.__rsp;
    ret->fp = state.__rbp;
    return true;
}
#endif

static bool identity_of(thread_t thread, thread_identifier_info_data_t *ret)
{
    mach_msg_type_number_t count = THREAD_IDENTIFIER_INFO_COUNT;
    return thread_info(thread, THREAD_IDENTIFIER_INFO, (thread_info_t)ret, &count) == KERN_SUCCESS;
}

static bool basics_of(thread_t thread, thread_basic_info_data_t *ret)
{
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    return thread_info(thread, THREAD_BASIC_INFO, (thread_info_t)ret, &count) == KERN_SUCCESS;
}

static void add_registers(thread_t thread, struct mac_thread *ret)
{
    thread_basic_info_data_t basics;
    if (basics_of(thread, &basics))
        ret->suspends = (uint32_t)basics.suspend_count;
    ret->has_registers = read_registers(thread, ret);
}

/* Calls `take` for each thread of the task. */
typedef void take_thread(thread_t thread, void *context);

static void each_thread(uint32_t pid, take_thread *take, void *context)
{
    thread_act_array_t threads;
    mach_msg_type_number_t count;
    task_t task = task_of(pid);
    if (!task || task_threads(task, &threads, &count) != KERN_SUCCESS)
        return;
    for (mach_msg_type_number_t i = 0; i < count; i++) {
        take(threads[i], context);
        mach_port_deallocate(mach_task_self(), threads[i]);
    }
    vm_deallocate(mach_task_self(), (vm_address_t)threads, count * sizeof(*threads));
}

struct listed {
    struct mac_thread *threads;
    size_t count;
};

static void take_listed(thread_t thread, void *context)
{
    struct listed *listed = context;
    thread_identifier_info_data_t identity;
    if (!identity_of(thread, &identity))
        return;
    for (size_t i = 0; i < listed->count; i++)
        if (listed->threads[i].handle == identity.thread_handle) {
            listed->threads[i].id = identity.thread_id;
            add_registers(thread, &listed->threads[i]);
        }
}

void mac_add_registers(uint32_t pid, struct mac_thread *threads, size_t count)
{
    struct listed listed = {threads, count};
    each_thread(pid, take_listed, &listed);
}

struct wanted {
    uint32_t tid;
    bool only_state, is_found;
    struct mac_thread *ret;
};

static void take_wanted(thread_t thread, void *context)
{
    struct wanted *wanted = context;
    thread_identifier_info_data_t identity;
    thread_basic_info_data_t basics;
    if (!identity_of(thread, &identity) || (uint32_t)identity.thread_id != wanted->tid ||
        !basics_of(thread, &basics))
        return;
    *wanted->ret = (struct mac_thread){.handle = identity.thread_handle,
                                       .id = identity.thread_id,
                                       .run_state = (uint32_t)basics.run_state};
    wanted->is_found = true;
    if (!wanted->only_state)
        add_registers(thread, wanted->ret);
}

bool mac_thread(uint32_t pid, uint32_t tid, struct mac_thread *ret)
{
    struct wanted wanted = {.tid = tid, .ret = ret};
    each_thread(pid, take_wanted, &wanted);
    return wanted.is_found;
}

bool mac_is_running(uint32_t pid, uint32_t tid)
{
    struct mac_thread thread;
    struct wanted wanted = {.tid = tid, .only_state = true, .ret = &thread};
    each_thread(pid, take_wanted, &wanted);
    return wanted.is_found && thread.run_state == MAC_RUNNING;
}

/* --- ports --- */

static size_t copy_ports(const ipc_info_name_t *names, size_t count, struct mac_port **ret)
{
    size_t used = 0;
    *ret = count ? calloc(count, sizeof(**ret)) : NULL;
    for (size_t i = 0; *ret && i < count; i++)
        if (names[i].iin_type)
            (*ret)[used++] =
                (struct mac_port){names[i].iin_name, names[i].iin_type, names[i].iin_object};
    return used;
}

size_t mac_ports(uint32_t pid, struct mac_port **ret)
{
    ipc_info_space_t space;
    ipc_info_name_array_t names = NULL;
    ipc_info_tree_name_array_t tree = NULL;
    mach_msg_type_number_t count = 0, tree_count = 0;
    task_t task = task_of(pid);
    *ret = NULL;
    if (!task ||
        mach_port_space_info(task, &space, &names, &count, &tree, &tree_count) != KERN_SUCCESS)
        return 0;
    size_t used = copy_ports(names, count, ret);
    vm_deallocate(mach_task_self(), (vm_address_t)names, count * sizeof(*names));
    if (tree_count)
        vm_deallocate(mach_task_self(), (vm_address_t)tree, tree_count * sizeof(*tree));
    return used;
}

bool mac_port_queue(uint32_t pid, uint32_t name, uint32_t *ret_messages)
{
    mach_port_status_t status;
    mach_msg_type_number_t count = MACH_PORT_RECEIVE_STATUS_COUNT;
    task_t task = task_of(pid);
    *ret_messages = 0;
    if (!task || mach_port_get_attributes(task, name, MACH_PORT_RECEIVE_STATUS,
                                          (mach_port_info_t)&status, &count) != KERN_SUCCESS)
        return false;
    *ret_messages = status.mps_msgcount;
    return true;
}

bool mac_port_is_kernels(uint32_t pid, uint32_t name)
{
    natural_t type = 0;
    mach_vm_address_t address;
    task_t task = task_of(pid);
    return task && mach_port_kobject(task, name, &type, &address) == KERN_SUCCESS && type != 0;
}

#include "event/machine.h"

#include <stdlib.h>
#include <string.h>

struct argus_error *machine_init(struct machine *machine, const struct argus_trace *trace)
{
    *machine = (struct machine){.trace = trace,
                                .names = strtab_create(),
                                .darwin = argus_trace_header(trace)->os == ARGUS_OS_DARWIN};
    if (!machine->names)
        return argus_error_memory();
    return machine_sort_tables(machine);
}

void machine_deinit(struct machine *machine)
{
    strtab_destroy(machine->names);
    vec_deinit(&machine->processes);
    vec_deinit(&machine->threads);
    vec_deinit(&machine->origins);
    idmap_deinit(&machine->thread_by_tid);
    idmap_deinit(&machine->process_by_pid);
    idmap_deinit(&machine->gone_by_tid);
    vec_deinit(&machine->by_tid);
    vec_deinit(&machine->by_time);
}

uint32_t machine_add_process(struct machine *machine, uint64_t pid)
{
    uint32_t at = (uint32_t)machine->processes.length;
    struct argus_process process = {
        .pid = pid,
        .end_ns = UINT64_MAX,
        .name = "",
        .main_thread = ARGUS_NONE,
        .forked_from = ARGUS_NONE,
    };
    if (!vec_push(&machine->processes, process) || !idmap_put(&machine->process_by_pid, pid, at)) {
        machine->no_memory = true;
        return ARGUS_NONE;
    }
    return at;
}

uint32_t machine_process(struct machine *machine, uint64_t pid)
{
    uint32_t process = idmap_get(&machine->process_by_pid, pid);
    return process == IDMAP_NONE ? machine_add_process(machine, pid) : process;
}

static uint32_t add_thread(struct machine *machine, uint64_t tid, uint32_t process,
                           uint64_t start_ns, enum machine_source source)
{
    uint32_t at = (uint32_t)machine->threads.length;
    struct argus_thread thread = {
        .tid = tid, .start_ns = start_ns, .end_ns = UINT64_MAX, .name = "", .process = process};
    struct machine_origin origin = {.source = (uint8_t)source};
    if (process == ARGUS_NONE || !vec_reserve(&machine->origins, 1) ||
        !vec_push(&machine->threads, thread) || !idmap_put(&machine->thread_by_tid, tid, at)) {
        machine->no_memory = true;
        return ARGUS_NONE;
    }
    machine->origins.data[machine->origins.length++] = origin;
    return at;
}

uint32_t machine_find_thread(const struct machine *machine, uint64_t tid)
{
    return tid ? idmap_get(&machine->thread_by_tid, tid) : ARGUS_NONE;
}

static void add_idle(struct machine *machine)
{
    uint32_t thread = add_thread(machine, 0, machine_process(machine, 0), 0, MACHINE_KNOWN);
    if (thread == ARGUS_NONE)
        return;
    machine->threads.data[thread].idle = true;
    machine->threads.data[thread].name = "idle";
    machine->processes.data[machine->threads.data[thread].process].kernel = true;
}

uint32_t machine_thread(struct machine *machine, uint64_t tid)
{
    uint32_t thread = idmap_get(&machine->thread_by_tid, tid);
    if (tid == 0) {
        if (thread == IDMAP_NONE)
            add_idle(machine);
        return ARGUS_NONE;
    }
    if (thread != IDMAP_NONE)
        return thread;
    thread = add_thread(machine, tid, machine_process(machine, tid), 0, MACHINE_UNKNOWN);
    if (thread != ARGUS_NONE)
        machine_first_sight(machine, thread, tid);
    return thread;
}

/* The process of a new_thread record: a new life of its ID, or the existing life. */
static uint32_t process_of_new(struct machine *machine, const struct argus_record *record,
                               uint32_t creator, uint64_t now_ns)
{
    bool is_new = record->arg[2] == 1;
    if (!is_new)
        return machine_process(machine, record->arg[1]);
    uint32_t process = machine_add_process(machine, record->arg[1]);
    if (process == ARGUS_NONE)
        return process;
    struct argus_process *made = &machine->processes.data[process];
    made->start_ns = now_ns;
    made->parent_pid = record->arg[3];
    if (creator != ARGUS_NONE) {
        made->forked_from = machine->threads.data[creator].process;
        made->kernel = machine->processes.data[made->forked_from].kernel;
    }
    return process;
}

uint32_t machine_new_thread(struct machine *machine, const struct argus_record *record,
                            uint32_t creator, uint64_t now_ns)
{
    uint64_t tid = record->arg[0];
    uint32_t earlier = machine_find_thread(machine, tid);
    if (tid == 0)
        return ARGUS_NONE;
    if (earlier != ARGUS_NONE) {
        if (machine->origins.data[earlier].source == MACHINE_LATER)
            machine_forget(machine, earlier);
        machine_thread_gone(machine, earlier, now_ns);
    }
    uint32_t process = process_of_new(machine, record, creator, now_ns);
    uint32_t thread = add_thread(machine, tid, process, now_ns, MACHINE_KNOWN);
    if (thread != ARGUS_NONE && creator != ARGUS_NONE)
        machine->threads.data[thread].name = machine->threads.data[creator].name;
    return thread;
}

void machine_thread_exit(struct machine *machine, uint32_t thread, bool last, uint64_t now_ns)
{
    struct argus_thread *exiting = &machine->threads.data[thread];
    if (exiting->end_ns == UINT64_MAX)
        exiting->end_ns = now_ns;
    if (last)
        machine->processes.data[exiting->process].end_ns = now_ns;
}

void machine_thread_gone(struct machine *machine, uint32_t thread, uint64_t now_ns)
{
    struct argus_thread *gone = &machine->threads.data[thread];
    if (gone->end_ns == UINT64_MAX)
        gone->end_ns = now_ns;
    /* not a later life of the ID */
    bool named = idmap_get(&machine->thread_by_tid, gone->tid) == thread;
    if ((named && !idmap_put(&machine->thread_by_tid, gone->tid, IDMAP_NONE)) ||
        !idmap_put(&machine->gone_by_tid, gone->tid, thread))
        machine->no_memory = true;
}

void machine_exec(struct machine *machine, uint32_t thread, uint64_t now_ns)
{
    struct argus_process *process = &machine->processes.data[machine->threads.data[thread].process];
    process->exec_ns = now_ns;
    process->kernel = false; /* a kernel helper thread that executed a program */
}

static const char *keep_name(struct machine *machine, const char *name)
{
    uint32_t id;
    struct argus_error *error = strtab_intern(machine->names, name, strlen(name), &id);
    if (error) {
        argus_error_destroy(error);
        machine->no_memory = true;
        return "";
    }
    return strtab_get(machine->names, id);
}

bool machine_is_kernel_thread(const struct machine *machine, uint32_t thread, const char *prefix)
{
    const struct argus_thread *at = &machine->threads.data[thread];
    return machine->processes.data[at->process].kernel && at->name &&
           strncmp(at->name, prefix, strlen(prefix)) == 0;
}

void machine_rename(struct machine *machine, uint32_t thread, const char *name)
{
    machine->threads.data[thread].name = keep_name(machine, name);
}

void machine_rename_process(struct machine *machine, uint32_t process, const char *name)
{
    machine->processes.data[process].name = keep_name(machine, name);
}

void machine_belongs(struct machine *machine, uint32_t thread, uint64_t pid)
{
    if (machine->origins.data[thread].source != MACHINE_UNKNOWN || !pid)
        return;
    machine->origins.data[thread].source = MACHINE_KNOWN;
    uint32_t process = machine_process(machine, pid);
    if (process != ARGUS_NONE)
        machine->threads.data[thread].process = process;
}

/* Removes processes all of whose threads were reassigned to another process by a better source; the
 * others keep their order. */
static void drop_empty_processes(struct machine *machine)
{
    size_t count = machine->processes.length, kept = 0;
    uint32_t *moved_to = malloc((count + 1) * sizeof(*moved_to));
    if (!moved_to) {
        machine->no_memory = true;
        return;
    }
    memset(moved_to, 0xff, (count + 1) * sizeof(*moved_to));
    for (size_t i = 0; i < machine->threads.length; i++)
        moved_to[machine->threads.data[i].process] = 0;
    for (size_t i = 0; i < count; i++) {
        if (moved_to[i] == ARGUS_NONE)
            continue;
        moved_to[i] = (uint32_t)kept;
        machine->processes.data[kept++] = machine->processes.data[i];
    }
    machine->processes.length = kept;
    for (size_t i = 0; i < machine->threads.length; i++)
        machine->threads.data[i].process = moved_to[machine->threads.data[i].process];
    for (size_t i = 0; i < kept; i++) {
        uint32_t *from = &machine->processes.data[i].forked_from;
        *from = *from == ARGUS_NONE ? ARGUS_NONE : moved_to[*from];
    }
    free(moved_to);
}

/* Darwin: IDs ascend while the system runs, so the main thread of a process is the one with the
 * smallest ID. After an exec, it is the new thread. */
static bool is_first_thread(const struct machine *machine, const struct argus_process *process,
                            const struct argus_thread *thread)
{
    if (process->main_thread == ARGUS_NONE)
        return true;
    const struct argus_thread *first = &machine->threads.data[process->main_thread];
    bool first_left = process->exec_ns && first->end_ns != UINT64_MAX &&
                      first->start_ns < process->exec_ns && thread->end_ns > first->end_ns;
    return first_left || thread->tid < first->tid;
}

static void name_darwin_processes(struct machine *machine)
{
    for (size_t i = 0; i < machine->threads.length; i++) {
        const struct argus_thread *thread = &machine->threads.data[i];
        struct argus_process *process = &machine->processes.data[thread->process];
        if (is_first_thread(machine, process, thread))
            process->main_thread = (uint32_t)i;
        if (!process->name[0])
            process->name = thread->name;
    }
}

static void name_processes(struct machine *machine)
{
    if (machine->darwin) {
        name_darwin_processes(machine);
        return;
    }
    for (size_t i = 0; i < machine->threads.length; i++) {
        const struct argus_thread *thread = &machine->threads.data[i];
        struct argus_process *process = &machine->processes.data[thread->process];
        bool is_main = thread->tid == process->pid;
        if (is_main)
            process->main_thread = (uint32_t)i;
        if (is_main || (process->main_thread == ARGUS_NONE && !process->name[0]))
            process->name = thread->name;
    }
}

void machine_finish(struct machine *machine)
{
    machine_apply_tables(machine, UINT64_MAX);
    drop_empty_processes(machine);
    name_processes(machine);
}

/* The lives of threads and processes, according to the records and thread tables of a trace.
 *
 * A thread ID belongs to one *life* until the thread is gone or the ID is reused. A life begins
 * with a new_thread record, or with the first record that has an unknown ID: then it began before
 * the trace, and the thread table describes it. Tables are applied at the time at which they were
 * valid. A life that occurs before any table describes it takes the first later entry of its ID; if
 * the ID is reused before that entry, the life loses the entry again.
 */
#ifndef ARGUS_EVENT_MACHINE_H
#define ARGUS_EVENT_MACHINE_H

#include "argus/event.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"

/* The source of a thread's name and process. */
enum machine_source {
    MACHINE_UNKNOWN, /* none yet: no name, and a process of its own */
    MACHINE_LATER,   /* a table that was valid later than the thread's first record */
    MACHINE_KNOWN,
};

struct machine_origin {
    uint64_t seen_ns; /* MACHINE_LATER: when the table entry was valid */
    uint8_t source;   /* enum machine_source */
};

struct machine_table_row {
    uint64_t tid, seen_ns;
    uint32_t entry; /* index into the trace's thread entries */
};

struct machine {
    const struct argus_trace *trace; /* borrowed */
    struct strtab *names;            /* owned */
    VEC(struct argus_process) processes;
    VEC(struct argus_thread) threads;
    VEC(struct machine_origin) origins;         /* of each thread */
    struct idmap thread_by_tid, process_by_pid; /* the current life of an ID */
    struct idmap gone_by_tid;                   /* the last life of an ID that has no current one */
    VEC(struct machine_table_row) by_tid;       /* table rows by tid, then time */
    VEC(struct machine_table_row) by_time;      /* table rows by time, then file order */
    size_t next_row;                            /* of by_time */
    uint64_t next_row_ns;                       /* its time; UINT64_MAX after the last */
    bool darwin;    /* threads and processes have separate names and numbers */
    bool no_memory; /* sticky: something could not be kept */
};

struct argus_error *machine_init(struct machine *machine, const struct argus_trace *trace);
void machine_deinit(struct machine *machine);

/* The error behind `no_memory`: the file asks for more than it may, or there is no memory. */
struct argus_error *machine_memory_error(const struct machine *machine);

/* The current life of `tid`, created if needed. ARGUS_NONE for the idle thread (tid 0) and without
 * memory. */
uint32_t machine_thread(struct machine *machine, uint64_t tid);

/* The same, but ARGUS_NONE if there is none. */
uint32_t machine_find_thread(const struct machine *machine, uint64_t tid);

/* Thread `creator` (ARGUS_NONE: unknown) creates a thread at `now_ns`. Ends an earlier life of
 * `tid`. */
uint32_t machine_new_thread(struct machine *machine, const struct argus_record *record,
                            uint32_t creator, uint64_t now_ns);

/* `thread` has exited; `last`: and so has its process. The ID belongs to it until
 * machine_thread_gone(). */
void machine_thread_exit(struct machine *machine, uint32_t thread, bool last, uint64_t now_ns);
void machine_thread_gone(struct machine *machine, uint32_t thread, uint64_t now_ns);

/* Whether it is a kernel thread whose name begins with `prefix`: only the name tells its
 * purpose. */
bool machine_is_kernel_thread(const struct machine *machine, uint32_t thread, const char *prefix);

void machine_exec(struct machine *machine, uint32_t thread, uint64_t now_ns);
void machine_rename(struct machine *machine, uint32_t thread, const char *name);

/* Darwin: the name of a process, which differs from those of its threads. */
void machine_rename_process(struct machine *machine, uint32_t process, const char *name);

/* A record says that `thread` belongs to process `pid`; used if no better source is known. */
void machine_belongs(struct machine *machine, uint32_t thread, uint64_t pid);

/* Applies the table entries that were valid at or before `now_ns`. To be called when
 * machine->next_row_ns <= now_ns. */
void machine_apply_tables(struct machine *machine, uint64_t now_ns);

/* To call after the last record: applies the remaining tables, names processes, and removes
 * processes without threads. */
void machine_finish(struct machine *machine);

/* For machine_tables.c. */
uint32_t machine_add_process(struct machine *machine, uint64_t pid);
uint32_t machine_process(struct machine *machine, uint64_t pid);
struct argus_error *machine_sort_tables(struct machine *machine);
void machine_first_sight(struct machine *machine, uint32_t thread, uint64_t tid);
void machine_forget(struct machine *machine, uint32_t thread);

#endif

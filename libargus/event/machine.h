/* The lives of threads and processes, as the records and the thread tables of a trace tell them.
 *
 * A thread id names a *life* until the thread is gone or the id is given away again. A life is known from a new_thread
 * record, or because a record names an id that is not known yet: then it began before the trace, and the thread table
 * says what it was. Tables are applied at the time at which they were true; a life that is met before any table
 * told of it takes the first later entry of its id, and gives it back should the id be given away before that.
 */
#ifndef ARGUS_EVENT_MACHINE_H
#define ARGUS_EVENT_MACHINE_H

#include "argus/event.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"

/* What is behind a thread's name and process. */
enum machine_source {
    MACHINE_UNKNOWN, /* nothing yet: no name, a process of its own */
    MACHINE_LATER,   /* a table that is true later than the thread was met */
    MACHINE_KNOWN,
};

struct machine_origin {
    uint64_t seen_ns; /* MACHINE_LATER: when the table entry is true */
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
    struct idmap thread_by_tid, process_by_pid; /* the life that an id names now */
    struct idmap gone_by_tid;                   /* the last life of an id that names none */
    VEC(struct machine_table_row) by_tid;       /* table rows by tid, then time */
    VEC(struct machine_table_row) by_time;      /* table rows by time, then file order */
    size_t next_row;                            /* of by_time */
    uint64_t next_row_ns;                       /* its time; UINT64_MAX after the last */
    bool darwin;    /* threads and processes have names and numbers of their own */
    bool no_memory; /* sticky: something could not be kept */
};

struct argus_error *machine_init(struct machine *machine, const struct argus_trace *trace);
void machine_deinit(struct machine *machine);

/* The life that `tid` names; made when there is none. ARGUS_NONE for the idle thread (tid 0) and without memory. */
uint32_t machine_thread(struct machine *machine, uint64_t tid);

/* The same, but ARGUS_NONE when there is none. */
uint32_t machine_find_thread(const struct machine *machine, uint64_t tid);

/* A thread is created at `now_ns` by thread `creator` (ARGUS_NONE: unknown). Ends an earlier life of `tid`. */
uint32_t machine_new_thread(struct machine *machine, const struct argus_record *record,
                            uint32_t creator, uint64_t now_ns);

/* `thread` has exited; `last`: and so has its process. The id still names it until machine_thread_gone(). */
void machine_thread_exit(struct machine *machine, uint32_t thread, bool last, uint64_t now_ns);
void machine_thread_gone(struct machine *machine, uint32_t thread, uint64_t now_ns);

/* A thread of the kernel whose name begins with `prefix`: what it is for is told by nothing else. */
bool machine_is_kernel_thread(const struct machine *machine, uint32_t thread, const char *prefix);

void machine_exec(struct machine *machine, uint32_t thread, uint64_t now_ns);
void machine_rename(struct machine *machine, uint32_t thread, const char *name);

/* Darwin: the name of a process, which is not that of a thread. */
void machine_rename_process(struct machine *machine, uint32_t process, const char *name);

/* A record says that `thread` belongs to process `pid`; used when nothing better is known. */
void machine_belongs(struct machine *machine, uint32_t thread, uint64_t pid);

/* Applies the table entries that are true at `now_ns` or before. Call it when machine->next_row_ns <= now_ns. */
void machine_apply_tables(struct machine *machine, uint64_t now_ns);

/* After the last record: remaining tables, names of processes; processes without threads go. */
void machine_finish(struct machine *machine);

/* For machine_tables.c. */
uint32_t machine_add_process(struct machine *machine, uint64_t pid);
uint32_t machine_process(struct machine *machine, uint64_t pid);
struct argus_error *machine_sort_tables(struct machine *machine);
void machine_first_sight(struct machine *machine, uint32_t thread, uint64_t tid);
void machine_forget(struct machine *machine, uint32_t thread);

#endif

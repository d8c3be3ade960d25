/* Data flags: from the write of a value to the reads that first see it.
 *
 * A shared variable passes causality on without any system call: one thread writes `done`, another
 * one finds it set and continues (paper, section 3.2). The records report each access with its
 * value. A read belongs to the latest write before it. "Before" is decided by sequence numbers, if
 * both accesses have one, because a thread may be delayed between its access and its record;
 * otherwise by the order of the records. The value has to match as well. If it does not, the read's
 * record was delayed, and one of the four writes before that wrote this value is taken; if there is
 * none, the write is missing in the trace, and there is no edge.
 *
 * Sequence numbers are given after the access, in the exception that reports it. So the exception
 * of a read can overtake that of the write whose value it saw. Then nobody has yet written the
 * value that was read, and the write with that value follows within moments.
 *
 * A watchpoint for reads and writes does not tell which of the two happened. The recorder decides
 * by the value; here the instruction is examined (flag_code.c). An instruction that both reads and
 * writes counts as a write if it changed the value (it has read the previous write), else as a
 * read.
 *
 * Processes that share memory have the same flag at different addresses. The records say so
 * (flag_shared), and then there is one flag, with one order of its accesses: that of the records,
 * because each process counts its own.
 *
 * A write causes only the first read of each thread that sees it: later reads tell the thread
 * nothing new.
 */
#include <stdlib.h>

#include "graph/build/handlers.h"
#include "graph/flag_code.h"
#include "graph/rules/flag_state.h"
#include "graph/rules/wakeup.h"

/* A write's record comes at most so long after that of a read that saw the write. The exceptions
 * begin at once; a virtual machine's cpu can stand still before one. */
#define FLAG_MOST_OVERTAKEN_NS 10000000

/* The latest write to a flag that a thread has seen; found by flag and thread. */
struct flag_reader {
    uint32_t seen;
};

/* Shared memory that has a flag. */
struct shared_flag {
    uint64_t inode, device, offset;
    uint32_t one; /* index of the flag whose state is used */
};

struct flags {
    VEC(struct flag_state) all;
    struct idmap by_key;
    VEC(struct shared_flag) shared;
    struct idmap shared_by_key;
    struct flag_code *code; /* owned; NULL until first needed */
    VEC(struct flag_reader) readers;
    struct idmap reader_by_key;
};

struct flags *flags_create(void)
{
    return calloc(1, sizeof(struct flags));
}

void flags_destroy(struct flags *flags)
{
    if (!flags)
        return;
    vec_deinit(&flags->all);
    idmap_deinit(&flags->by_key);
    vec_deinit(&flags->shared);
    idmap_deinit(&flags->shared_by_key);
    flag_code_destroy(flags->code);
    vec_deinit(&flags->readers);
    idmap_deinit(&flags->reader_by_key);
    free(flags);
}

/* Copies the name and semantics of the flag from the trace. */
static void describe(struct builder *builder, struct flag_state *flag)
{
    const struct argus_flag_entry *entry =
        argus_graph_flag(builder->graph, builder->graph->machine.processes.data[flag->process].pid,
                         flag->address, builder->now_ns);
    if (!entry)
        return;
    flag->semantics = entry->semantics;
    flag->bytes = entry->bytes;
    flag->value = entry->value;
}

/* The flag as the process of `thread` has it. */
static struct flag_state *find_own(struct builder *builder, uint32_t thread, uint64_t address)
{
    uint32_t process = builder->graph->machine.threads.data[thread].process;
    uint64_t key = (address ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15u;
    size_t before = builder->flags->all.length;
    uint32_t index = builder_place(builder, &builder->flags->all, &builder->flags->by_key, key);
    if (index == ARGUS_NONE)
        return NULL;
    struct flag_state *flag = &builder->flags->all.data[index];
    bool same = index < before && flag->address == address && flag->process == process;
    if (!same) { /* new, or another flag with the same key, which this one replaces */
        *flag = (struct flag_state){.address = address,
                                    .process = process,
                                    .one = index,
                                    .unmatched = {.by = {.slot = ARGUS_NONE}}};
        describe(builder, flag);
    }
    return flag;
}

/* The flag that the access is to; NULL without memory. */
static struct flag_state *find(struct builder *builder, struct flag_access *access)
{
    struct flag_state *own = find_own(builder, access->by.thread, access->address);
    if (!own)
        return NULL;
    access->watch = (uint32_t)(own - builder->flags->all.data);
    return &builder->flags->all.data[own->one];
}

void graph_on_flag_shared(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    struct flags *flags = builder->flags;
    uint64_t key = (record->arg[1] ^ record->arg[2] << 40) * 0x9e3779b97f4a7c15u ^
                   record->arg[3] * 0xff51afd7ed558ccdu;
    uint32_t thread = builder_thread(builder, record->tid);
    struct flag_state *own =
        thread == ARGUS_NONE ? NULL : find_own(builder, thread, record->arg[0]);
    size_t before = flags->shared.length;
    uint32_t index =
        own ? builder_place(builder, &flags->shared, &flags->shared_by_key, key) : ARGUS_NONE;
    (void)cpu;
    if (index == ARGUS_NONE)
        return;
    struct shared_flag *shared = &flags->shared.data[index];
    bool same = index < before && shared->inode == record->arg[1] &&
                shared->device == record->arg[2] && shared->offset == record->arg[3];
    if (!same)
        *shared = (struct shared_flag){record->arg[1], record->arg[2], record->arg[3], own->one};
    own->one = shared->one;
}

/* Whether `write` came before `read`, as far as their sequence numbers tell. */
static bool comes_before(const struct flag_access *write, const struct flag_access *read)
{
    return write->watch != read->watch || !write->sequence || !read->sequence ||
           write->sequence < read->sequence;
}

/* The write whose value `read` saw; NULL: not in the trace. */
static const struct flag_access *seen_write(const struct flag_state *flag,
                                            const struct flag_access *read)
{
    for (uint32_t n = flag->writes; n > 0 && n + FLAG_REMEMBERED > flag->writes; n--) {
        const struct flag_access *write = &flag->written[n % FLAG_REMEMBERED];
        if (comes_before(write, read) && write->value == read->value)
            return write;
    }
    return NULL;
}

/* Whether the reader sees `write` for the first time and has seen no later one. Marks it as
 * seen. */
static bool sees_first(struct builder *builder, const struct flag_state *flag, uint32_t reader,
                       const struct flag_access *write)
{
    uint64_t key = (uint64_t)(flag - builder->flags->all.data) << 32 | reader;
    uint32_t index =
        builder_place(builder, &builder->flags->readers, &builder->flags->reader_by_key, key);
    if (index == ARGUS_NONE || builder->flags->readers.data[index].seen >= write->number)
        return false;
    builder->flags->readers.data[index].seen = write->number;
    return true;
}

void rule_flag_edge(struct builder *builder, const struct actor *from, const struct flag_access *to,
                    enum rule_id rule)
{
    struct cause cause = actor_cause(from, ARGUS_EDGE_FLAG, rule);
    struct argus_flag_use use = {to->by.since_ns, to->address, to->by.thread};
    cause.edge.to = to->by.slot;
    cause.edge.to_ns = to->by.since_ns;
    if (cause.edge.from_ns > cause.edge.to_ns) /* the write was recorded after the read */
        cause.edge.from_ns = cause.edge.to_ns;
    if (builder_add_edge(builder, &cause.edge) && !vec_push(&builder->graph->flag_uses, use))
        builder->no_memory = true;
}

/* The edge's end says where the reader has the flag; another process has it elsewhere. */
static void note_writer(struct builder *builder, const struct flag_access *write, uint64_t to_ns)
{
    uint64_t from_ns = write->by.since_ns < to_ns ? write->by.since_ns : to_ns;
    struct argus_flag_use use = {from_ns, write->address, write->by.thread};
    if (!vec_push(&builder->graph->flag_uses, use))
        builder->no_memory = true;
}

static void match(struct builder *builder, struct flag_state *flag, const struct flag_access *write,
                  const struct flag_access *read)
{
    bool is_edge =
        sees_first(builder, flag, read->by.thread, write) && write->by.thread != read->by.thread;
    if (is_edge)
        rule_flag_edge(builder, &write->by, read, RULE_FLAG);
    if (is_edge && write->watch != read->watch)
        note_writer(builder, write, read->by.since_ns);
}

/* The thread whose access `record` reports: the one on the cpu, or the one that a debugger had
 * stopped. */
static uint32_t thread_of(struct builder *builder, const struct cpu_state *cpu,
                          const struct argus_record *record)
{
    return ARGUS_FLAG_BY(record->arg[2]) >= ARGUS_FLAG_BY_DEBUGGER
               ? builder_thread(builder, record->tid)
               : cpu->thread;
}

/* A debugger writes its record while the thread is stopped; the access was just before the stop. */
static uint64_t moment_of(struct builder *builder, uint32_t thread,
                          const struct argus_record *record)
{
    const struct thread_state *state = thread_at(builder, thread);
    bool stopped = ARGUS_FLAG_BY(record->arg[2]) >= ARGUS_FLAG_BY_DEBUGGER &&
                   state->activity == THREAD_WAITING;
    return stopped ? slot_at(builder, state->slot)->end_ns : builder->now_ns;
}

/* The access of `thread` that `record` reports; false: the thread is not known. */
static bool access_of(struct builder *builder, uint32_t thread, const struct argus_record *record,
                      struct flag_access *ret)
{
    if (thread == ARGUS_NONE || thread_at(builder, thread)->slot == ARGUS_NONE)
        return false;
    uint32_t bytes = ARGUS_FLAG_BYTES(record->arg[2]);
    uint64_t mask = bytes && bytes < 8 ? (1ull << 8 * bytes) - 1 : UINT64_MAX;
    *ret = (struct flag_access){
        .by = {.since_ns = moment_of(builder, thread, record),
               .thread = thread,
               .slot = thread_at(builder, thread)->slot},
        .value = record->arg[1] & mask,
        .sequence = record->arg[3],
        .address = record->arg[0],
    };
    return true;
}

/* A stopped thread has already ended its vertex. */
static void add_op(struct builder *builder, uint32_t thread, uint32_t kind, uint64_t address)
{
    if (thread_at(builder, thread)->activity == THREAD_RUNNING)
        vertex_op(builder, thread, kind << 24 | (uint32_t)(address & 0xffffff));
}

static void note_set(struct builder *builder, const struct flag_state *flag,
                     const struct flag_access *write)
{
    bool was_set = flag->writes && flag->written[flag->writes % FLAG_REMEMBERED].value;
    struct argus_flag_set set = {builder->now_ns, write->address, write->by.thread};
    if (write->value && !was_set && !vec_push(&builder->graph->flag_sets, set))
        builder->no_memory = true;
}

/* An instruction that both reads and writes has read the previous write. */
static void match_last(struct builder *builder, struct flag_state *flag,
                       const struct flag_access *access)
{
    if (flag->writes)
        match(builder, flag, &flag->written[flag->writes % FLAG_REMEMBERED], access);
}

/* Whether the earlier record `read` saw `write`, before which the value was `before`. */
static bool was_read(const struct flag_access *write, uint64_t before,
                     const struct flag_access *read)
{
    bool same = read->by.slot != ARGUS_NONE && read->watch == write->watch && read->sequence &&
                write->sequence && write->value == read->value;
    bool overtaken =
        before != write->value && write->by.since_ns - read->by.since_ns <= FLAG_MOST_OVERTAKEN_NS;
    return same && (write->sequence < read->sequence || overtaken);
}

static void on_write(struct builder *builder, uint32_t thread, const struct argus_record *record,
                     bool reads_too)
{
    struct flag_access write;
    struct flag_state *flag =
        access_of(builder, thread, record, &write) ? find(builder, &write) : NULL;
    if (!flag || flag->writes == UINT32_MAX)
        return;
    note_set(builder, flag, &write);
    if (reads_too && flag->semantics == ARGUS_FLAG_VALUE)
        match_last(builder, flag, &write);
    if (flag->semantics != ARGUS_FLAG_VALUE)
        rule_flag_turn(builder, flag, &write);
    uint64_t before = flag->value;
    flag->value = write.value;
    write.number = ++flag->writes;
    flag->written[write.number % FLAG_REMEMBERED] = write;
    thread_at(builder, thread)->acted |= thread_at(builder, thread)->activity == THREAD_RUNNING;
    add_op(builder, thread, ARGUS_OP_FLAG_WRITE, write.address);
    const struct flag_access read = flag->unmatched;
    if (was_read(&write, before, &read)) {
        flag->unmatched.by.slot = ARGUS_NONE;
        match(builder, flag, &write, &read);
    }
}

static void on_read(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    struct flag_access read;
    struct flag_state *flag =
        access_of(builder, thread, record, &read) ? find(builder, &read) : NULL;
    if (!flag)
        return;
    add_op(builder, thread, ARGUS_OP_FLAG_READ, read.address);
    const struct flag_access *write = seen_write(flag, &read);
    if (write)
        match(builder, flag, write, &read);
    else
        flag->unmatched = read;
}

/* --- read or write --- */

/* What the instruction did, for a watchpoint that does not tell reads from writes. */
static enum flag_deed deed_of(struct builder *builder, uint32_t thread,
                              const struct argus_record *record)
{
    uint32_t by = ARGUS_FLAG_BY(record->arg[2]);
    if ((by != ARGUS_FLAG_BY_VALUE && by != ARGUS_FLAG_BY_DEBUGGER) || thread == ARGUS_NONE)
        return FLAG_DEED_UNKNOWN;
    if (!builder->flags->code)
        builder->flags->code = flag_code_create(builder->graph->trace);
    const struct machine *machine = &builder->graph->machine;
    uint64_t pid = machine->processes.data[machine->threads.data[thread].process].pid;
    return flag_code_deed(builder->flags->code, pid, ARGUS_FLAG_PC(record->arg[2]),
                          record->timestamp);
}

/* `by_value`: the record says that it was a write, going by the value. */
static void on_access(struct builder *builder, const struct cpu_state *cpu,
                      const struct argus_record *record, bool by_value)
{
    uint32_t thread = thread_of(builder, cpu, record);
    enum flag_deed deed = deed_of(builder, thread, record);
    if (deed == FLAG_DEED_WRITES || (deed != FLAG_DEED_READS && by_value))
        on_write(builder, thread, record, deed == FLAG_DEED_BOTH);
    else
        on_read(builder, thread, record);
}

void graph_on_flag_write(struct builder *builder, struct cpu_state *cpu,
                         const struct argus_record *record)
{
    on_access(builder, cpu, record, true);
}

void graph_on_flag_read(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    on_access(builder, cpu, record, false);
}

/* Stacks have no process, and records refer to them by ID, so only the records tell which process
 * uses which address. They are read once, and each thread's use of a stack is stored once. When the
 * lives of all processes are known, the frames of these stacks are added.
 */
#include "event/names/used_frames.h"

#include "base/idmap.h"
#include "event/lives.h"

enum { MOST_USES = 1 << 22, MOST_FRAMES = 1 << 19 };

/* A thread's use of a stack or of an address. */
struct use {
    uint64_t what, time_ns;
    uint32_t thread;
    bool is_address;
};

struct reading {
    struct used_frames *frames;
    const struct argus_trace *trace;
    VEC(struct use) uses;
    struct idmap seen;
    bool no_memory;
};

/* Combines two numbers into one; a collision of two pairs is practically impossible. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a + (b + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* False: it was known already, or there was no memory. */
static bool is_new(struct reading *reading, uint64_t key)
{
    if (idmap_get(&reading->seen, key) != IDMAP_NONE)
        return false;
    reading->no_memory |= !idmap_put(&reading->seen, key, 0);
    return !reading->no_memory;
}

static void use(struct reading *reading, uint32_t thread, const struct argus_record *record,
                uint64_t what, bool is_address)
{
    if (!what || !is_new(reading, mix(what, (uint64_t)thread << 1 | is_address)))
        return;
    if (reading->uses.length == MOST_USES) {
        reading->frames->left_out++;
        return;
    }
    struct use entry = {what, record->timestamp, thread, is_address};
    reading->no_memory |= !vec_push(&reading->uses, entry);
}

/* Which arguments of a record are IDs of user stacks (bits 0 to 3) or code addresses (bits 4 to
 * 7). */
static const struct {
    uint32_t debugid;
    unsigned arguments;
} rows[] = {
    {ARGUS_ID_STACK, 0x01},           {ARGUS_ID_SAMPLE, 0x01 | 0x40},
    {ARGUS_ID_CALLBACK_QUEUED, 0x20}, {ARGUS_ID_CALLBACK | ARGUS_FUNC_START, 0x20},
    {ARGUS_ID_HANDLER, 0x10 | 0x20},  {ARGUS_ID_WAITING, 0x08},
};

static bool take(void *context, const struct argus_record *record)
{
    struct reading *reading = context;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (record->debugid != rows[i].debugid)
            continue;
        uint32_t thread = machine_thread(&reading->frames->machine, record->tid);
        for (unsigned k = 0; k < 4 && thread != ARGUS_NONE; k++) {
            if (rows[i].arguments >> k & 1)
                use(reading, thread, record, record->arg[k], false);
            if (rows[i].arguments >> (4 + k) & 1 && !(record->arg[k] >> 63))
                use(reading, thread, record, record->arg[k], true);
        }
    }
    return !reading->no_memory;
}

static void add_frame(struct reading *reading, const struct use *use, uint64_t address,
                      bool is_caller)
{
    const struct machine *machine = &reading->frames->machine;
    uint32_t process = machine->threads.data[use->thread].process;
    const struct argus_process *life = &machine->processes.data[process];
    uint64_t later = life->exec_ns && life->exec_ns <= use->time_ns;
    if (address < ARGUS_FRAME_ENDS || address >> 63 ||
        !is_new(reading, mix(address << 2 | later << 1 | is_caller, process)))
        return;
    if (reading->frames->frames.length == MOST_FRAMES) {
        reading->frames->left_out++;
        return;
    }
    struct used_frame frame = {address, use->time_ns, process, is_caller};
    reading->no_memory |= !vec_push(&reading->frames->frames, frame);
}

static struct argus_error *add_frames(struct reading *reading)
{
    for (size_t i = 0; i < reading->uses.length; i++) {
        const struct use *use = &reading->uses.data[i];
        const uint64_t *frames;
        size_t count = use->is_address ? 0 : argus_trace_stack(reading->trace, use->what, &frames);
        if (use->is_address)
            add_frame(reading, use, use->what, false);
        for (size_t k = 0; k < count; k++)
            if (frames[k] >= ARGUS_FRAME_ENDS) /* the end mark of a stack is not an address */
                add_frame(reading, use, frames[k] - (k > 0), k == 1);
        if (reading->no_memory)
            return argus_error_memory();
    }
    return NULL;
}

struct argus_error *used_frames_read(struct used_frames *ret, const struct argus_trace *trace,
                                     argus_progress progress, void *context)
{
    struct reading reading = {.frames = ret, .trace = trace};
    const struct lives_reading records = {.what = "looking for frames",
                                          .progress = progress,
                                          .progress_context = context,
                                          .visit = take,
                                          .context = &reading};
    *ret = (struct used_frames){0};
    struct argus_error *error = lives_read_and_visit(&ret->machine, trace, &records);
    if (!error) {
        idmap_clear(&reading.seen);
        error = add_frames(&reading);
    }
    idmap_deinit(&reading.seen);
    vec_deinit(&reading.uses);
    return error;
}

void used_frames_deinit(struct used_frames *frames)
{
    machine_deinit(&frames->machine);
    vec_deinit(&frames->frames);
}

/* make_hostile FOLDER BYTES [SHAPE…]: writes a trace of at most about BYTES for each shape, or for
 * those that are named. "SHAPE.darwin" has the same records under a header of macOS. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"

static const struct hostile_shape shapes[] = {
#define SHAPE(name, function) {name, function, false}, {name ".darwin", function, true},
#include "shapes.def"
#undef SHAPE
};

void hostile_check(struct argus_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "make_hostile: %s\n", error->message);
    exit(1);
}

static void flush(struct hostile *hostile, uint32_t cpu)
{
    hostile_check(
        argus_writer_records(hostile->writer, cpu, hostile->batch[cpu], hostile->count[cpu], 0));
    hostile->count[cpu] = 0;
}

bool hostile_room(struct hostile *hostile)
{
    hostile->entries++;
    return argus_writer_bytes(hostile->writer) < hostile->most_bytes &&
           hostile->records < hostile->most_records && hostile->entries < 8000000;
}

void hostile_put(struct hostile *hostile, uint32_t cpu, uint64_t tid, uint32_t debugid,
                 const uint64_t arg[4])
{
    cpu %= HOSTILE_CPUS;
    if (hostile->count[cpu] == HOSTILE_BATCH)
        flush(hostile, cpu);
    struct argus_record *record = &hostile->batch[cpu][hostile->count[cpu]++];
    *record = (struct argus_record){
        .timestamp = hostile->now, .tid = tid, .debugid = debugid, .cpu = cpu};
    memcpy(record->arg, arg, sizeof(record->arg));
    hostile->now += hostile->step;
    hostile->records++;
}

uint64_t hostile_random(struct hostile *hostile)
{
    hostile->random = hostile->random * 6364136223846793005u + 1442695040888963407u;
    return hostile->random >> 24;
}

void hostile_thread(struct hostile *hostile, uint64_t tid, uint64_t pid, const char *name)
{
    struct argus_thread_entry entry = {.tid = tid, .pid = pid, .parent_pid = 1, .name = name};
    hostile_check(argus_writer_threads(hostile->writer, &entry, 1));
}

void hostile_wait(struct hostile *hostile, uint32_t cpu, uint64_t tid, uint32_t nr)
{
    PUT(cpu, tid, ARGUS_ID_SYSCALL(nr) | ARGUS_FUNC_START, 3, 1, (uint64_t)-1);
    PUT(cpu, tid, ARGUS_ID_SWITCH, ARGUS_LINUX_STATE_INTERRUPTIBLE, 0);
}

void hostile_wake(struct hostile *hostile, uint32_t waker_cpu, uint64_t waker, uint32_t cpu,
                  uint64_t tid, uint32_t nr)
{
    PUT(waker_cpu, waker, ARGUS_ID_MAKE_RUNNABLE, tid);
    PUT(cpu, 0, ARGUS_ID_SWITCH, 0, tid);
    PUT(cpu, tid, ARGUS_ID_SYSCALL(nr) | ARGUS_FUNC_END, 0, 1);
}

/* Fills the file up with text that cannot be packed: the larger a file, the more it may ask for. */
static void pad(struct hostile *hostile)
{
    static char text[60001];
    while (argus_writer_bytes(hostile->writer) < hostile->most_bytes) {
        for (size_t i = 0; i + 1 < sizeof(text); i++)
            text[i] = (char)('!' + hostile_random(hostile) % 94);
        hostile_check(argus_writer_note(hostile->writer, text));
    }
}

static void make(const char *folder, const struct hostile_shape *shape, uint64_t bytes)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.argus", folder, shape->name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct argus_trace_header header = {
        .os = shape->darwin ? ARGUS_OS_DARWIN : ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = HOSTILE_CPUS,
    };
    struct hostile hostile = {.most_bytes = bytes,
                              .most_records = (256 << 10) + 3 * bytes,
                              .now = 1000000000,
                              .step = 1000,
                              .random = 1};
    hostile_check(argus_writer_create(fd, &header, &hostile.writer));
    for (int i = 0; i < HOSTILE_CPUS; i++)
        if (!(hostile.batch[i] = malloc(HOSTILE_BATCH * sizeof(*hostile.batch[i]))))
            exit(1);
    shape->make(&hostile);
    for (uint32_t i = 0; i < HOSTILE_CPUS; i++) {
        flush(&hostile, i);
        free(hostile.batch[i]);
    }
    pad(&hostile);
    hostile_check(argus_writer_end(hostile.writer, NULL, 0));
    argus_writer_destroy(hostile.writer);
    close(fd);
}

static bool is_wanted(const char *name, char **words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], name))
            return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: make_hostile FOLDER BYTES [SHAPE...]\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        if (is_wanted(shapes[i].name, argv + 3, argc - 3))
            make(argv[1], &shapes[i], strtoull(argv[2], NULL, 10));
    return 0;
}

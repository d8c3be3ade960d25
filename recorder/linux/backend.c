/* The Linux backend: BPF programs write into mmap-able rings (programs.c, rings.c), perf_event reports mappings (mapped_images.c),
 * /proc and a BPF map name threads (threads.c). */
#include "backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "linux/kallsyms.h"
#include "linux/mapped_images.h"
#include "linux/programs.h"
#include "linux/rings.h"
#include "linux/threads.h"

/* include/linux/proc_ns.h: the inode of the first pid namespace. In another one /proc has other numbers than BPF. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

#define NOTE_LIMIT 64

struct backend {
    struct programs *programs;
    struct images *images;
    struct thread_list *threads;
    struct rings rings;
    int stacks_fd, threads_fd; /* maps, borrowed from `programs` */
    const char *notes[NOTE_LIMIT];
    size_t note_count;
};

static void collect_notes(struct backend *backend)
{
    const char *const *notes;
    size_t count = programs_notes(backend->programs, &notes);
    struct stat namespace;
    if (stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino != FIRST_PID_NAMESPACE)
        backend->notes[backend->note_count++] =
            "the recorder runs in a pid namespace of its own (a container): thread ids in the "
            "trace "
            "are the host's, names are missing, and the recorder records itself";
    for (size_t i = 0; i < count && backend->note_count < NOTE_LIMIT; i++)
        backend->notes[backend->note_count++] = notes[i];
}

/* Mappings are listened to before the programs run, so that no thread can be recorded whose images are not known. */
static struct argus_error *backend_start(struct backend *backend,
                                         const struct backend_options *options)
{
    int cpu_count = libbpf_num_possible_cpus();
    if (cpu_count <= 0)
        return argus_error_os(-cpu_count, "cannot count the cpus");
    uint32_t slot_count = rings_slot_count(options->ring_bytes, (uint32_t)cpu_count);
    struct argus_error *error = images_create((uint32_t)cpu_count, &backend->images);
    if (!error)
        error = programs_create(options, (uint32_t)cpu_count, slot_count, &backend->programs);
    if (error)
        return error;
    backend->stacks_fd = programs_map(backend->programs, "stacks");
    backend->threads_fd = programs_map(backend->programs, "threads");
    collect_notes(backend);
    error = rings_init(&backend->rings, programs_map(backend->programs, "ring"),
                       programs_map(backend->programs, "cpus"), (uint32_t)cpu_count, slot_count);
    return error ? error : thread_list_create(&backend->threads);
}

struct argus_error *backend_create(const struct backend_options *options, struct backend **ret)
{
    struct backend *backend = calloc(1, sizeof(*backend));
    struct argus_error *error = backend ? backend_start(backend, options) : argus_error_memory();
    if (error) {
        backend_destroy(backend);
        return error;
    }
    *ret = backend;
    return NULL;
}

void backend_destroy(struct backend *backend)
{
    if (!backend)
        return;
    rings_deinit(&backend->rings);
    programs_destroy(backend->programs);
    images_destroy(backend->images);
    thread_list_destroy(backend->threads);
    free(backend);
}

void backend_detach(struct backend *backend)
{
    programs_detach(backend->programs);
}

static void read_boot_id(uint8_t ret[16])
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file)
        return;
    if (fgets(text, sizeof(text), file)) {
        size_t digits = 0;
        for (const char *c = text; *c && digits < 32; c++) {
            const char *place = strchr("0123456789abcdef", *c);
            if (place) {
                unsigned value = (unsigned)(place - "0123456789abcdef");
                ret[digits / 2] = (uint8_t)(ret[digits / 2] << 4 | value);
                digits++;
            }
        }
    }
    fclose(file);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct argus_error *backend_header(const struct backend *backend, struct argus_trace_header *ret)
{
    struct utsname host;
    if (uname(&host) < 0)
        return argus_error_os(errno, "cannot ask the kernel for its name");
    *ret = (struct argus_trace_header)
    {
        .version_major = ARGUS_TRACE_VERSION_MAJOR, .version_minor = ARGUS_TRACE_VERSION_MINOR,
        .os = ARGUS_OS_LINUX,
#if defined(__aarch64__)
        .arch = ARGUS_ARCH_AARCH64,
#else
        .arch = ARGUS_ARCH_X86_64,
#endif
        .timebase_numer = 1, .timebase_denom = 1, .anchor_ticks = clock_ns(CLOCK_MONOTONIC),
        .anchor_wall_ns = clock_ns(CLOCK_REALTIME), .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
        .cpu_count = backend->rings.cpu_count,
    };
    snprintf(ret->host, sizeof(ret->host), "%.20s %.80s %.20s", host.sysname, host.release,
             host.machine);
    read_boot_id(ret->boot_id);
    return NULL;
}

uint32_t backend_cpu_count(const struct backend *backend)
{
    return backend->rings.cpu_count;
}

uint64_t backend_ring_bytes(const struct backend *backend)
{
    return (uint64_t)backend->rings.cpu_count * backend->rings.slot_count *
           sizeof(struct argus_record);
}

uint64_t backend_emitted(const struct backend *backend, uint32_t cpu)
{
    return rings_head(&backend->rings, cpu);
}

size_t backend_read(struct backend *backend, uint32_t cpu, struct argus_record *records,
                    size_t room, uint64_t *ret_lost)
{
    return rings_read(&backend->rings, cpu, records, room, ret_lost);
}

uint64_t backend_unread(const struct backend *backend, uint32_t cpu)
{
    return rings_head(&backend->rings, cpu) - backend->rings.next[cpu];
}

struct argus_error *backend_copy(struct backend *backend, uint32_t cpu,
                                 struct argus_record **ret_records, size_t *ret_count)
{
    return rings_copy(&backend->rings, cpu, ret_records, ret_count);
}

struct argus_error *backend_collect(struct backend *backend)
{
    return images_collect(backend->images);
}

size_t backend_stack(struct backend *backend, uint64_t id, uint64_t *frames)
{
    struct bpf_stack stack;
    if (bpf_map_lookup_elem(backend->stacks_fd, &id, &stack) < 0 || stack.count > BPF_STACK_FRAMES)
        return 0;
    memcpy(frames, stack.frames, stack.count * sizeof(*frames));
    return stack.count;
}

struct argus_error *backend_write_threads(struct backend *backend, struct argus_writer *writer)
{
    return thread_list_write(backend->threads, backend->threads_fd, writer);
}

struct argus_error *backend_write_images(struct backend *backend, struct argus_writer *writer,
                                         bool all)
{
    struct argus_error *error = images_collect(backend->images);
    return error ? error : images_write(backend->images, writer, !all);
}

struct argus_error *backend_write_kernel_symbols(struct backend *backend, uint64_t *addresses,
                                                 size_t count, struct argus_writer *writer)
{
    (void)backend;
    return kallsyms_write(addresses, count, writer);
}

size_t backend_notes(const struct backend *backend, const char *const **ret)
{
    *ret = backend->notes;
    return backend->note_count;
}

size_t backend_counters(const struct backend *backend, struct argus_counter *ret, size_t room)
{
    uint64_t stacks_lost = 0, compat_skipped = 0;
    for (uint32_t cpu = 0; cpu < backend->rings.cpu_count; cpu++) {
        stacks_lost += backend->rings.cpus[cpu].stacks_lost;
        compat_skipped += backend->rings.cpus[cpu].compat_skipped;
    }
    const struct argus_counter counters[] = {
        {"stacks_not_taken", stacks_lost},
        {"compat_syscalls_skipped", compat_skipped},
        {"nested_missed", programs_missed(backend->programs)},
        {"images_lost", images_lost(backend->images)},
    };
    size_t count = sizeof(counters) / sizeof(counters[0]);
    for (size_t i = 0; i < count && i < room; i++)
        ret[i] = counters[i];
    return count < room ? count : room;
}

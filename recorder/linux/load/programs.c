/* Nothing here outlives the process: programs, maps and attachments are file descriptors, so the
 * kernel removes all of them when the recorder ends for any reason.
 */
#include "linux/load/programs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "linux/load/kernel_btf.h"
#include "linux/load/program_load.h"
#include "linux/load/program_table.h"
#include "linux/load/switched_off.h"
#include "linux/probe_rates.h"
#include "linux/probes.h"
#include "linux/shared.h"
#include "linux/snapshots.h"

/* A software event of perf_event, which belongs to a cpu. */
struct cpu_event {
    const char *program, *what; /* `what` ends "no …" */
    uint64_t config, period;
};

/* A link, and the row of its program in program_table; NO_ROW: a perf event. */
#define NO_ROW UINT32_MAX
struct attached {
    struct bpf_link *link;
    uint32_t row;
};

struct programs {
    struct program_set set; /* also holds the notes */
    struct cpu_event events[2];
    size_t event_count;
    VEC(struct attached) links;
    uint32_t left_out;     /* bits of categories */
    int statistics_fd;     /* while it is open, the kernel measures programs; -1: it does not */
    struct probes *probes; /* NULL: none */
    struct probe_rates probe_rates;
};

static __attribute__((format(printf, 2, 3))) void add_note(struct programs *programs,
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) >= 0 && !vec_push(&programs->set.notes, text))
        free(text);
    va_end(args);
}

/* The program; NULL: it was left out. */
static struct bpf_program *find_loaded(const struct programs *programs, const char *name)
{
    struct bpf_program *program = bpf_object__find_program_by_name(programs->set.object, name);
    return program && bpf_program__fd(program) >= 0 ? program : NULL;
}

static struct argus_error *attach_row(struct programs *programs, const struct program_row *row)
{
    struct bpf_program *program = find_loaded(programs, row->program);
    if (!program || !row->tracepoint)
        return NULL;
    struct bpf_link *link = bpf_program__attach_raw_tracepoint(program, row->tracepoint);
    int failed = errno;
    const struct attached attached = {link, (uint32_t)(row - program_table)};
    if (link && !vec_push(&programs->links, attached)) {
        bpf_link__destroy(link);
        return argus_error_memory();
    }
    if (!link && row->required)
        return argus_error_os(failed, "cannot attach to the tracepoint %s", row->tracepoint);
    if (!link)
        add_note(programs, "cannot attach to the tracepoint %s (%s): %s", row->tracepoint,
                 strerror(failed), row->lost_without);
    return NULL;
}

static struct argus_error *attach(struct programs *programs)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < program_table_length && !error; i++)
        error = attach_row(programs, &program_table[i]);
    return error;
}

static struct argus_error *attach_event(struct programs *programs, const struct cpu_event *event,
                                        uint32_t cpu)
{
    struct bpf_program *program = find_loaded(programs, event->program);
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = event->config,
        .sample_period = event->period,
        .exclude_idle = event->config == PERF_COUNT_SW_CPU_CLOCK,
    };
    if (!program)
        return NULL; /* refused; there is a note already */
    int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == ENODEV)
        return NULL; /* the cpu is off */
    struct bpf_link *link = fd < 0 ? NULL : bpf_program__attach_perf_event(program, fd);
    if (!link) {
        add_note(programs, "no %s on cpu %u: %s", event->what, cpu, strerror(errno));
        if (fd >= 0)
            close(fd);
    } else if (!vec_push(&programs->links, ((struct attached){link, NO_ROW}))) {
        bpf_link__destroy(link);
        return argus_error_memory();
    }
    return NULL;
}

/* Attaches on each CPU that is online now; programs_cpu_came() does the same for one that comes
 * online later. */
static struct argus_error *attach_event_everywhere(struct programs *programs,
                                                   struct cpu_event event, uint32_t cpu_count)
{
    struct argus_error *error = NULL;
    programs->events[programs->event_count++] = event;
    for (uint32_t cpu = 0; cpu < cpu_count && !error; cpu++)
        error = attach_event(programs, &event, cpu);
    return error;
}

struct argus_error *programs_cpu_came(struct programs *programs, uint32_t cpu)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < programs->event_count && !error; i++)
        error = attach_event(programs, &programs->events[i], cpu);
    return error;
}

static void probe_refused(void *context, const struct probe *probe, int error_number)
{
    add_note(context, "probes: cannot attach to %s in %s (%s)", probe->entry.symbol,
             probe->entry.library, strerror(error_number));
}

/* A refused program is missing in the table, and its calls are counted as skipped. */
static void fill_compat_programs(struct programs *programs)
{
    static const char *const names[COMPAT_PROGRAMS] = {
        [COMPAT_ENTER] = "on_compat_enter",
        [COMPAT_EXIT] = "on_compat_exit",
    };
    int map = programs_map(programs, "compat_programs");
    for (uint32_t i = 0; i < COMPAT_PROGRAMS; i++) {
        const struct bpf_program *program = find_loaded(programs, names[i]);
        int fd = program ? bpf_program__fd(program) : -1;
        if (fd >= 0)
            bpf_map_update_elem(map, &i, &fd, BPF_ANY);
    }
}

static void probe_taken_out(void *context, const struct probe *probe, uint64_t rate)
{
    add_note(
        context,
        "probes: %s in %s was hit %llu times a second, which slows programs down: it was taken "
        "out",
        probe->entry.symbol, probe->entry.library, (unsigned long long)rate);
}

struct argus_error *programs_spare(struct programs *programs, uint64_t now_ns)
{
    if (programs->links.length == 0) /* detached */
        return NULL;
    return probe_rates_look(&programs->probe_rates, programs->probes, now_ns, probe_taken_out,
                            probe_refused, programs);
}

static struct argus_error *load(struct programs *programs, const struct program_request *request)
{
    struct btf *btf;
    struct argus_error *error = kernel_btf_load(&btf);
    if (error)
        return error;
    error = program_set_load(request, btf, &programs->set);
    if (!error)
        fill_compat_programs(programs);
    if (!error && find_loaded(programs, PROBE_PROGRAM))
        error =
            probes_create(programs->set.object, btf, request->options->probes, &programs->probes);
    btf__free(btf);
    return error;
}

static struct argus_error *attach_events(struct programs *programs,
                                         const struct program_request *request)
{
    const struct backend_options *options = request->options;
    struct argus_error *error = NULL;
    if (options->rate_hz)
        error = attach_event_everywhere(programs,
                                        (struct cpu_event){"on_sample", "cpu samples",
                                                           PERF_COUNT_SW_CPU_CLOCK,
                                                           1000000000ull / options->rate_hz},
                                        request->cpu_count);
    if (!error && options->categories & CATEGORY_BIT(CATEGORY_BLOCK))
        error =
            attach_event_everywhere(programs,
                                    (struct cpu_event){"on_major_fault", "addresses of page faults",
                                                       PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1},
                                    request->cpu_count);
    return error;
}

static struct argus_error *measure(struct programs *programs)
{
    programs->statistics_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
    if (programs->statistics_fd >= 0)
        return NULL;
    return argus_error_os(errno, "--max-overhead: the kernel does not measure its BPF programs");
}

static struct argus_error *programs_start(struct programs *programs,
                                          const struct program_request *request)
{
    struct argus_error *error = load(programs, request);
    if (!error && request->options->may_leave_out)
        error = measure(programs);
    if (!error)
        error = snapshots_choose(programs->set.object, request->options);
    if (!error)
        error = attach(programs);
    if (!error)
        error = probes_attach(programs->probes, probe_refused, programs);
    return error ? error : attach_events(programs, request);
}

struct argus_error *programs_create(const struct backend_options *options, uint32_t cpu_count,
                                    uint32_t slot_count, struct programs **ret)
{
    struct programs *programs = calloc(1, sizeof(*programs));
    if (!programs)
        return argus_error_memory();
    programs->statistics_fd = -1;
    const struct program_request request = {
        .options = options, .cpu_count = cpu_count, .slot_count = slot_count};
    struct argus_error *error = programs_start(programs, &request);
    if (error) {
        programs_destroy(programs);
        return error;
    }
    *ret = programs;
    return NULL;
}

void programs_detach(struct programs *programs)
{
    probes_mute(programs->probes);
    /* Detached one after the other, because each waits for a grace period. Programs that give
     * meaning to the others' records go last. */
    for (size_t i = programs->links.length; i > 0; i--)
        bpf_link__destroy(programs->links.data[i - 1].link);
    vec_deinit(&programs->links);
}

static bool is_of(uint32_t row, uint32_t categories)
{
    return row != NO_ROW && categories & CATEGORY_BIT(program_table[row].category);
}

struct detaching {
    VEC(struct bpf_link *) links;
    atomic_bool is_done;
};

static void *destroy_links(void *context)
{
    struct detaching *detaching = context;
    for (size_t i = 0; i < detaching->links.length; i++)
        bpf_link__destroy(detaching->links.data[i]);
    atomic_store(&detaching->is_done, true);
    return NULL;
}

/* Detaching waits for a grace period for each program; a thread does it, and this one goes on to
 * collect what the kernel reports. */
static void destroy_beside(struct detaching *detaching, const struct programs_meanwhile *meanwhile)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, destroy_links, detaching) != 0) {
        destroy_links(detaching);
        return;
    }
    while (!atomic_load(&detaching->is_done)) {
        poll(NULL, 0, 5);
        meanwhile->work(meanwhile->context);
    }
    pthread_join(thread, NULL);
}

/* Those that run at each system call: under a flood, detaching the others takes long. */
static bool is_of_calls(uint32_t row)
{
    const char *tracepoint = row == NO_ROW ? NULL : program_table[row].tracepoint;
    return tracepoint && (!strcmp(tracepoint, "sys_enter") || !strcmp(tracepoint, "sys_exit"));
}

/* Appends the links to detach whose programs run at each system call, or the others, in the order
 * of programs_detach(). */
static void collect_links(const struct programs *programs, uint32_t categories, bool of_calls,
                          struct detaching *detaching)
{
    for (size_t i = programs->links.length; i > 0; i--) {
        const struct attached *attached = &programs->links.data[i - 1];
        if (is_of(attached->row, categories) && is_of_calls(attached->row) == of_calls)
            vec_push(&detaching->links, attached->link); /* there is room */
    }
}

static struct argus_error *detach_categories(struct programs *programs, uint32_t categories,
                                             const struct programs_meanwhile *meanwhile)
{
    struct detaching detaching = {.is_done = false};
    size_t kept = 0;
    if (!vec_reserve(&detaching.links, programs->links.length))
        return argus_error_memory();
    collect_links(programs, categories, true, &detaching);
    collect_links(programs, categories, false, &detaching);
    for (size_t i = 0; i < programs->links.length; i++)
        if (!is_of(programs->links.data[i].row, categories))
            programs->links.data[kept++] = programs->links.data[i];
    programs->links.length = kept;
    if (detaching.links.length)
        destroy_beside(&detaching, meanwhile);
    vec_deinit(&detaching.links);
    return NULL;
}

static struct argus_error *attach_categories(struct programs *programs, uint32_t categories)
{
    struct argus_error *error = NULL;
    for (uint32_t i = 0; i < program_table_length && !error; i++)
        if (is_of(i, categories))
            error = attach_row(programs, &program_table[i]);
    return error;
}

struct argus_error *programs_leave_out(struct programs *programs, uint32_t categories,
                                       const struct programs_meanwhile *meanwhile)
{
    uint32_t going = categories & ~programs->left_out, coming = programs->left_out & ~categories;
    if (programs->links.length == 0) /* detached */
        return NULL;
    programs->left_out = categories;
    if (going & CATEGORY_BIT(CATEGORY_PROBES))
        probes_mute(programs->probes);
    struct argus_error *error = detach_categories(programs, going, meanwhile);
    if (coming & ARGUS_LEFT_OUT_CALLS)
        call_state_forget(programs->set.object);
    if (!error)
        error = switched_off_set(programs->set.object, categories);
    if (!error)
        error = attach_categories(programs, coming);
    if (!error && coming & CATEGORY_BIT(CATEGORY_PROBES))
        probes_unmute(programs->probes);
    return error;
}

/* What a run costs besides the time that the kernel measures: the way to the program and back
 * (docs/decisions.md: 60 ns for an empty program). */
#define WAY_NS 60

void programs_cost(const struct programs *programs, uint64_t ret_ns[CATEGORY_COUNT])
{
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        ret_ns[i] = 0;
    for (size_t i = 0; i < program_table_length; i++) {
        struct bpf_program *program = find_loaded(programs, program_table[i].program);
        struct bpf_prog_info info = {0};
        uint32_t bytes = sizeof(info);
        if (program && bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) == 0)
            ret_ns[program_table[i].category] += info.run_time_ns + WAY_NS * info.run_cnt;
    }
}

void programs_release(struct programs *programs)
{
    programs_detach(programs);
    probes_destroy(programs->probes);
    programs->probes = NULL;
}

void programs_destroy(struct programs *programs)
{
    if (!programs)
        return;
    programs_detach(programs);
    probes_destroy(programs->probes);
    program_set_deinit(&programs->set);
    if (programs->statistics_fd >= 0)
        close(programs->statistics_fd);
    free(programs);
}

struct bpf_object *programs_object(const struct programs *programs)
{
    return programs->set.object;
}

int programs_map(const struct programs *programs, const char *name)
{
    struct bpf_map *map = bpf_object__find_map_by_name(programs->set.object, name);
    return map ? bpf_map__fd(map) : -1;
}

uint64_t programs_missed(const struct programs *programs)
{
    uint64_t missed = 0;
    struct bpf_program *program;
    bpf_object__for_each_program(program, programs->set.object)
    {
        struct bpf_prog_info info = {0};
        uint32_t bytes = sizeof(info);
        int fd = bpf_program__fd(program);
        if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0)
            missed += info.recursion_misses;
    }
    return missed;
}

size_t programs_notes(const struct programs *programs, const char *const **ret)
{
    *ret = (const char *const *)programs->set.notes.data;
    return programs->set.notes.length;
}

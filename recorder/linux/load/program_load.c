/* The kernel accepts all programs of an object or none. But a recorder for many kernels cannot rely
 * on every verifier accepting every program. So a refused program is left out by name, and the
 * others are loaded again.
 *
 * libbpf does not return which program was refused. But each program has its own buffer for the
 * verifier's log, and the kernel is asked for a log only after a program has failed: the refused
 * program is the one whose buffer was written. Unwritten buffers use only address space.
 */
#include "linux/load/program_load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "linux/host_header.h"
#include "linux/interpreter_frames.h"
#include "linux/kallsyms.h"
#include "linux/load/bpf_object.h"
#include "linux/load/compat_calls.h"
#include "linux/load/kernel_btf.h"
#include "linux/load/program_table.h"
#include "linux/load/syscall_bitmaps.h"
#include "linux/pid_namespace.h"
#include "linux/probes.h"
#include "linux/small_file.h"
#include "linux/snapshots.h"

/* If the kernel refuses more than this many, the programs do not suit it; and each one costs
 * another try. */
#define REFUSED_MOST 8

/* Linux before 5.16 accepts no larger buffer; a log that does not fit has no last line. */
#define LOG_BYTES  ((16u << 20) - 1)
#define LOG_STRIDE (16u << 20)

/* In the environment: prints the messages of libbpf and the verifier to stderr, for developers of
 * the programs. */
#define DEBUG_VARIABLE "ARGUS_LIBBPF_DEBUG"

struct loader {
    const struct program_request *request;
    const struct btf *btf;
    struct program_set *set;
    char *logs;                        /* one for each row; NULL: no memory */
    bool has_tracepoint[PROGRAM_MOST]; /* by row */
    bool has_interpreters;        /* this try includes the code that reads interpreter frames */
    uint32_t suspect_row;         /* refused with that code, which was then left out */
    struct bpf_settings settings; /* before those of missing programs are cleared */
};

static __attribute__((format(printf, 2, 3))) void add_note(struct program_set *set,
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) >= 0 && !vec_push(&set->notes, text))
        free(text);
    va_end(args);
}

/* Drops what libbpf would print: the recorder has no terminal, and has its own error messages. */
static int swallow_message(enum libbpf_print_level level, const char *format, va_list args)
{
    if (secure_getenv(DEBUG_VARIABLE))
        return vfprintf(stderr, format, args);
    (void)level;
    return 0;
}

static struct bpf_program *find_program(const struct program_set *set, uint32_t row)
{
    return bpf_object__find_program_by_name(set->object, program_table[row].program);
}

static struct bpf_map *find_map(const struct program_set *set, const char *name)
{
    return bpf_object__find_map_by_name(set->object, name);
}

/* --- which programs --- */

static bool is_refused(const struct program_set *set, uint32_t row)
{
    for (size_t i = 0; i < set->refused.length; i++)
        if (set->refused.data[i].row == row)
            return true;
    return false;
}

/* Looked up in the kernel's BTF once, because that searches all its types. */
static void find_tracepoints(struct loader *loader)
{
    const char *without = loader->request->without;
    for (uint32_t i = 0; i < program_table_length; i++) {
        const char *tracepoint = program_table[i].tracepoint;
        bool hidden = tracepoint && without && strcmp(without, tracepoint) == 0;
        loader->has_tracepoint[i] =
            !hidden &&
            (!tracepoint || kernel_btf_tracepoint_arguments(loader->btf, tracepoint) >= 0);
    }
}

/* True also for a row that needs none. */
static bool has_tracepoint(const struct loader *loader, const struct program_row *row)
{
    return loader->has_tracepoint[row - program_table];
}

/* Whether all programs of a setting can run. */
static bool setting_holds(const struct loader *loader, size_t setting)
{
    for (uint32_t i = 0; i < program_table_length; i++)
        if (program_table[i].setting == setting &&
            (!has_tracepoint(loader, &program_table[i]) || is_refused(loader->set, i)))
            return false;
    return true;
}

static bool is_wanted(const struct loader *loader, const struct program_row *row)
{
    return loader->request->options->categories & CATEGORY_BIT(row->category) &&
           (row->instead_of == PROGRAM_NO_SETTING || !setting_holds(loader, row->instead_of));
}

static bool is_chosen(const struct loader *loader, uint32_t row)
{
    const struct program_row *chosen = &program_table[row];
    return is_wanted(loader, chosen) && has_tracepoint(loader, chosen) &&
           !is_refused(loader->set, row) &&
           (chosen->setting == PROGRAM_NO_SETTING || setting_holds(loader, chosen->setting));
}

static void choose_programs(struct loader *loader)
{
    for (uint32_t i = 0; i < program_table_length; i++) {
        struct bpf_program *program = find_program(loader->set, i);
        if (!is_chosen(loader, i))
            bpf_program__set_autoload(program, false);
        else if (loader->logs)
            bpf_program__set_log_buf(program, loader->logs + (size_t)i * LOG_STRIDE, LOG_BYTES);
    }
}

/* The newest helper that the programs require: Linux 5.15. */
#define NEWEST_HELPER "BPF_FUNC_get_attach_cookie"

static struct argus_error *check_required(const struct loader *loader)
{
    if (!kernel_btf_has_helper(loader->btf, NEWEST_HELPER))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "this kernel is too old for the recorder's BPF programs: Linux "
                                  "5.15 or later is needed");
    for (uint32_t i = 0; i < program_table_length; i++) {
        const struct program_row *row = &program_table[i];
        if (row->required && !has_tracepoint(loader, row))
            return argus_error_create(
                ARGUS_ERROR_UNSUPPORTED,
                "this kernel has no tracepoint %s, without which there are %s", row->tracepoint,
                row->lost_without);
    }
    return NULL;
}

/* --- settings --- */

static void clear_settings(const struct loader *loader, struct bpf_settings *settings)
{
    for (uint32_t i = 0; i < program_table_length; i++) {
        const struct program_row *row = &program_table[i];
        if (row->setting != PROGRAM_NO_SETTING && !setting_holds(loader, row->setting))
            *(uint32_t *)((char *)settings + row->setting) = 0;
    }
}

/* Settings that are the same for every try. */
static void find_settings(struct loader *loader)
{
    const struct backend_options *options = loader->request->options;
    bool stacks = options->categories & CATEGORY_BIT(CATEGORY_STACKS);
    loader->settings = (struct bpf_settings){
        .own_tgid = pid_namespace_own_id(),
        .slot_count = loader->request->slot_count,
        .cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
        .watch_polls = options->watch_polls,
        .probes = options->probes && options->probes->probes.length > 0,
        .client_uid = options->probes ? options->probes->client : 0,
        .stacks = stacks,
        .call_stacks = options->call_stacks && stacks,
        .tick_ns = host_tick_ns(),
        .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
        .hooks = !!(options->categories & CATEGORY_BIT(CATEGORY_PROBES)),
        .messages = !!(options->categories & CATEGORY_BIT(CATEGORY_MESSAGES)),
        .page_shift = (uint64_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
    };
    if (options->rate_hz)
        loader->settings.own_timer_function = kallsyms_find("perf_swevent_hrtimer");
    kernel_btf_fill(loader->btf, &loader->settings);
    syscalls_fill(&loader->settings);
    compat_calls_fill(&loader->settings);
}

static struct argus_error *configure(struct loader *loader)
{
    const struct program_request *request = loader->request;
    const struct backend_options *options = request->options;
    struct program_set *set = loader->set;
    struct bpf_settings settings = loader->settings;
    clear_settings(loader, &settings);
    snapshots_configure(set->object, options, request->cpu_count, &settings);
    if (!set->interpreters_refused)
        interpreters_configure(set->object, options, &settings);
    loader->has_interpreters = settings.interpreters != 0;
    int failed =
        bpf_map__set_initial_value(find_map(set, ".rodata.settings"), &settings, sizeof(settings));
    if (failed)
        return argus_error_os(-failed, "libbpf does not take the settings of the BPF programs");
    bpf_map__set_max_entries(find_map(set, "ring"), request->cpu_count * request->slot_count);
    bpf_map__set_max_entries(find_map(set, "cpus"), request->cpu_count);
    return NULL;
}

/* --- loading --- */

static struct argus_error *open_image(struct loader *loader, const struct bpf_image *image)
{
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "argus");
    struct program_set *set = loader->set;
    bpf_object__close(set->object);
    set->image = image;
    set->object = bpf_object__open_mem(image->begin, image->end - image->begin, &options);
    if (!set->object)
        return argus_error_os(errno, "libbpf cannot read the recorder's own programs");
    choose_programs(loader);
    probes_prepare(set->object, loader->btf, loader->request->options->probes);
    return configure(loader);
}

/* The row whose program was refused in the last try; program_table_length: none, the load failed
 * for another reason. */
static uint32_t find_refused(const struct loader *loader)
{
    uint32_t i = 0;
    while (i < program_table_length && (!loader->logs || !loader->logs[(size_t)i * LOG_STRIDE]))
        i++;
    return i;
}

/* The verifier's last line before its statistics ("processed 1234 insns …"): it says what was
 * wrong. */
static char *last_line(const char *log)
{
    const char *end = log + strnlen(log, LOG_BYTES), *line = end;
    while (end > log) {
        while (end > log && end[-1] == '\n')
            end--;
        for (line = end; line > log && line[-1] != '\n';)
            line--;
        if (line < end && strncmp(line, "processed ", 10) != 0)
            break;
        end = line;
    }
    return strndup(line, (size_t)(end - line));
}

/* The verifier's reason for refusing a row, owned by the caller; NULL without memory. */
static char *take_reason(struct loader *loader, uint32_t row)
{
    char *log = loader->logs + (size_t)row * LOG_STRIDE;
    char *reason = last_line(log);
    if (secure_getenv(DEBUG_VARIABLE))
        fprintf(stderr, "%.*s\n", (int)LOG_BYTES, log);
    madvise(log, LOG_STRIDE, MADV_DONTNEED);
    return reason;
}

static void forget_interpreters_refused(struct program_set *set)
{
    free(set->interpreters_refused);
    set->interpreters_refused = NULL;
}

/* A program may be refused because of the part that reads interpreter frames. So it is tried again
 * without that part; if it is then accepted, that part counts as refused. */
static struct argus_error *add_refused(struct loader *loader, uint32_t row)
{
    struct program_set *set = loader->set;
    struct program_refused refused = {.row = row, .reason = take_reason(loader, row)};
    if (!refused.reason)
        return argus_error_memory();
    if (loader->has_interpreters) {
        loader->suspect_row = row;
        set->interpreters_refused = refused.reason;
        return NULL;
    }
    if (set->interpreters_refused && loader->suspect_row == row)
        forget_interpreters_refused(set);
    if (vec_push(&set->refused, refused))
        return NULL;
    free(refused.reason);
    return argus_error_memory();
}

static struct argus_error *refusal(int failed)
{
    if (failed == EPERM || failed == EACCES)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "the kernel refuses BPF programs: root (or CAP_BPF and "
                                  "CAP_PERFMON) is needed, and no lockdown "
                                  "(/sys/kernel/security/lockdown) or container that forbids them");
    if (failed == ENOMEM)
        return argus_error_create(ARGUS_ERROR_MEMORY,
                                  "there is not enough memory for the ring: choose a smaller one "
                                  "with --ring-size");
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "the kernel does not accept the recorder's programs (%s; Linux 5.15 "
                              "or later is needed)",
                              strerror(failed));
}

#define LOCKDOWN_FILE "/sys/kernel/security/lockdown"

static bool is_locked_down(void)
{
    char modes[128];
    return small_file_read(LOCKDOWN_FILE, modes, sizeof(modes)) &&
           strstr(modes, "[confidentiality]");
}

static struct argus_error *too_many_refused(const struct program_set *set)
{
    if (is_locked_down())
        return argus_error_create(
            ARGUS_ERROR_PERMISSION,
            "the kernel is locked down (" LOCKDOWN_FILE
            ": confidentiality), and lets no program read its memory, not even root's: boot it "
            "with lockdown=integrity or without lockdown");
    const struct program_refused *last = &set->refused.data[set->refused.length - 1];
    const struct program_row *row = &program_table[last->row];
    return argus_error_create(
        ARGUS_ERROR_UNSUPPORTED,
        "the kernel does not accept the recorder's programs (%s, without which there are %s: %s; "
        "Linux 5.15 or later is needed)",
        row->program, row->lost_without, last->reason);
}

static void forget_refused(struct program_set *set)
{
    for (size_t i = 0; i < set->refused.length; i++)
        free(set->refused.data[i].reason);
    set->refused.length = 0;
    forget_interpreters_refused(set);
}

/* Loads the accepted programs of one build. */
static struct argus_error *load_image(struct loader *loader, const struct bpf_image *image,
                                      size_t refused_most)
{
    struct program_set *set = loader->set;
    for (;;) {
        struct argus_error *error = open_image(loader, image);
        if (error)
            return error;
        int failed = -bpf_object__load(set->object);
        if (!failed)
            return NULL;
        uint32_t row = find_refused(loader);
        error = row < program_table_length ? add_refused(loader, row) : refusal(failed);
        if (error)
            return error;
        bool is_out = set->refused.length && set->refused.data[set->refused.length - 1].row == row;
        if ((is_out && program_table[row].required) || set->refused.length > refused_most)
            return too_many_refused(set);
    }
}

static bool image_fits(const struct loader *loader, const struct bpf_image *image)
{
    return !image->kernel_function ||
           btf__find_by_name_kind(loader->btf, image->kernel_function, BTF_KIND_FUNC) >= 0;
}

/* If the kernel refuses a program of one build, the next build is tried; the last one suits every
 * kernel. */
static struct argus_error *load_images(struct loader *loader)
{
    uint32_t last = BPF_IMAGES - 1;
    for (uint32_t i = 0; i < last; i++) {
        if (!image_fits(loader, &bpf_images[i]))
            continue;
        struct argus_error *error = load_image(loader, &bpf_images[i], 0);
        if (error ? error->code != ARGUS_ERROR_UNSUPPORTED : !loader->set->interpreters_refused)
            return error;
        argus_error_destroy(error);
        forget_refused(loader->set);
    }
    return load_image(loader, &bpf_images[last], REFUSED_MOST);
}

/* --- what is said --- */

static void note_missing(struct loader *loader)
{
    struct program_set *set = loader->set;
    for (uint32_t i = 0; i < program_table_length; i++) {
        const struct program_row *row = &program_table[i];
        if (is_wanted(loader, row) && !has_tracepoint(loader, row))
            add_note(set, "this kernel has no tracepoint %s: %s", row->tracepoint,
                     row->lost_without);
    }
    for (size_t i = 0; i < set->refused.length; i++) {
        const struct program_row *row = &program_table[set->refused.data[i].row];
        add_note(set, "the program %s was refused by this kernel: %s%s%s", row->program,
                 row->lost_without, BACKEND_NOTE_DETAIL, set->refused.data[i].reason);
    }
    if (set->interpreters_refused)
        add_note(
            set,
            "what reads the frames of interpreters was refused by this kernel: no functions of "
            "Python programs in stacks%s%s",
            BACKEND_NOTE_DETAIL, set->interpreters_refused);
    if (!loader->settings.has_preempt_count)
        add_note(set, "this kernel's type information does not list the preemption count: "
                      "the context of wake-ups is unknown");
}

struct argus_error *program_set_load(const struct program_request *request, const struct btf *btf,
                                     struct program_set *ret)
{
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    struct loader loader = {.request = request, .btf = btf, .set = ret};
    *ret = (struct program_set){0};
    find_tracepoints(&loader);
    struct argus_error *error = check_required(&loader);
    if (error)
        return error;
    find_settings(&loader);
    libbpf_set_print(swallow_message);
    setrlimit(RLIMIT_MEMLOCK, &unlimited); /* kernels before 5.11 count maps against it */
    size_t bytes = program_table_length * LOG_STRIDE;
    char *logs = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    loader.logs = logs == MAP_FAILED ? NULL : logs;
    error =
        request->image ? load_image(&loader, request->image, REFUSED_MOST) : load_images(&loader);
    if (!error)
        note_missing(&loader);
    if (loader.logs)
        munmap(loader.logs, bytes);
    return error;
}

void program_set_deinit(struct program_set *set)
{
    bpf_object__close(set->object);
    forget_refused(set);
    vec_deinit(&set->refused);
    for (size_t i = 0; i < set->notes.length; i++)
        free(set->notes.data[i]);
    vec_deinit(&set->notes);
    *set = (struct program_set){0};
}

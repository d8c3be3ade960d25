/* A loop that polls a variable in shared memory waits for another process. No record says so. By
 * code (steps/loops/shared_roots.h) the variable lies so far behind the beginning of a mapping. By
 * the record of what processes share, others map the same place of the same file, and in their code
 * the functions that write there are searched for.
 *
 * If the waiter's process shares several files, the code does not tell in which of them the
 * variable is, so all are tried. A function of another file's memory may then be named; it is said
 * with "may", as all that code alone tells.
 */
#include "diagnose/suspects/shared_writers.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/suspects/code_place.h"
#include "diagnose/suspects/code_ranges.h"
#include "steps/loops/shared_roots.h"

enum {
    MOST_PLACES = 16, /* mappings of other processes that are looked at */
    MOST_FILES = 32,  /* files whose roots are remembered */
    MOST_CODE_BYTES =
        32
        << 20, /* of a file that is searched; larger ones are libraries of compilers and browsers */
};

/* The variable in another process. */
struct place {
    uint32_t process;
    uint64_t bytes; /* behind the beginning of a mapping */
};

struct file_roots {
    struct elf_file *file;
    struct shared_roots roots;
};

struct search {
    struct diagnoser *d;
    const struct argus_vertex *waiter;
    const struct loop_flag *flag;
    const struct reset_values *resets;
    struct argus_loop_variable *found;
    struct place places[MOST_PLACES];
    uint32_t place_count;
    struct file_roots files[MOST_FILES];
    uint32_t file_count;
    bool is_arm64;
};

/* --- where it is mapped --- */

static bool is_in(const struct argus_shared_memory *memory, uint64_t position)
{
    return position >= memory->offset && position - memory->offset < memory->bytes;
}

static void add_place(struct search *search, uint32_t process, uint64_t bytes)
{
    for (uint32_t i = 0; i < search->place_count; i++)
        if (search->places[i].process == process && search->places[i].bytes == bytes)
            return;
    if (search->place_count < MOST_PLACES)
        search->places[search->place_count++] = (struct place){process, bytes};
    else
        search->found->has_more_writers = true;
}

/* The other processes that may write at `position` of the file of `own`. */
static void find_others(struct search *search, const struct argus_shared_memory *own,
                        uint64_t position)
{
    const struct argus_shared_memory *all;
    const struct argus_thread *threads = search->d->view.threads;
    size_t count = argus_graph_shared_memory(search->d->view.graph, &all);
    for (size_t i = 0; i < count; i++)
        if (all[i].inode == own->inode && all[i].device == own->device && all[i].writable &&
            threads[all[i].thread].process != threads[own->thread].process &&
            is_in(&all[i], position))
            add_place(search, threads[all[i].thread].process, position - all[i].offset);
}

static void find_places(struct search *search, uint64_t bytes)
{
    const struct argus_shared_memory *all;
    const struct argus_thread *threads = search->d->view.threads;
    size_t count = argus_graph_shared_memory(search->d->view.graph, &all);
    for (size_t i = 0; i < count; i++)
        if (threads[all[i].thread].process == threads[search->waiter->thread].process &&
            bytes < all[i].bytes)
            find_others(search, &all[i], all[i].offset + bytes);
}

/* --- what writes there --- */

static bool is_small(const struct elf_file *file)
{
    uint64_t address;
    size_t bytes, all_bytes = 0;
    for (size_t i = 0; elf_file_code(file, i, &address, &bytes); i++)
        all_bytes += bytes;
    return all_bytes <= MOST_CODE_BYTES;
}

/* NULL: there are too many files. */
static const struct shared_roots *roots_of(struct search *search, struct elf_file *file)
{
    for (uint32_t i = 0; i < search->file_count; i++)
        if (search->files[i].file == file)
            return &search->files[i].roots;
    if (search->file_count == MOST_FILES)
        return NULL;
    struct file_roots *added = &search->files[search->file_count++];
    *added = (struct file_roots){.file = file};
    if (is_small(file))
        shared_roots_find(file, search->is_arm64, &added->roots);
    return &added->roots;
}

/* After a fork, the code of both processes has the same functions. */
static bool is_told(const struct argus_loop_variable *variable, const char *place, int64_t value)
{
    for (size_t i = 0; i < variable->writer_count; i++)
        if (variable->writers[i].value == value && strcmp(variable->writers[i].place, place) == 0)
            return true;
    return false;
}

static bool tell_writer(struct search *search, uint32_t process, uint64_t bias,
                        const struct code_writer *writer)
{
    struct argus_flag_writer told = {
        .place = text_writer_place(search->d, process, search->waiter->end_ns, bias, writer),
        .process = process,
        .value = writer->value,
        .has_value = writer->has_value,
        .signals = writer->signals,
        .is_possible = writer->is_possible,
    };
    if (!told.place || !is_told(search->found, told.place, told.value))
        return flag_writer_add(search->found, &told);
    free(told.place);
    return true;
}

static bool look_at_use(struct search *search, const struct mapped_files *files,
                        const struct flag_use *use, struct code_ranges *ranges)
{
    struct code_writers writers;
    uint32_t kept = 0;
    bool good = true;
    (void)code_writers_find(&use->flag, search->is_arm64, &writers);
    search->found->has_more_writers |= writers.is_cut;
    for (uint32_t i = 0; good && i < writers.count; i++) {
        const struct code_writer writer = writers.all[i];
        if (flag_write_continues(search->flag, search->resets, &writer))
            continue;
        good = tell_writer(search, files->process, use->bias, &writer);
        writers.all[kept++] = writer;
    }
    writers.count = kept;
    if (good && kept)
        code_ranges_take(files, use, &writers, ranges);
    return good;
}

/* A file with several parts of code comes several times, one after the other. */
static bool look_at_place(struct search *search, const struct place *place)
{
    bool good = true;
    struct mapped_file mapped;
    struct flag_use use;
    struct code_ranges ranges = {.count = 0};
    const struct elf_file *last = NULL;
    const struct mapped_files all =
        mapped_files_at(search->d, place->process, search->waiter->end_ns);
    struct mapped_files files = all;
    while (good && mapped_files_next(&files, &mapped)) {
        const bool is_new = mapped.file != last;
        const struct shared_roots *roots = is_new ? roots_of(search, mapped.file) : NULL;
        const bool is_searched = roots && is_small(mapped.file);
        use.bias = mapped.bias;
        last = mapped.file;
        /* what is not searched may have writers, too */
        search->found->has_more_writers |= is_new && !is_searched;
        for (uint32_t i = 0;
             good && is_searched &&
             shared_roots_flag(roots, i, mapped.file, search->flag, place->bytes, &use.flag);
             i++)
            good = look_at_use(search, &all, &use, &ranges);
    }
    return good && code_ranges_find_threads(search->d, search->waiter->thread, place->process,
                                            &ranges, search->found);
}

static bool find(struct search *search)
{
    uint64_t bytes;
    bool good = true;
    const struct argus_shared_memory *all;
    const struct shared_roots *roots = argus_graph_shared_memory(search->d->view.graph, &all)
                                           ? roots_of(search, search->flag->file)
                                           : NULL;
    if (!roots || !shared_roots_place(roots, search->flag, &bytes))
        return true;
    find_places(search, bytes);
    for (uint32_t i = 0; good && i < search->place_count; i++)
        good = look_at_place(search, &search->places[i]);
    return good;
}

bool shared_writers_find(struct diagnoser *d, const struct argus_vertex *v,
                         const struct loop_flag *flag, const struct reset_values *resets,
                         struct argus_loop_variable *ret)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(d->view.graph));
    struct search *search = calloc(1, sizeof(*search));
    if (!search)
        return false;
    search->d = d;
    search->waiter = v;
    search->flag = flag;
    search->resets = resets;
    search->found = ret;
    search->is_arm64 = header->arch == ARGUS_ARCH_AARCH64;
    bool good = find(search);
    free(search);
    return good;
}

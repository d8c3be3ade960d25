#include "event/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/compat.h"
#include "base/lower_bound.h"

/* Forks of forks without an exec: a shell's subshells. A longer chain is a loop. */
enum { LONGEST_ANCESTRY = 64 };

/* A library that is loaded and unloaded again and again has many mappings of one address. */
enum { MOST_COMPARED = 1 << 9 };

static int by_pid(const void *left, const void *right, void *context)
{
    const struct argus_image_entry *entries = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (entries[a].pid != entries[b].pid)
        return entries[a].pid < entries[b].pid ? -1 : 1;
    if (entries[a].start != entries[b].start)
        return entries[a].start < entries[b].start ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* --- Darwin's shared cache --- */

static bool is_cache(const struct argus_image_entry *entry)
{
    return strncmp(entry->path, ARGUS_SHARED_CACHE_PATH, strlen(ARGUS_SHARED_CACHE_PATH)) == 0;
}

/* The cache that may contain `address`; NULL: none. */
static const struct argus_image_entry *cache_at(const struct images *images, const uint32_t *caches,
                                                size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++) {
        const struct argus_image_entry *cache = &images->entries[caches[i]];
        if (address >= cache->start && address - cache->start < ARGUS_SHARED_CACHE_BYTES)
            return cache;
    }
    return NULL;
}

static int by_start(const void *left, const void *right, void *context)
{
    const struct argus_image_entry *entries = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (entries[a].start != entries[b].start)
        return entries[a].start < entries[b].start ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* There are at most a few caches (of different architectures). An image whose start is inside one
 * is in all processes. */
static bool find_shared(struct images *images)
{
    enum { MOST_CACHES = 8 };
    uint32_t caches[MOST_CACHES];
    size_t count = 0;
    for (size_t i = 0; i < images->count && count < MOST_CACHES; i++)
        if (is_cache(&images->entries[i]) &&
            !cache_at(images, caches, count, images->entries[i].start))
            caches[count++] = (uint32_t)i;
    if (!count)
        return true;
    images->shared = malloc(images->count * sizeof(*images->shared));
    if (!images->shared)
        return false;
    for (size_t i = 0; i < images->count; i++)
        if (cache_at(images, caches, count, images->entries[i].start))
            images->shared[images->shared_count++] = (uint32_t)i;
    if (images->shared_count)
        qsort_r(images->shared, images->shared_count, sizeof(*images->shared), by_start,
                (void *)images->entries);
    return true;
}

/* The last one that begins at or before the address; it extends to the next one. */
static uint32_t shared_at(const struct images *images, uint64_t address)
{
    size_t behind;
    LOWER_BOUND(behind, images->shared_count,
                images->entries[images->shared[behind]].start <= address);
    if (!behind)
        return UINT32_MAX;
    const struct argus_image_entry *entry = &images->entries[images->shared[behind - 1]];
    return address < entry->end ? images->shared[behind - 1] : UINT32_MAX;
}

/* Fills furthest[] for the tree of these entries, and returns its largest end. The depth is that of
 * a balanced tree. */
static uint64_t fill_furthest(struct images *images, size_t first, size_t count)
{
    if (!count)
        return 0;
    size_t middle = first + count / 2;
    uint64_t furthest = images->entries[images->by_pid[middle]].end;
    uint64_t left = fill_furthest(images, first, middle - first);
    uint64_t right = fill_furthest(images, middle + 1, count - (middle - first) - 1);
    furthest = left > furthest ? left : furthest;
    return images->furthest[middle] = right > furthest ? right : furthest;
}

/* A tree for each process. */
static void make_trees(struct images *images)
{
    for (size_t first = 0, behind; first < images->count; first = behind) {
        uint64_t pid = images->entries[images->by_pid[first]].pid;
        for (behind = first + 1; behind < images->count; behind++)
            if (images->entries[images->by_pid[behind]].pid != pid)
                break;
        fill_furthest(images, first, behind - first);
    }
}

struct argus_error *images_init(struct images *images, const struct argus_trace *trace,
                                const struct argus_process *processes, size_t process_count)
{
    *images =
        (struct images){.trace = trace, .processes = processes, .process_count = process_count};
    images->count = argus_trace_images(images->trace, &images->entries);
    images->by_pid = malloc((images->count + 1) * sizeof(*images->by_pid));
    images->furthest = malloc((images->count + 1) * sizeof(*images->furthest));
    bool darwin = argus_trace_header(trace)->os == ARGUS_OS_DARWIN;
    if (!images->by_pid || !images->furthest || (darwin && !find_shared(images)))
        return argus_error_memory();
    for (size_t i = 0; i < images->count; i++)
        images->by_pid[i] = (uint32_t)i;
    if (images->count)
        qsort_r(images->by_pid, images->count, sizeof(*images->by_pid), by_pid,
                (void *)images->entries);
    make_trees(images);
    return NULL;
}

void images_deinit(struct images *images)
{
    free(images->by_pid);
    free(images->furthest);
    free(images->shared);
    images->by_pid = images->shared = NULL;
    images->furthest = NULL;
}

/* The entries of one process: a part of by_pid, sorted by start. */
struct own {
    size_t first, count;
};

static struct own own_of(const struct images *images, uint64_t pid)
{
    size_t first, behind;
    LOWER_BOUND(first, images->count, images->entries[images->by_pid[first]].pid < pid);
    LOWER_BOUND(behind, images->count, images->entries[images->by_pid[behind]].pid <= pid);
    return (struct own){first, behind - first};
}

/* A mapping of an address. */
struct found {
    uint64_t mapped_ns;
    uint32_t entry; /* UINT32_MAX: none */
};

/* Of two mappings of an address, the better one at `time_ns`: the last one made before, else the
 * first one after (the recorder learns of some mappings slightly late). */
static bool better(const struct found *mapping, const struct found *than, uint64_t time_ns)
{
    bool before = mapping->mapped_ns <= time_ns;
    if (than->entry == UINT32_MAX)
        return true;
    if (before != (than->mapped_ns <= time_ns))
        return before;
    bool later = mapping->mapped_ns != than->mapped_ns ? mapping->mapped_ns > than->mapped_ns
                                                       : mapping->entry > than->entry;
    return before == later;
}

/* Whether a mapping of a process ID belongs to this life of the ID. */
static bool in_life(const struct argus_process *process, uint64_t mapped_ns)
{
    return mapped_ns <= process->end_ns && (mapped_ns >= process->start_ns || !process->start_ns);
}

/* A search for the mappings of one address in a process. */
struct search {
    const struct images *images;
    const struct argus_process *process;
    uint64_t time_ns, address;
    uint32_t left; /* how many more mappings may be compared */
    struct found best;
};

static void compare(struct search *search, uint32_t index)
{
    const struct argus_image_entry *entry = &search->images->entries[index];
    struct found found = {argus_trace_ticks_to_ns(search->images->trace, entry->mapped_ticks),
                          index};
    search->left--;
    if (in_life(search->process, found.mapped_ns) && better(&found, &search->best, search->time_ns))
        search->best = found;
}

/* The entries from `first` on are a balanced tree: the middle one is its root, and furthest[] has
 * the largest end of the tree below. */
static void search_below(struct search *search, size_t first, size_t count)
{
    const struct images *images = search->images;
    while (count && search->left) {
        size_t middle = first + count / 2;
        const struct argus_image_entry *entry = &images->entries[images->by_pid[middle]];
        if (search->address >= images->furthest[middle])
            return;
        search_below(search, first, middle - first);
        if (search->address < entry->start)
            return;
        if (search->address < entry->end && search->left)
            compare(search, images->by_pid[middle]);
        count -= middle - first + 1;
        first = middle + 1;
    }
}

static uint32_t find_own(const struct images *images, const struct argus_process *process,
                         uint64_t time_ns, uint64_t address)
{
    struct own own = own_of(images, process->pid);
    struct search search = {images, process, time_ns, address, MOST_COMPARED, {0, UINT32_MAX}};
    search_below(&search, own.first, own.count);
    return search.best.entry;
}

/* For a process that is older than the records, as nearly all are in a ring: its fork is not
 * recorded, nor the thread that forked it. So if it has no image of its own at an address, it uses
 * its parent's (for example the helpers that a browser forks from one process). If it has executed
 * another program since, its images are at other addresses than its parent's. */
static uint32_t find_parents(const struct images *images, const struct argus_process *own,
                             uint64_t time_ns, uint64_t address)
{
    if (own->forked_from != ARGUS_NONE || own->start_ns || !own->parent_pid)
        return UINT32_MAX;
    struct argus_process parent = {.pid = own->parent_pid, .end_ns = UINT64_MAX};
    return find_own(images, &parent, time_ns, address);
}

uint32_t images_find(const struct images *images, uint32_t process, uint64_t time_ns,
                     uint64_t address)
{
    for (int depth = 0; process < images->process_count && depth < LONGEST_ANCESTRY; depth++) {
        const struct argus_process *own = &images->processes[process];
        uint32_t found = find_own(images, own, time_ns, address);
        bool another_program = own->exec_ns && own->exec_ns <= time_ns;
        if (found != UINT32_MAX)
            return found;
        if (another_program)
            break;
        found = find_parents(images, own, time_ns, address);
        if (found != UINT32_MAX)
            return found;
        /* a mapping that the parent made after the fork is not the child's */
        time_ns = own->start_ns && own->start_ns < time_ns ? own->start_ns : time_ns;
        process = own->forked_from;
    }
    return images->shared_count ? shared_at(images, address) : UINT32_MAX;
}

/* The layout is that of Go's runtime/runtime2.go, Go 1.14 and later. These parts of `g` did not
 * change:
 *
 *   +0 stack's low and high end   +16 guard, between them or a very large number
 *   +48 m                         +56 saved sp, pc, g (which is its own address)
 *
 * Behind them, fields came and went, so the places of the status and the ID are tried: the first
 * goroutine of the list, which runs main(), has the ID 1. */
#include "live/live_go.h"
#include "live/live_images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/unwind/unwind_processor.h"

enum {
    WORD = 8,
    G_WORDS = 24,
    M_WORDS = 16,
    CHUNK = 65536, /* of the program's data */
    MOST_BYTES = 64 << 20,
    MOST_GOROUTINES = 1 << 20,
    MOST_READ = 1 << 16, /* of these */
    MOST_TRIES = 1 << 17,
    SPARE = 1024,     /* a slice grows by a quarter at least, and by twice at most */
    SCANNED = 0x1000, /* a bit of the status: the garbage collector looks at it */
};

/* In words. */
enum { G_LOW, G_HIGH, G_GUARD, G_MACHINE = 6, G_SP = 7, G_PC, G_SELF };

/* Where status and ID are: Go 1.23 and 1.24; Go 1.14 to 1.22 and from 1.25 on. In this order: the
 * status of the former is where the latter have the ID, and can be 1, too; where the former have
 * the ID, the latter have an address or 0 (schedlink). */
static const struct {
    uint8_t status, id;
} places[] = {{19, 20}, {18, 19}};

/* Where the frame pointer is: from Go 1.25 on, and before. The other one has no address of the
 * stack. */
static const uint8_t frame_places[] = {12, 13};

struct scan {
    struct argus_live *live;
    uint32_t pid;
    uint64_t list, count; /* result; the longest list */
    size_t place;
    uint32_t tries; /* how many lists were looked at */
};

static bool read_words(uint32_t pid, uint64_t address, uint64_t *ret, size_t words)
{
    return address && address % WORD == 0 && live_memory(pid, address, ret, words * WORD);
}

static bool is_goroutine(const uint64_t *word, uint64_t address)
{
    enum { LARGEST_STACK = 1 << 30, SPECIAL_GUARD = -4096 };
    return word[G_LOW] && word[G_LOW] < word[G_HIGH] &&
           word[G_HIGH] - word[G_LOW] <= LARGEST_STACK && word[G_SELF] == address &&
           ((word[G_GUARD] > word[G_LOW] && word[G_GUARD] < word[G_HIGH]) ||
            word[G_GUARD] >= (uint64_t)(int64_t)SPECIAL_GUARD);
}

static uint32_t status_of(const uint64_t *word, size_t place)
{
    return (uint32_t)word[places[place].status] & ~(uint32_t)SCANNED;
}

/* Whether the list at `list` begins with the goroutine that runs main(). */
static bool is_list(const struct scan *scan, uint64_t list, size_t *ret_place)
{
    enum { MOST_STATUS = 16 };
    uint64_t first, word[G_WORDS];
    if (!read_words(scan->pid, list, &first, 1) || !read_words(scan->pid, first, word, G_WORDS) ||
        !is_goroutine(word, first))
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (word[places[i].id] == 1 && status_of(word, i) < MOST_STATUS) {
            *ret_place = i;
            return true;
        }
    return false;
}

/* A slice: address, length, capacity. */
static void try_slice(struct scan *scan, const uint64_t *slice)
{
    enum { USER_BITS = 47 };
    uint64_t length = slice[1], capacity = slice[2];
    size_t place;
    if (!slice[0] || slice[0] % WORD || slice[0] >> USER_BITS || length <= scan->count ||
        length > capacity || capacity > 2 * length + SPARE || length > MOST_GOROUTINES ||
        scan->tries++ >= MOST_TRIES || !is_list(scan, slice[0], &place))
        return;
    scan->list = slice[0];
    scan->count = length;
    scan->place = place;
}

static void scan_range(struct scan *scan, uint64_t start, uint64_t end)
{
    enum { SLICE = 3 };
    uint64_t *words = malloc(CHUNK);
    if (!words)
        scan->live->no_memory = true;
    for (uint64_t at = start; words && at + SLICE * WORD <= end; at += CHUNK - SLICE * WORD) {
        size_t bytes = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
        if (!live_memory(scan->pid, at, words, bytes))
            continue;
        for (size_t i = 0; i + SLICE <= bytes / WORD; i++)
            try_slice(scan, words + i);
    }
    free(words);
}

struct range {
    uint64_t start, end;
};

static void scan_within(struct scan *scan, const struct range *range, uint64_t *left)
{
    uint64_t bytes = range->end - range->start < *left ? range->end - range->start : *left;
    *left -= bytes;
    scan_range(scan, range->start, range->start + bytes);
}

/* The program's data: writable mappings of its file, and the memory that continues them. A slice
 * can begin in one mapping and end in the next. */
static void scan_data(struct scan *scan, uint64_t inode)
{
    char path[48], permissions[5], *line = NULL;
    size_t room = 0;
    uint64_t start, end, found, last = 0, left = MOST_BYTES;
    struct range range = {0, 0};
    snprintf(path, sizeof(path), "/proc/%u/maps", scan->pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64, &start, &end,
                   permissions, &found) != 4)
            continue;
        bool is_data = permissions[1] == 'w' && (found == inode || (!found && start == last));
        last = found == inode || is_data ? end : last;
        if (is_data && start != range.end) {
            scan_within(scan, &range, &left);
            range.start = start;
        }
        range.end = is_data ? end : range.end;
    }
    scan_within(scan, &range, &left);
    if (file)
        fclose(file);
    free(line);
}

static bool is_in_stack(const struct goroutine *goroutine, uint64_t address)
{
    return address >= goroutine->low && address < goroutine->high;
}

/* False: it is none, as one that begins just now. */
static bool read_one(const struct scan *scan, uint64_t address, struct goroutine *ret)
{
    uint64_t word[G_WORDS];
    if (!read_words(scan->pid, address, word, G_WORDS))
        return false;
    *ret = (struct goroutine){
        .address = address,
        .id = word[places[scan->place].id],
        .status = status_of(word, scan->place),
        .low = word[G_LOW],
        .high = word[G_HIGH],
        .sp = word[G_SP],
        .pc = word[G_PC],
        .machine = word[G_MACHINE],
    };
    for (size_t i = 0; i < sizeof(frame_places) && !ret->frame; i++)
        if (word[frame_places[i]] >= ret->sp && is_in_stack(ret, word[frame_places[i]]))
            ret->frame = word[frame_places[i]];
    return ret->id == 1 || (ret->id && ret->status != GO_IDLE && ret->status != GO_DEAD &&
                            ret->status != GO_DEAD_EXTRA);
}

bool live_go_read(struct argus_live *live, uint32_t pid, uint64_t code, struct goroutines *ret)
{
    struct scan scan = {.live = live, .pid = pid};
    const struct live_mapping *mapping = live_mapping(live, pid, code);
    *ret = (struct goroutines){0};
    if (!mapping || !mapping->inode)
        return false;
    scan_data(&scan, mapping->inode);
    uint64_t count = scan.count < MOST_READ ? scan.count : MOST_READ;
    ret->left_out = (uint32_t)(scan.count - count);
    for (uint64_t i = 0; i < count && !live->no_memory; i++) {
        struct goroutine one;
        uint64_t address;
        if (read_words(pid, scan.list + i * WORD, &address, 1) && read_one(&scan, address, &one) &&
            !vec_push(&ret->items, one))
            live->no_memory = true;
    }
    return !live->no_memory && ret->items.length && ret->items.data[0].id == 1;
}

void live_go_deinit(struct goroutines *goroutines)
{
    vec_deinit(&goroutines->items);
}

/* The thread's ID is among the first words of `m`, behind its first goroutine and saved registers.
 */
uint32_t live_go_thread(struct argus_live *live, uint32_t process,
                        const struct goroutine *goroutine)
{
    uint64_t word[M_WORDS];
    uint32_t found = ARGUS_LIVE_NONE;
    if (!read_words(live->processes.data[process].pid, goroutine->machine, word, M_WORDS))
        return ARGUS_LIVE_NONE;
    for (size_t i = 1; i < M_WORDS && found == ARGUS_LIVE_NONE; i++)
        if (word[i] && word[i] <= INT32_MAX)
            found = live_thread_of_own_id(live, process, (uint32_t)word[i]);
    return found;
}

size_t live_go_stack(struct argus_live *live, uint32_t pid, const struct goroutine *goroutine,
                     uint64_t ret[LIVE_STACK_FRAMES], bool *ret_cut)
{
    const struct unwind_processor *processor = live_own_processor();
    struct live_moment moment = {.stack = NULL};
    *ret_cut = true;
    if (goroutine->status != GO_WAITING && goroutine->status != GO_RUNNABLE)
        return 0;
    moment.registers[processor->stack] = goroutine->sp;
    moment.registers[processor->registers - 1] = goroutine->pc;
    moment.known = 1ull << processor->stack | 1ull << (processor->registers - 1);
    if (goroutine->frame) {
        moment.registers[processor->frame] = goroutine->frame;
        moment.known |= 1ull << processor->frame;
    }
    return is_in_stack(goroutine, goroutine->sp) ? live_stack_at(live, pid, &moment, ret, ret_cut)
                                                 : 0;
}

/* --- descriptors ---
 *
 * Functions of internal/poll get a structure FD, with the descriptor at +16 and the address of the
 * poller's structure for it (pollDesc). That one has the descriptor, too, and the goroutine that
 * waits. All three have to agree, so a stale word of the stack names nothing. */

enum {
    FD_WORDS = 8,
    FD_NUMBER = 2,
    POLL_WORDS = 8,
    POLL_NUMBER = 1,
    LOOKED_AT = 1024, /* words of a stack */
};

static bool has_word(const uint64_t *words, size_t from, size_t count, uint64_t wanted)
{
    for (size_t i = from; i < count; i++)
        if (words[i] == wanted)
            return true;
    return false;
}

static bool is_descriptor(uint32_t pid, uint64_t address, const struct goroutine *goroutine,
                          uint32_t *ret_fd)
{
    uint64_t word[FD_WORDS], poll[POLL_WORDS];
    if (!read_words(pid, address, word, FD_WORDS) || word[FD_NUMBER] > INT32_MAX)
        return false;
    *ret_fd = (uint32_t)word[FD_NUMBER];
    for (size_t i = FD_NUMBER + 1; i < FD_WORDS; i++)
        if (read_words(pid, word[i], poll, POLL_WORDS) && poll[POLL_NUMBER] == word[FD_NUMBER] &&
            has_word(poll, POLL_NUMBER + 1, POLL_WORDS, goroutine->address))
            return true;
    return false;
}

/* The words of its stack, from the innermost on; how many. */
static size_t stack_words(uint32_t pid, const struct goroutine *goroutine, uint64_t ret[LOOKED_AT])
{
    if (!is_in_stack(goroutine, goroutine->sp))
        return 0;
    uint64_t words = (goroutine->high - goroutine->sp) / WORD;
    if (words > LOOKED_AT)
        words = LOOKED_AT;
    return read_words(pid, goroutine->sp, ret, (size_t)words) ? (size_t)words : 0;
}

bool live_go_descriptor(uint32_t pid, const struct goroutine *goroutine, uint32_t *ret)
{
    uint64_t word[LOOKED_AT];
    size_t count = stack_words(pid, goroutine, word);
    for (size_t i = 0; i < count; i++)
        if (is_descriptor(pid, word[i], goroutine, ret))
            return true;
    return false;
}

/* --- channels ---
 *
 * A goroutine that waits at a channel has a `sudog`, which begins with the goroutine's address. The
 * sudog has the address of the channel, and the channel that of the first sudog of each of its two
 * queues. */

enum { G_SUDOGS = 64, SUDOG_WORDS = 16, SUDOG_CHANNEL = 4, CHANNEL_WORDS = 16 };

static uint64_t channel_of(uint32_t pid, uint64_t sudog, const struct goroutine *goroutine)
{
    uint64_t word[SUDOG_WORDS], channel[CHANNEL_WORDS];
    if (!read_words(pid, sudog, word, SUDOG_WORDS) || word[0] != goroutine->address)
        return 0;
    for (size_t i = SUDOG_CHANNEL; i < SUDOG_WORDS; i++)
        if (read_words(pid, word[i], channel, CHANNEL_WORDS) &&
            has_word(channel, SUDOG_CHANNEL, CHANNEL_WORDS, sudog))
            return word[i];
    return 0;
}

uint64_t live_go_channel(uint32_t pid, const struct goroutine *goroutine)
{
    uint64_t word[G_SUDOGS], found = 0;
    if (!read_words(pid, goroutine->address, word, G_SUDOGS))
        return 0;
    for (size_t i = G_SELF + 1; i < G_SUDOGS && !found; i++)
        found = channel_of(pid, word[i], goroutine);
    return found;
}

bool live_go_refers_to(uint32_t pid, const struct goroutine *goroutine, uint64_t address)
{
    uint64_t word[LOOKED_AT];
    return address && has_word(word, 0, stack_words(pid, goroutine, word), address);
}

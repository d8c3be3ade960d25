#include "graph/text/detail_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/compat.h"
#include "graph/text/object_name.h"

/* So many ready descriptors are named; the rest is only counted. */
enum { MOST_NAMED = 3 };

#define DEVICE_MINOR_BITS 20

/* A suspend is noticed so soon after the threads were let go on. */
#define LONGEST_THAW_NS 30000000000ull

/* Details of one kind: `count` of them, of which `index` is the current one. */
struct detail {
    const struct argus_graph *graph;
    const struct argus_vertex *vertex;
    const uint64_t *arg;
    unsigned index, count;
};

static void add_ready(const struct detail *detail, struct text *text)
{
    char object[384];
    struct object_of_wait of = {detail->graph, detail->vertex->thread, detail->arg[1],
                                detail->arg[2], detail->arg[3]};
    uint32_t descriptor = (uint32_t)detail->arg[0];
    if (detail->index == MOST_NAMED)
        text_add(text, " and %u more", detail->count - detail->index);
    if (detail->index >= MOST_NAMED)
        return;
    text_add(text, detail->index ? ", " : ": ready ");
    if (descriptor == UINT32_MAX) {
        text_add(text, "what epoll_ctl called 0x%" PRIx64, detail->arg[1]);
        return;
    }
    text_add(text, "fd %" PRIu32, descriptor);
    if (*object_named_text(&of, object, sizeof(object)))
        text_add(text, " (%s)", object);
}

static void add_futex(const struct detail *detail, struct text *text)
{
    if (detail->arg[1])
        text_add(text, ", shared: inode %" PRIu64 " offset %" PRIu64, detail->arg[1],
                 detail->arg[2]);
}

/* The executable image of the process that contains `address`; NULL: none. */
static const struct argus_image_entry *image_at(const struct detail *detail, uint64_t address)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    const struct argus_image_entry *images, *found = NULL;
    argus_graph_threads(detail->graph, &threads);
    argus_graph_processes(detail->graph, &processes);
    uint64_t pid = processes[threads[detail->vertex->thread].process].pid;
    size_t count = argus_trace_images(argus_graph_trace(detail->graph), &images);
    for (size_t i = 0; i < count; i++)
        if (images[i].pid == pid && images[i].start <= address && address < images[i].end)
            found = &images[i];
    return found;
}

static void add_fault(const struct detail *detail, struct text *text)
{
    uint64_t address = detail->arg[0];
    const struct argus_image_entry *image = image_at(detail, address);
    if (image)
        text_add(text, ": %s offset 0x%" PRIx64, image->path,
                 image->file_offset + (address - image->start));
    else
        text_add(text, " at 0x%" PRIx64, address);
}

static void add_block(const struct detail *detail, struct text *text)
{
    static const char *const operations[] = {"read", "write", "flush", "discard"};
    uint64_t operation = detail->arg[0] >> 32 & 0xff;
    uint32_t device = (uint32_t)detail->arg[0];
    text_add(text, "; disk %" PRIu32 ":%" PRIu32 ", ", device >> DEVICE_MINOR_BITS,
             device & ((1u << DEVICE_MINOR_BITS) - 1));
    if (detail->arg[2] != 1)
        text_add(text, "%" PRIu64 " times ", detail->arg[2]);
    text_add(text, "%s",
             operation < sizeof(operations) / sizeof(*operations) ? operations[operation]
                                                                  : "another operation");
    if (detail->arg[1])
        text_add(text, " of %" PRIu64 " bytes", detail->arg[1]);
    if (!detail->arg[3] || detail->arg[3] == detail->vertex->wait.inode)
        return;
    const char *path = file_path_of(detail->graph, detail->arg[3], detail->vertex->thread);
    if (path)
        text_add(text, " of %s", path);
    else
        text_add(text, " of inode %" PRIu64, detail->arg[3]);
}

uint32_t detail_thread(const struct argus_graph *graph, uint64_t tid, uint64_t time_ns)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(graph, &threads);
    for (uint32_t i = 0; i < count; i++)
        if (threads[i].tid == tid && threads[i].start_ns <= time_ns && time_ns <= threads[i].end_ns)
            return i;
    return ARGUS_NONE;
}

/* Adds the path that these details are pieces of. Closes the quotation mark after the last
 * piece. */
static void add_path(const struct detail *detail, struct text *text)
{
    char piece[sizeof(uint64_t) * 4 + 1] = {0};
    memcpy(piece, detail->arg, sizeof(piece) - 1);
    text_add(text, "%s%s%s", detail->index ? "" : ", \"", piece,
             detail->index + 1 == detail->count ? "\"" : "");
}

static void add_signal(const struct detail *detail, struct text *text)
{
    const struct argus_wait *wait = &detail->vertex->wait;
    bool stopped = wait->kind == ARGUS_WAIT_STOPPED;
    const char *name = sigabbrev_np((int)(detail->arg[0] & 0x7f));
    uint32_t sender = detail_thread(detail->graph, detail->arg[1], wait->end_ns);
    const struct argus_thread *threads;
    argus_graph_threads(detail->graph, &threads);
    text_add(text, stopped ? ", stopped by " : "; ");
    if (name)
        text_add(text, "SIG%s", name);
    else
        text_add(text, "signal %" PRIu64, detail->arg[0]);
    if (detail->arg[1])
        text_add(text, " from thread %" PRIu64, detail->arg[1]);
    if (sender != ARGUS_NONE)
        text_add(text, " (%s)", threads[sender].name);
}

bool detail_is_of_sleep(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_suspension *suspensions;
    size_t count = argus_graph_suspensions(graph, &suspensions);
    for (size_t i = 0; i < count; i++)
        if (suspensions[i].noticed_ns >= vertex->end_ns &&
            suspensions[i].noticed_ns - vertex->end_ns <=
                vertex->wait.end_ns - vertex->end_ns + LONGEST_THAW_NS)
            return true;
    return false;
}

static void add_frozen(const struct detail *detail, struct text *text)
{
    text_add(text, detail_is_of_sleep(detail->graph, detail->vertex)
                       ? ", probably because the machine went to sleep"
                       : ", its control group was frozen");
}

/* In the order of the text. To add a kind: its number in argus/graph.h, and a row. */
static void (*const kinds[])(const struct detail *detail, struct text *text) = {
    [ARGUS_DETAIL_READY] = add_ready,   [ARGUS_DETAIL_FUTEX] = add_futex,
    [ARGUS_DETAIL_FAULT] = add_fault,   [ARGUS_DETAIL_BLOCK] = add_block,
    [ARGUS_DETAIL_PATH] = add_path,     [ARGUS_DETAIL_SIGNAL] = add_signal,
    [ARGUS_DETAIL_FROZEN] = add_frozen,
};

static unsigned count_kind(const struct argus_wait_detail *details, uint32_t first, uint8_t kind)
{
    unsigned count = 0;
    for (uint32_t i = first; i != ARGUS_NONE; i = details[i].next)
        count += details[i].kind == kind;
    return count;
}

/* Adds all details of one kind. */
static void add_kind(const struct argus_graph *graph, const struct argus_vertex *vertex,
                     uint8_t kind, struct text *text)
{
    const struct argus_wait_detail *details;
    argus_graph_details(graph, &details);
    uint32_t first = vertex->wait.first_detail;
    struct detail detail = {
        .graph = graph, .vertex = vertex, .count = count_kind(details, first, kind)};
    for (uint32_t i = first; i != ARGUS_NONE; i = details[i].next) {
        if (details[i].kind != kind)
            continue;
        detail.arg = details[i].arg;
        kinds[kind](&detail, text);
        detail.index++;
    }
}

void detail_texts(const struct argus_graph *graph, const struct argus_vertex *vertex,
                  struct text *text)
{
    if (vertex->wait.kind == ARGUS_WAIT_NONE)
        return;
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++)
        add_kind(graph, vertex, (uint8_t)kind, text);
}

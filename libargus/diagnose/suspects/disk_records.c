/* A request occupies its disk from the record of its issue to that of its completion, which may be
 * on different CPUs. So the records of all chunks are put in order first. A request that was issued
 * before LOOK_BACK_NS before the window is not known.
 *
 * What is stacked on a disk (loop) has requests of its own, and the disk has the same ones again.
 * If the file is known for which the thread waits, only the disk of its requests counts; else
 * requests of all disks do. A wait knows only the file's inode, which a file of another file system
 * may have, too: so the request that ended the wait decides, then the thread's own requests.
 */
#include "diagnose/suspects/disk_records.h"

#include <stdlib.h>

#include "argus/record.h"
#include "base/idmap.h"
#include "diagnose/suspects/chunk_records.h"
#include "event/darwin/darwin_disk.h"

#define LOOK_BACK_NS   2000000000ull
#define MOST_RECORDS   1000000
#define OPERATION(arg) ((arg) >> 32 & 0xff)
#define DEVICE(arg)    ((uint32_t)(arg))
#define WRITES         1
#define ANY_DEVICE     UINT32_MAX

struct request {
    struct disk_user user;
    bool is_transfer; /* it reads or writes; a discard has many bytes, which it does not move */
    bool open;
    uint32_t device;
    uint64_t tid, sector; /* the thread that queued or issued it for this sector; 0: none */
};

struct reader {
    const struct argus_trace *trace;
    struct window window;
    struct disk_use *use;
    const struct argus_wait *wait;
    uint64_t waiter;                  /* the tid of the thread that waits */
    uint32_t device;                  /* the disk of the file that it waits for; ANY_DEVICE */
    VEC(struct argus_record) records; /* times in ns */
    VEC(struct request) requests;
    struct idmap by_address; /* → index into `requests` */
    struct idmap by_user;    /* tid and inode → index into use->users */
};

/* --- the records --- */

/* Darwin's records are translated in place. */
static bool is_of_disk(const struct argus_trace *trace, struct argus_record *record)
{
    uint32_t debugid = record->debugid;
    if (argus_trace_header(trace)->os == ARGUS_OS_DARWIN)
        return darwin_disk_record(record);
    return debugid == ARGUS_ID_BLOCK_QUEUED || debugid == ARGUS_ID_BLOCK_ISSUED ||
           debugid == ARGUS_ID_BLOCK_COMPLETED || debugid == ARGUS_ID_BLOCK_FILE;
}

static bool keep(void *context, struct argus_record *records, size_t count)
{
    struct reader *reader = context;
    for (size_t i = 0; i < count && reader->records.length < MOST_RECORDS; i++) {
        if (!is_of_disk(reader->trace, &records[i]))
            continue;
        struct argus_record record = records[i];
        record.timestamp = argus_trace_ticks_to_ns(reader->trace, record.timestamp);
        if (record.timestamp + LOOK_BACK_NS >= reader->window.start_ns &&
            record.timestamp < reader->window.end_ns && !vec_push(&reader->records, record))
            return false;
    }
    return true;
}

static int by_time(const void *left, const void *right)
{
    const struct argus_record *a = left, *b = right;
    if (a->timestamp != b->timestamp)
        return a->timestamp < b->timestamp ? -1 : 1;
    return a->debugid < b->debugid ? -1 : a->debugid > b->debugid;
}

static struct argus_error *read_records(struct reader *reader)
{
    uint64_t start_ns = reader->window.start_ns;
    struct window near = {start_ns > LOOK_BACK_NS ? start_ns - LOOK_BACK_NS : 0,
                          reader->window.end_ns};
    struct argus_error *error =
        reader->trace ? chunk_records_read_window(reader->trace, near, keep, reader) : NULL;
    if (reader->records.length)
        qsort(reader->records.data, reader->records.length, sizeof(*reader->records.data), by_time);
    return error;
}

/* --- the requests --- */

static bool add_use(struct reader *reader, const struct disk_user *user)
{
    uint64_t key = (user->tid << 1 | user->writes) ^ user->inode * 0x9e3779b97f4a7c15ull;
    uint32_t index = idmap_get(&reader->by_user, key);
    reader->use->bytes += user->bytes;
    if (index != IDMAP_NONE) {
        reader->use->users.data[index].bytes += user->bytes;
        reader->use->users.data[index].requests++;
        return true;
    }
    index = (uint32_t)reader->use->users.length;
    return vec_push(&reader->use->users, *user) && idmap_put(&reader->by_user, key, index);
}

/* Counts the request if it was in progress in the window. */
static bool close_request(struct reader *reader, struct request *request, uint64_t time_ns)
{
    bool is_of_disk = reader->device == ANY_DEVICE || request->device == reader->device;
    bool counts =
        request->open && request->is_transfer && is_of_disk && time_ns >= reader->window.start_ns;
    request->open = false;
    request->tid = 0;
    return !counts || add_use(reader, &request->user);
}

static struct request *request_at(struct reader *reader, uint64_t address)
{
    uint32_t index = idmap_get(&reader->by_address, address);
    return index == IDMAP_NONE ? NULL : &reader->requests.data[index];
}

/* The request at this address; a new one, if there is none. NULL: no memory. */
static struct request *request_for(struct reader *reader, uint64_t address)
{
    struct request *request = request_at(reader, address);
    if (request)
        return request;
    if (!idmap_put(&reader->by_address, address, (uint32_t)reader->requests.length) ||
        !vec_push(&reader->requests, (struct request){.open = false}))
        return NULL;
    return &reader->requests.data[reader->requests.length - 1];
}

/* A kernel worker may issue what another thread has queued, or issued in vain
 * (graph/build/on_block.c). */
static bool issue(struct reader *reader, const struct argus_record *record)
{
    struct request *request = request_for(reader, record->arg[0]);
    if (!request)
        return false;
    bool is_same = request->tid && request->sector == record->arg[1];
    uint64_t tid = is_same ? request->tid : record->tid;
    *request = (struct request){
        .user = {.tid = tid,
                 .writes = OPERATION(record->arg[3]) == WRITES,
                 .bytes = record->arg[2],
                 .requests = 1},
        .is_transfer = OPERATION(record->arg[3]) <= WRITES,
        .device = DEVICE(record->arg[3]),
        .open = true,
        .tid = tid,
        .sector = record->arg[1],
    };
    return true;
}

static bool queue(struct reader *reader, const struct argus_record *record)
{
    struct request *request = request_for(reader, record->arg[0]);
    if (!request)
        return false;
    request->tid = record->tid;
    request->sector = record->arg[1];
    return true;
}

static bool on_record(struct reader *reader, const struct argus_record *record)
{
    if (record->debugid == ARGUS_ID_BLOCK_ISSUED)
        return issue(reader, record);
    if (record->debugid == ARGUS_ID_BLOCK_QUEUED)
        return queue(reader, record);
    struct request *request = request_at(reader, record->arg[0]);
    if (!request)
        return true;
    if (record->debugid == ARGUS_ID_BLOCK_COMPLETED)
        return close_request(reader, request, record->timestamp);
    request->user.inode = record->arg[1];
    return true;
}

/* --- the disk that is meant --- */

/* The disk whose completed request for the file ended the wait; ANY_DEVICE: none did. */
static uint32_t device_of_end(const struct diagnoser *d, const struct argus_wait *wait)
{
    const struct argus_wait_detail *details;
    size_t count = argus_graph_details(d->view.graph, &details);
    for (uint32_t i = wait->first_detail; i < count; i = details[i].next)
        if (details[i].kind == ARGUS_DETAIL_BLOCK && details[i].arg[3] == wait->inode)
            return DEVICE(details[i].arg[0]);
    return ANY_DEVICE;
}

/* What the requests for files with one inode tell: files of different file systems can have the
 * same. */
struct candidates {
    uint32_t device;       /* of the latest request */
    uint32_t own;          /* of the latest one that the waiting thread issued */
    uint64_t files;        /* the file system of the first one … */
    bool found, ambiguous; /* … and whether another one has such a file */
};

static void note_candidate(struct candidates *candidates, const struct reader *reader,
                           const struct argus_record *file, uint32_t device)
{
    candidates->ambiguous |= candidates->found && candidates->files != file->arg[3];
    candidates->files = file->arg[3];
    candidates->found = true;
    candidates->device = device;
    if (file->tid == reader->waiter)
        candidates->own = device;
}

/* The disk with the requests for the file; ANY_DEVICE: there is none, or not one alone. */
static bool find_device(struct reader *reader)
{
    struct idmap devices = {.slots = NULL}; /* by the request's address */
    struct candidates candidates = {.device = ANY_DEVICE, .own = ANY_DEVICE};
    uint64_t inode = reader->wait->inode;
    bool good = true;
    for (size_t i = 0; good && inode && i < reader->records.length; i++) {
        const struct argus_record *record = &reader->records.data[i];
        if (record->debugid == ARGUS_ID_BLOCK_ISSUED)
            good = idmap_put(&devices, record->arg[0], DEVICE(record->arg[3]));
        else if (record->debugid == ARGUS_ID_BLOCK_FILE && record->arg[1] == inode)
            note_candidate(&candidates, reader, record, idmap_get(&devices, record->arg[0]));
    }
    idmap_deinit(&devices);
    if (reader->device == ANY_DEVICE)
        reader->device = candidates.own;
    if (reader->device == ANY_DEVICE && !candidates.ambiguous)
        reader->device = candidates.device;
    return good;
}

struct argus_error *disk_use_read(const struct diagnoser *d, struct window window, uint32_t vertex,
                                  struct disk_use *ret)
{
    const struct argus_vertex *v = &d->view.vertices[vertex];
    struct reader reader = {.trace = argus_graph_trace(d->view.graph),
                            .window = window,
                            .use = ret,
                            .wait = &v->wait,
                            .waiter = d->view.threads[v->thread].tid,
                            .device = v->wait.inode ? device_of_end(d, &v->wait) : ANY_DEVICE};
    *ret = (struct disk_use){.bytes = 0};
    struct argus_error *error = read_records(&reader);
    bool good = !error && find_device(&reader);
    ret->one_disk = reader.device != ANY_DEVICE;
    for (size_t i = 0; good && i < reader.records.length; i++)
        good = on_record(&reader, &reader.records.data[i]);
    for (size_t i = 0; good && i < reader.requests.length; i++)
        good = close_request(&reader, &reader.requests.data[i], window.end_ns);
    vec_deinit(&reader.records);
    vec_deinit(&reader.requests);
    idmap_deinit(&reader.by_address);
    idmap_deinit(&reader.by_user);
    return error || good ? error : argus_error_memory();
}

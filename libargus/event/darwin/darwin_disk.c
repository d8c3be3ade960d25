/* Disk requests: class FSYSTEM, subclass DKRW. The code is made of flags, so it has no rows in a
 * table (bsd/sys/kdebug.h: DKIO_…).
 *
 * A request begins in spec_strategy() (bsd/miscfs/specfs/spec_vnops.c:2672): buffer, device, block,
 * bytes. It is done in buf_biodone() (bsd/vfs/vfs_bio.c:4257): buffer, vnode, bytes that are not
 * transferred, error; written by the driver's thread, which wakes the waiters next. Requests of
 * programs that read a raw disk (spec_vnops.c:575) have a vnode in place of a buffer.
 */
#include "event/darwin/darwin_disk.h"

#include "event/darwin/darwin.h"

#define DKIO_DONE 0x1u
#define DKIO_READ 0x2u

#define DARWIN_MAJOR(device) ((uint32_t)(device) >> 24) /* bsd/sys/types.h: major() */
#define DARWIN_MINOR(device) ((uint32_t)(device)&0xffffffu)
#define MINOR_BITS           20 /* of block_issued */

static void begin_request(struct argus_record *record, bool reads)
{
    uint64_t device = record->arg[1], bytes = record->arg[3];
    uint64_t operation = reads ? ARGUS_BLOCK_READ : ARGUS_BLOCK_WRITE;
    record->debugid = ARGUS_ID_BLOCK_ISSUED;
    record->arg[1] = record->arg[2];
    record->arg[2] = bytes;
    record->arg[3] = (uint64_t)DARWIN_MAJOR(device) << MINOR_BITS |
                     (DARWIN_MINOR(device) & ((1u << MINOR_BITS) - 1)) | operation << 32;
}

static void end_request(struct argus_record *record)
{
    record->debugid = ARGUS_ID_BLOCK_COMPLETED;
    record->arg[1] = record->arg[3];
    record->arg[2] = record->arg[3] = 0;
}

bool darwin_disk_record(struct argus_record *record)
{
    uint32_t flags = ARGUS_DEBUGID_CODE(record->debugid);
    if (record->debugid >> 16 != DARWIN_ID_DISK >> 16)
        return false;
    if (flags & DKIO_DONE)
        end_request(record);
    else if (record->arg[3] < UINT32_MAX)
        begin_request(record, flags & DKIO_READ);
    else
        return false;
    return true;
}

/* A request is done once, whatever was transferred. A record of the end of a request that began
 * before the trace is left out. */
void darwin_on_disk(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    struct argus_record made = *record;
    uint64_t request = record->arg[0];
    if (!darwin_disk_record(&made))
        return;
    bool begins = made.debugid == ARGUS_ID_BLOCK_ISSUED;
    uint32_t bytes = begins ? (uint32_t)made.arg[2] : idmap_get(&darwin->bytes_by_request, request);
    if (!begins && bytes == IDMAP_NONE)
        return;
    darwin_put(darwin, &darwin->bytes_by_request, request, begins ? bytes : IDMAP_NONE);
    made.arg[2] = bytes;
    darwin_emit(darwin, cpu, record, made.debugid, made.arg);
}

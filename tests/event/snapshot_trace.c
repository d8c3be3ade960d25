#include "snapshot_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "trace/cipher.h"
#include "trace/layout.h"

char snapshot_trace_path[64];
const uint64_t *snapshot_trace_interpreted;
size_t snapshot_trace_interpreted_count;
const struct argus_snapshot_key *snapshot_trace_key;

void must(struct argus_error *error)
{
    if (error)
        fail_msg("%s", error->message);
}

static void put_images(struct argus_writer *writer)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        char flags[5], file[256] = "";
        struct argus_image_entry image = {.pid = (uint64_t)getpid(), .path = file};
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %255s",
                   &image.start, &image.end, flags, &image.file_offset, &image.inode, file) >= 5 &&
            flags[2] == 'x') {
/* qemu-user has no vdso, but a page without a name, to which signal handlers return. */
#if defined(__aarch64__)
            if (!file[0])
                strcpy(file, "[vdso]");
#endif
            must(argus_writer_images(writer, &image, 1));
        }
    }
    fclose(maps);
}

static void put_record(struct argus_writer *writer, uint64_t id, uint64_t tid)
{
    struct argus_record record = {
        .timestamp = 1000, .tid = tid, .debugid = ARGUS_ID_STACK, .arg = {id, 0, 1}};
    must(argus_writer_records(writer, 0, &record, 1, 0));
}

void snapshot_trace_write(const struct argus_snapshot *snapshots, size_t count, uint64_t ring_bytes,
                          bool images)
{
    struct argus_trace_header header = {
        .os = ARGUS_OS_LINUX,
#if defined(__x86_64__)
        .arch = ARGUS_ARCH_X86_64,
#else
        .arch = ARGUS_ARCH_AARCH64,
#endif
        .timebase_numer = 1,
        .timebase_denom = 1,
        .anchor_wall_ns = 4102444800000000000u, /* 2100: files of today are older */
        .page_bytes = 4096,
        .cpu_count = 1,
        .ring_bytes = ring_bytes,
    };
    struct argus_writer *writer;
    struct argus_thread_entry thread = {
        .tid = (uint64_t)getpid(), .pid = (uint64_t)getpid(), .name = "test_unwind"};
    int fd = open(snapshot_trace_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    must(argus_writer_create(fd, &header, &writer));
    if (snapshot_trace_key)
        must(argus_writer_encrypt(writer, snapshot_trace_key));
    must(argus_writer_threads(writer, &thread, 1));
    if (images)
        put_images(writer);
    for (size_t i = 0; i < count; i++) {
        put_record(writer, snapshots[i].id, snapshots[i].tid);
        must(argus_writer_snapshot(writer, &snapshots[i]));
        must(argus_writer_snapshot(writer, &snapshots[i])); /* the second one must be dropped */
    }
    if (snapshot_trace_interpreted_count)
        must(argus_writer_stack(writer, ID ^ ARGUS_STACK_INTERPRETED, snapshot_trace_interpreted,
                                snapshot_trace_interpreted_count));
    must(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    close(fd);
}

struct argus_trace *snapshot_trace_open(void)
{
    struct argus_trace *trace;
    const struct argus_damage *damage;
    must(argus_trace_open(snapshot_trace_path, &trace));
    if (argus_trace_damage(trace, &damage))
        fail_msg("%s", damage[0].reason);
    assert_true(argus_trace_complete(trace));
    return trace;
}

size_t snapshot_trace_take(struct argus_trace *trace, uint64_t ret[ARGUS_STACK_MAX_FRAMES])
{
    const uint64_t *frames;
    size_t count = argus_trace_stack(trace, ID, &frames);
    assert_true(count >= 1 && count <= ARGUS_STACK_MAX_FRAMES);
    memcpy(ret, frames, count * sizeof(*ret));
    argus_trace_close(trace);
    return count;
}

/* The bytes of the first snapshot chunk in the file; the caller frees them. */
static uint8_t *read_place(uint64_t offset, size_t bytes)
{
    int fd = open(snapshot_trace_path, O_RDONLY | O_CLOEXEC);
    uint8_t *content = malloc(bytes);
    assert_true(fd >= 0 && content);
    assert_int_equal(pread(fd, content, bytes, (off_t)offset), bytes);
    close(fd);
    return content;
}

void snapshot_trace_assert_scrubbed(const struct argus_chunk *place)
{
    size_t bytes = 64 + place->stored_bytes;
    uint8_t *content = read_place(place->offset_bytes, bytes);
    uint16_t kind;
    uint32_t stored;
    memcpy(&kind, content + 4, sizeof(kind));
    memcpy(&stored, content + 8, sizeof(stored));
    assert_int_equal(kind, ARGUS_CHUNK_STACKS);
    size_t rest = (64 + stored + 7) / 8 * 8;
    assert_true(rest + 64 <= bytes);
    memcpy(&kind, content + rest + 4, sizeof(kind));
    assert_int_equal(kind, ARGUS_CHUNK_PAD);
    for (size_t i = rest + 64; i < bytes; i++)
        assert_int_equal(content[i], 0);
    free(content);
}

void snapshot_trace_change(uint32_t at)
{
    const struct argus_chunk *place;
    struct argus_trace *trace = snapshot_trace_open();
    assert_int_equal(argus_trace_snapshot_chunks(trace, &place), 1);
    size_t bytes = sizeof(struct layout_chunk) + place->stored_bytes;
    uint8_t *content = read_place(place->offset_bytes, bytes);
    struct layout_chunk header;
    memcpy(&header, content, sizeof(header));
    content[sizeof(header) + at] ^= 1;
    header.payload_crc =
        (uint32_t)crc32(0, content + sizeof(header), (unsigned)place->stored_bytes);
    header.header_crc =
        (uint32_t)crc32(0, (const void *)&header, offsetof(struct layout_chunk, header_crc));
    memcpy(content, &header, sizeof(header));
    int fd = open(snapshot_trace_path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, content, bytes, (off_t)place->offset_bytes), bytes);
    close(fd);
    free(content);
    argus_trace_close(trace);
}

/* Behind the heads of the chunk: the path of an image and the ID of the key can be on the stack,
 * too, and are no copied memory. */
void snapshot_trace_assert_unreadable(const struct argus_snapshot *snapshot)
{
    const struct argus_chunk *place;
    struct argus_trace *trace = snapshot_trace_open();
    assert_int_equal(argus_trace_snapshot_chunks(trace, &place), 1);
    size_t head = sizeof(struct layout_chunk) + sizeof(struct cipher_head);
    size_t length = sizeof(struct layout_chunk) + place->stored_bytes - head;
    uint8_t *content = read_place(place->offset_bytes + head, length);
    assert_true(length > 256);
    for (uint32_t at = 0; at + 16 <= snapshot->stack_bytes; at += 8) {
        static const uint8_t zeros[16];
        const uint8_t *pair = snapshot->stack + at;
        if (memcmp(pair, zeros, 8) && memcmp(pair + 8, zeros, 8))
            assert_null(memmem(content, length, pair, 16));
    }
    free(content);
    argus_trace_close(trace);
}

void snapshot_trace_assert_locked(void)
{
    static const struct argus_snapshot_key other = {{9}};
    struct argus_unwind_totals totals;
    must(argus_unwind_file(snapshot_trace_path, &other, NULL, NULL, &totals));
    assert_int_equal(totals.locked, 1);
    assert_int_equal(totals.snapshots + totals.damaged_chunks, 0);
    struct argus_trace *trace = snapshot_trace_open();
    struct argus_snapshot_counts counts = argus_trace_count_snapshots(trace);
    assert_true(!counts.plain && !counts.encrypted && counts.locked == 1);
    assert_int_equal(argus_trace_record_count(trace), 1);
    argus_trace_close(trace);
}

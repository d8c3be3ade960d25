/* bench_codec FILE…: packs the records of traces again with each codec of this build, and unpacks them. Prints what a record
 * costs; the columns are the same ones, CHUNK_RECORDS in a chunk as the recorder makes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vec.h"
#include "trace/codec.h"
#include "trace/pack.h"

enum { CHUNK_RECORDS = 65536, MOST_CHUNKS = 60, MOST_CPUS = 1024, ROUNDS = 3 };

struct cost {
    double pack_s, unpack_s, bytes; /* of the best round */
};

/* The data to measure: payloads of CHUNK_RECORDS records each. */
struct payloads {
    struct bytes columns[MOST_CHUNKS], packed[MOST_CHUNKS];
    size_t count;
    struct codec_encoder encoder;
    VEC(struct argus_record) records[MOST_CPUS]; /* records not yet in a chunk */
};

static double cpu_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void add_payload(struct payloads *payloads, uint32_t cpu)
{
    const struct argus_record *records = payloads->records[cpu].data;
    struct codec_bounds bounds = {
        .first_ticks = records[0].timestamp, .count = CHUNK_RECORDS, .cpu = cpu};
    for (uint32_t i = 1; i < CHUNK_RECORDS; i++) {
        if (records[i].timestamp < bounds.first_ticks)
            bounds.first_ticks = records[i].timestamp;
    }
    codec_encode(&payloads->encoder, &bounds, records, &payloads->columns[payloads->count++]);
    payloads->records[cpu].length = 0;
}

static bool add_records(struct payloads *payloads, uint32_t cpu, const struct argus_record *records,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count && payloads->count < MOST_CHUNKS; i++) {
        if (!vec_push(&payloads->records[cpu], records[i]))
            return false;
        if (payloads->records[cpu].length == CHUNK_RECORDS)
            add_payload(payloads, cpu);
    }
    return true;
}

static struct argus_error *read_payloads(const struct argus_trace *trace, struct payloads *ret)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    for (size_t i = 0; i < count && !error; i++) {
        if (chunks[i].cpu >= MOST_CPUS)
            continue;
        error = argus_trace_read_chunk(trace, &chunks[i], records);
        if (!error && !add_records(ret, chunks[i].cpu, records, chunks[i].count))
            error = argus_error_memory();
    }
    free(records);
    return error;
}

/* One round; false if the unpacked data differs from the packed data. */
static bool measure(struct payloads *payloads, enum argus_codec codec, struct cost *ret)
{
    struct packer packer = {.codec = codec};
    uint8_t *room = malloc(ARGUS_CHUNK_MAX_BYTES);
    enum argus_codec used;
    bool same = room != NULL;
    double begun_s = cpu_s();
    for (size_t i = 0; i < payloads->count && same; i++) {
        struct bytes *columns = &payloads->columns[i], *packed = &payloads->packed[i];
        bytes_clear(packed);
        same = packer_pack(&packer, columns->data, columns->length, packed, &used) && used == codec;
        ret->bytes += (double)packed->length;
    }
    ret->pack_s = cpu_s() - begun_s;
    begun_s = cpu_s();
    for (size_t i = 0; i < payloads->count && same; i++) {
        struct bytes *columns = &payloads->columns[i], *packed = &payloads->packed[i];
        same = !unpack(codec, packed->data, packed->length, room, columns->length);
    }
    ret->unpack_s = cpu_s() - begun_s;
    free(room);
    packer_deinit(&packer);
    return same;
}

static void print_costs(struct payloads *payloads)
{
    struct cost best[ARGUS_CODECS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t codec = ARGUS_CODEC_ZLIB; codec < ARGUS_CODECS; codec++) {
            struct cost cost = {0}, *least = &best[codec];
            if (!argus_codec_is_built(codec) || !measure(payloads, codec, &cost))
                continue;
            least->bytes = cost.bytes;
            if (round == 0 || cost.pack_s < least->pack_s)
                least->pack_s = cost.pack_s;
            if (round == 0 || cost.unpack_s < least->unpack_s)
                least->unpack_s = cost.unpack_s;
        }
    }
    double records = (double)(payloads->count * CHUNK_RECORDS);
    const struct cost *zlib = &best[ARGUS_CODEC_ZLIB];
    for (uint32_t codec = ARGUS_CODEC_ZLIB; codec < ARGUS_CODECS; codec++) {
        const struct cost *cost = &best[codec];
        if (cost->bytes > 0)
            printf("  %-6s pack %6.1f ns  unpack %5.1f ns  %5.2f bytes a record;  ÷ zlib: %4.2f  "
                   "%4.2f  "
                   "%4.2f\n",
                   argus_codec_name(codec), cost->pack_s / records * 1e9,
                   cost->unpack_s / records * 1e9, cost->bytes / records,
                   cost->pack_s / zlib->pack_s, cost->unpack_s / zlib->unpack_s,
                   cost->bytes / zlib->bytes);
    }
}

static struct argus_error *bench_file(const char *path)
{
    static struct payloads payloads;
    struct argus_trace *trace = NULL;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (!error)
        error = read_payloads(trace, &payloads);
    argus_trace_close(trace);
    if (error)
        return error;
    printf("%s: %zu records in chunks of %d\n", path, payloads.count * CHUNK_RECORDS,
           CHUNK_RECORDS);
    if (payloads.count)
        print_costs(&payloads);
    for (size_t i = 0; i < payloads.count; i++) {
        bytes_deinit(&payloads.columns[i]);
        bytes_deinit(&payloads.packed[i]);
    }
    for (size_t cpu = 0; cpu < MOST_CPUS; cpu++)
        vec_deinit(&payloads.records[cpu]);
    codec_encoder_deinit(&payloads.encoder);
    memset(&payloads, 0, sizeof(payloads));
    return NULL;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct argus_error *error = bench_file(argv[i]);
        if (error) {
            fprintf(stderr, "bench_codec: %s\n", error->message);
            return 1;
        }
    }
    return argc > 1 ? 0 : 2;
}

#include "trace/snapshot_decrypt.h"

#include <stdlib.h>
#include <string.h>

#include "trace/cipher.h"
#include "trace/layout.h"
#include "trace/pack.h"
#include "trace/reason.h"
#include "trace/varint.h"

#define LEAST_SNAPSHOT_BYTES 14u /* an ID of eight bytes and six varints */

/* An encrypted payload in parts. */
struct parts {
    uint8_t *payload; /* owned */
    uint8_t *packed;  /* encrypted; a tag follows */
    size_t packed_bytes;
    struct cipher_head head;
};

static const char *fault_of(const struct parts *parts, uint32_t count)
{
    const struct cipher_head *head = &parts->head;
    const char *fault = pack_fault(head->codec);
    if (fault)
        return fault;
    if (head->unpacked_bytes > LAYOUT_MOST_SNAPSHOT_BYTES)
        return "it is larger than a chunk of stack snapshots may be";
    if (count > head->unpacked_bytes / LEAST_SNAPSHOT_BYTES)
        return "its payload is too small for its stack snapshots";
    return pack_is_possible(parts->packed_bytes, head->unpacked_bytes)
               ? NULL
               : "it claims to unpack to more than is possible";
}

static struct argus_error *load_parts(const struct argus_trace *trace,
                                      const struct argus_chunk *chunk, struct parts *ret)
{
    size_t least = sizeof(ret->head) + CIPHER_TAG_BYTES;
    *ret = (struct parts){0};
    if (chunk->unpacked_bytes < least)
        return reason_to_error("it is too short for encrypted stack snapshots");
    struct argus_error *error = chunk_load(trace, chunk, &ret->payload);
    if (error)
        return error;
    memcpy(&ret->head, ret->payload, sizeof(ret->head));
    ret->packed = ret->payload + sizeof(ret->head);
    ret->packed_bytes = chunk->unpacked_bytes - least;
    const char *fault = fault_of(ret, chunk->count);
    if (fault) {
        free(ret->payload);
        ret->payload = NULL;
    }
    return reason_to_error(fault);
}

void snapshots_find_key(struct argus_trace *trace, const struct argus_chunk *chunk)
{
    struct parts parts;
    struct argus_error *error = trace->has_looked ? NULL : load_parts(trace, chunk, &parts);
    if (!error && !trace->has_looked) {
        trace->has_looked = true;
        argus_snapshot_key_find(parts.head.key_id, &trace->found);
        free(parts.payload);
    }
    argus_error_destroy(error); /* snapshots_check() finds it as well */
}

static bool is_of(const struct argus_snapshot_key *key, const struct cipher_head *head)
{
    uint8_t id[ARGUS_SNAPSHOT_KEY_ID_BYTES];
    return argus_snapshot_key_is_set(key) && cipher_key_id(key, id) &&
           memcmp(id, head->key_id, sizeof(id)) == 0;
}

/* Borrowed; NULL: it is not known. */
static const struct argus_snapshot_key *key_of(const struct argus_trace *trace,
                                               const struct cipher_head *head)
{
    if (is_of(&trace->given, head))
        return &trace->given;
    return is_of(&trace->found, head) ? &trace->found : NULL;
}

static const char *unpack_parts(const struct parts *parts, uint8_t **ret)
{
    const struct cipher_head *head = &parts->head;
    const char *reason =
        unpack_check(head->codec, parts->packed, parts->packed_bytes, head->unpacked_bytes);
    if (reason)
        return reason;
    uint8_t *unpacked = malloc((size_t)head->unpacked_bytes + VARINT_SLACK);
    if (!unpacked)
        return REASON_MEMORY;
    reason =
        unpack(head->codec, parts->packed, parts->packed_bytes, unpacked, head->unpacked_bytes);
    memset(unpacked + head->unpacked_bytes, 0, VARINT_SLACK);
    if (reason)
        free(unpacked);
    else
        *ret = unpacked;
    return reason;
}

static struct argus_error *decrypt(const struct argus_trace *trace, const struct parts *parts,
                                   uint8_t **ret)
{
    const struct argus_snapshot_key *key = key_of(trace, &parts->head);
    if (!key)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "its stack snapshots are encrypted, and their key is not in the "
                                  "key ring of this user");
    bool done = cipher_decrypt(key, &parts->head, parts->packed, parts->packed_bytes);
    return reason_to_error(done ? unpack_parts(parts, ret)
                                : "its encrypted stack snapshots were changed");
}

struct argus_error *snapshots_decrypt(const struct argus_trace *trace,
                                      const struct argus_chunk *chunk, uint8_t **ret,
                                      size_t *ret_bytes)
{
    struct parts parts;
    struct argus_error *error = load_parts(trace, chunk, &parts);
    if (error)
        return error;
    error = decrypt(trace, &parts, ret);
    *ret_bytes = parts.head.unpacked_bytes;
    free(parts.payload);
    return error;
}

void argus_trace_give_key(struct argus_trace *trace, const struct argus_snapshot_key *key)
{
    trace->given = *key;
}

static bool has_key(const struct argus_trace *trace, const struct argus_chunk *chunk)
{
    struct parts parts;
    struct argus_error *error = load_parts(trace, chunk, &parts);
    bool found = !error && key_of(trace, &parts.head);
    if (!error)
        free(parts.payload);
    argus_error_destroy(error);
    return found;
}

struct argus_snapshot_counts argus_trace_count_snapshots(const struct argus_trace *trace)
{
    struct argus_snapshot_counts counts = {0};
    for (size_t i = 0; i < trace->snapshot_chunks.length; i++) {
        const struct argus_chunk *chunk = &trace->snapshot_chunks.data[i];
        if (chunk->kind == ARGUS_CHUNK_SNAPSHOTS)
            counts.plain += chunk->count;
        else if (has_key(trace, chunk))
            counts.encrypted += chunk->count;
        else
            counts.locked += chunk->count;
    }
    return counts;
}

/* Changes a trace by its structure: one chunk's payload, unpacked first and stored without a codec
 * afterwards, or a field of its header. Sizes and checksums are right again afterwards. */
#include <stdlib.h>
#include <string.h>

#include "seal_trace.h"
#include "trace/cipher.h"
#include "trace/layout.h"
#include "trace/pack.h"
#include "trace/varint.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { MOST_CHUNKS = 256, MOST_PAYLOAD = 1 << 16 };

/* Finds the chunks; returns their number. */
static size_t find_chunks(const uint8_t *data, size_t size, size_t *ret)
{
    size_t count = 0;
    for (size_t at = LAYOUT_AREA_START;
         count < MOST_CHUNKS && at + sizeof(struct layout_chunk) <= size;) {
        struct layout_chunk chunk;
        memcpy(&chunk, data + at, sizeof(chunk));
        if (memcmp(chunk.magic, LAYOUT_CHUNK_MAGIC, sizeof(chunk.magic)) != 0 ||
            chunk.stored_bytes > size - at - sizeof(chunk)) {
            at += LAYOUT_ALIGN;
            continue;
        }
        ret[count++] = at;
        at += layout_chunk_extent(chunk.stored_bytes);
    }
    return count;
}

/* The payload as it is without a codec; its length, 0 if it cannot be unpacked. */
static size_t unpacked(const struct layout_chunk *chunk, const uint8_t *stored, uint8_t *ret)
{
    if (chunk->unpacked_bytes > MOST_PAYLOAD || pack_fault(chunk->codec) ||
        unpack_check(chunk->codec, stored, chunk->stored_bytes, chunk->unpacked_bytes) ||
        unpack(chunk->codec, stored, chunk->stored_bytes, ret, chunk->unpacked_bytes))
        return 0;
    return chunk->unpacked_bytes;
}

/* Replaces the chunk at `at` by one with this header and payload; returns the new size of the file,
 * or 0 if there is no room. */
static size_t replace(uint8_t *data, size_t size, size_t most, size_t at,
                      struct layout_chunk *chunk, const uint8_t *payload, size_t length)
{
    size_t old_end = at + layout_chunk_extent(chunk->stored_bytes);
    size_t rest = old_end < size ? size - old_end : 0;
    size_t new_end = at + layout_chunk_extent((uint32_t)length);
    if (new_end + rest > most)
        return 0;
    memmove(data + new_end, data + size - rest, rest);
    chunk->stored_bytes = chunk->unpacked_bytes = (uint32_t)length;
    chunk->codec = 0;
    memset(data + at, 0, new_end - at);
    memcpy(data + at, chunk, sizeof(*chunk));
    memcpy(data + at + sizeof(*chunk), payload, length);
    return new_end + rest;
}

static void change_header(struct layout_chunk *chunk, unsigned seed)
{
    switch (seed % 6) {
    case 0:
        chunk->kind = (uint16_t)(seed / 6 % 17);
        break;
    case 1:
        chunk->count += seed / 6 % 9 - 4;
        break;
    case 2:
        chunk->cpu = seed / 6 % 3 ? seed / 18 % 4 : UINT32_MAX;
        break;
    case 3:
        LLVMFuzzerMutate((uint8_t *)&chunk->first_ticks, 8, 8);
        break;
    case 4:
        LLVMFuzzerMutate((uint8_t *)&chunk->last_ticks, 8, 8);
        break;
    default:
        LLVMFuzzerMutate((uint8_t *)&chunk->lost, 8, 8);
        break;
    }
}

/* Changes the content of an encrypted chunk: behind the tag, nothing else would be reached. Returns
 * the new length; 0: it is not encrypted with the key of the corpus. */
static size_t change_content(uint8_t *payload, size_t length)
{
    struct argus_snapshot_key key;
    struct cipher_nonces nonces = {.count = 1};
    struct cipher_head head;
    size_t least = sizeof(head) + CIPHER_TAG_BYTES;
    for (int i = 0; i < ARGUS_SNAPSHOT_KEY_BYTES; i++)
        key.bytes[i] = (uint8_t)(i + 1);
    if (length <= least)
        return 0;
    memcpy(&head, payload, sizeof(head));
    uint8_t *content = payload + sizeof(head);
    if (!cipher_decrypt(&key, &head, content, length - least))
        return 0;
    size_t changed = LLVMFuzzerMutate(content, length - least, MOST_PAYLOAD - least);
    if (head.codec == 0)
        head.unpacked_bytes = (uint32_t)changed;
    cipher_encrypt(&key, &nonces, &head, content, changed);
    memcpy(payload, &head, sizeof(head));
    return changed + least;
}

/* Changes a payload as a whole, or what is encrypted in it. */
static size_t change_payload(const struct layout_chunk *chunk, uint8_t *payload, size_t length,
                             unsigned seed)
{
    size_t changed =
        chunk->kind == ARGUS_CHUNK_ENCRYPTED && seed % 8 ? change_content(payload, length) : 0;
    return changed ? changed : LLVMFuzzerMutate(payload, length, MOST_PAYLOAD);
}

static size_t change_chunk(uint8_t *data, size_t size, size_t most, size_t at, unsigned seed)
{
    uint8_t *payload = malloc(MOST_PAYLOAD + VARINT_SLACK);
    struct layout_chunk chunk;
    size_t changed = 0;
    memcpy(&chunk, data + at, sizeof(chunk));
    size_t length = payload ? unpacked(&chunk, data + at + sizeof(chunk), payload) : 0;
    if (length && seed % 4)
        length = change_payload(&chunk, payload, length, seed / 4);
    else if (length)
        change_header(&chunk, seed / 4);
    if (length)
        changed = replace(data, size, most, at, &chunk, payload, length);
    free(payload);
    return changed;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t chunks[MOST_CHUNKS];
    size_t count = seed % 8 ? find_chunks(data, size, chunks) : 0;
    size_t changed = 0;
    if (count)
        changed = change_chunk(data, size, most, chunks[seed / 8 % count], seed / 64);
    if (!changed)
        changed = LLVMFuzzerMutate(data, size, most);
    seal_trace(data, changed);
    return changed;
}

/* An ad-hoc signature: a code directory with the SHA-256 of each page and no certificate. Apple
 * silicon maps no code without one. All numbers of it are big-endian.
 *
 * The format: osfmk/kern/cs_blobs.h of xnu (CS_SuperBlob, CS_CodeDirectory). The kernel accepts a
 * superblob that has nothing but the code directory, if CS_ADHOC is set (ubc_subr.c:
 * cs_validate_csblob()). CS_LINKER_SIGNED says that a tool wrote it with the file, as Apple's and
 * LLVM's linkers do: codesign(1) then replaces it without --force. */
#include "macho_writer.h"
#include "sha256.h"

#define MAGIC_SIGNATURE 0xfade0cc0u /* CSMAGIC_EMBEDDED_SIGNATURE */
#define MAGIC_DIRECTORY 0xfade0c02u /* CSMAGIC_CODEDIRECTORY */
#define VERSION         0x20400u    /* CS_SUPPORTSEXECSEG */
#define FLAGS           0x20002u    /* CS_ADHOC, CS_LINKER_SIGNED */
#define HASH_SHA256     2u          /* CS_HASHTYPE_SHA256 */
#define PAGE_BITS       12u
#define PAGE_BYTES      (1u << PAGE_BITS)

enum { SUPERBLOB_BYTES = 12 + 8, DIRECTORY_BYTES = 88 };

static void put32(uint8_t *at, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (24 - 8 * i));
}

/* The part that names what follows: one blob, the code directory (slot 0). */
static void put_superblob(uint8_t *at, uint32_t bytes)
{
    put32(at, MAGIC_SIGNATURE);
    put32(at + 4, bytes);
    put32(at + 8, 1);
    put32(at + 16, SUPERBLOB_BYTES);
}

struct signed_part {
    const struct macho_parts *parts;
    const char *name; /* the identifier */
    uint32_t hashes, pages, bytes;
};

static void put_directory(const struct signed_part *part, uint8_t *at)
{
    const uint32_t words[] = {
        MAGIC_DIRECTORY, part->bytes, VERSION,          FLAGS, part->hashes, DIRECTORY_BYTES,
        0 /* special */, part->pages, part->parts->end,
    };
    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
        put32(at + 4 * i, words[i]);
    const uint8_t kind[4] = {SHA256_BYTES, HASH_SHA256, 0, PAGE_BITS};
    memcpy(at + 36, kind, sizeof(kind));
    /* the segment that is executed: 64 bits each of its offset, its size and its flags */
    put32(at + 76, part->parts->text_end);
    memcpy(at + DIRECTORY_BYTES, part->name, strlen(part->name) + 1);
}

static struct signed_part part_of(const struct macho_parts *parts)
{
    const char *name = parts->options->own_name, *slash = strrchr(name, '/');
    struct signed_part part = {.parts = parts, .name = slash ? slash + 1 : name};
    part.hashes = (uint32_t)(DIRECTORY_BYTES + strlen(part.name) + 1);
    part.pages = (parts->end + PAGE_BYTES - 1) / PAGE_BYTES;
    part.bytes = part.hashes + part.pages * SHA256_BYTES;
    return part;
}

void macho_signature_add(struct macho_parts *parts)
{
    parts->end = build_align(&parts->file, 16);
    struct signed_part part = part_of(parts);
    parts->signature_bytes = (SUPERBLOB_BYTES + part.bytes + 15) & ~15u;
    build_room(&parts->file, parts->signature_bytes);
}

void macho_signature_write(struct macho_parts *parts)
{
    struct signed_part part = part_of(parts);
    if (parts->file.no_memory)
        return;
    uint8_t *file = parts->file.bytes.data, *at = file + parts->end;
    put_superblob(at, SUPERBLOB_BYTES + part.bytes);
    put_directory(&part, at + SUPERBLOB_BYTES);
    uint8_t *hash = at + SUPERBLOB_BYTES + part.hashes;
    for (uint32_t page = 0; page < part.pages; page++, hash += SHA256_BYTES) {
        uint32_t first = page * PAGE_BYTES, left = parts->end - first;
        sha256(file + first, left < PAGE_BYTES ? left : PAGE_BYTES, hash);
    }
}

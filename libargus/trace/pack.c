#include "trace/pack.h"

#include <string.h>

#include "trace/reason.h"

#ifdef ARGUS_WITH_ZSTD
#define ZSTD_OR_NULL &pack_zstd
#else
#define ZSTD_OR_NULL NULL
#endif

/* Indexed by the format's codec numbers. The last codec that is built in is the best one. */
static const struct pack_codec *const codecs[ARGUS_CODECS] = {
    [ARGUS_CODEC_ZLIB] = &pack_zlib,
    [ARGUS_CODEC_ZSTD] = ZSTD_OR_NULL,
};

static const char *const names[ARGUS_CODECS] = {
    [ARGUS_CODEC_NONE] = "none",
    [ARGUS_CODEC_ZLIB] = "zlib",
    [ARGUS_CODEC_ZSTD] = "zstd",
};

const char *argus_codec_name(enum argus_codec codec)
{
    return (uint32_t)codec < ARGUS_CODECS ? names[codec] : "unknown";
}

bool argus_codec_find(const char *name, enum argus_codec *ret)
{
    for (uint32_t i = ARGUS_CODEC_ZLIB; i < ARGUS_CODECS; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = (enum argus_codec)i;
            return true;
        }
    }
    return false;
}

bool argus_codec_is_built(enum argus_codec codec)
{
    return (uint32_t)codec < ARGUS_CODECS && codecs[codec];
}

static enum argus_codec best_codec(void)
{
    uint32_t codec = ARGUS_CODECS - 1;
    while (!codecs[codec])
        codec--;
    return (enum argus_codec)codec;
}

void packer_deinit(struct packer *packer)
{
    for (uint32_t i = 0; i < ARGUS_CODECS; i++) {
        if (packer->state[i])
            codecs[i]->forget(packer->state[i]);
    }
    *packer = (struct packer){0};
}

bool packer_pack(struct packer *packer, const uint8_t *data, size_t length, struct bytes *ret,
                 enum argus_codec *ret_codec)
{
    enum argus_codec codec = packer->codec ? packer->codec : best_codec();
    if (!bytes_reserve(ret, length))
        return false;
    uint8_t *to = ret->data + ret->length;
    size_t packed =
        length ? codecs[codec]->pack(&packer->state[codec], packer->fast, data, length, to, length)
               : 0;
    if (packed && packed != PACK_NO_MEMORY && !pack_is_possible(packed, length)) {
        codec = ARGUS_CODEC_ZLIB; /* which never compresses that much */
        packed = pack_zlib.pack(&packer->state[codec], packer->fast, data, length, to, length);
    }
    if (packed == PACK_NO_MEMORY)
        return false;
    *ret_codec = packed ? codec : ARGUS_CODEC_NONE;
    if (packed)
        ret->length += packed;
    else
        bytes_put(ret, data, length);
    return !ret->failed;
}

const char *pack_fault(uint32_t codec)
{
    if (codec >= ARGUS_CODECS)
        return "it is packed with an unknown codec";
    if (codec == ARGUS_CODEC_ZSTD && !codecs[codec])
        return "it is packed with zstd, and this build of Argus was made without libzstd";
    return NULL;
}

const char *unpack_check(uint32_t codec, const uint8_t *stored, size_t stored_bytes, size_t length)
{
    if (!pack_is_possible(stored_bytes, length))
        return "it claims to unpack to more than is possible";
    if (codec == ARGUS_CODEC_NONE)
        return stored_bytes == length ? NULL : REASON_PAYLOAD_SIZE;
    return codecs[codec]->check ? codecs[codec]->check(stored, stored_bytes, length) : NULL;
}

const char *unpack(uint32_t codec, const uint8_t *stored, size_t stored_bytes, uint8_t *to,
                   size_t length)
{
    if (codec != ARGUS_CODEC_NONE)
        return codecs[codec]->unpack(stored, stored_bytes, to, length);
    memcpy(to, stored, length);
    return NULL;
}

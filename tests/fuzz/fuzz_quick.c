/* Makes fuzz targets that write their own traces fast: payloads are stored as they are, and no
 * threads are created, which the library does without (base/parallel.h). Linked with --wrap. */
#include <errno.h>
#include <pthread.h>

#include "trace/pack.h"

bool __wrap_packer_pack(struct packer *packer, const uint8_t *data, size_t length,
                        struct bytes *ret, enum argus_codec *ret_codec);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*body)(void *),
                          void *context);

bool __wrap_packer_pack(struct packer *packer, const uint8_t *data, size_t length,
                        struct bytes *ret, enum argus_codec *ret_codec)
{
    (void)packer;
    *ret_codec = ARGUS_CODEC_NONE;
    bytes_put(ret, data, length);
    return !ret->failed;
}

int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*body)(void *),
                          void *context)
{
    (void)ret, (void)attributes, (void)body, (void)context;
    return EAGAIN;
}

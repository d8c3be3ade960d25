/* Makes fuzz targets that write their own traces fast: payloads are stored as they are, no threads
 * are created, which the library does without (base/parallel.h), and the kernel is asked for the
 * use of memory and the number of CPUs now and then only: that takes it as long as a small graph
 * takes us. Linked with --wrap. */
#include <errno.h>
#include <pthread.h>

#include "base/memory_use.h"
#include "base/parallel.h"
#include "trace/pack.h"

enum { CALLS_PER_QUESTION = 256, THREADS = 2 };

bool __wrap_packer_pack(struct packer *packer, const uint8_t *data, size_t length,
                        struct bytes *ret, enum argus_codec *ret_codec);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *attributes, void *(*body)(void *),
                          void *context);
uint64_t __real_memory_used_bytes(void);
uint64_t __wrap_memory_used_bytes(void);
uint64_t __real_memory_available_bytes(void);
uint64_t __wrap_memory_available_bytes(void);
unsigned __wrap_parallel_threads(unsigned most);

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

uint64_t __wrap_memory_used_bytes(void)
{
    static unsigned calls;
    static uint64_t used;
    if (calls++ % CALLS_PER_QUESTION == 0)
        used = __real_memory_used_bytes();
    return used;
}

uint64_t __wrap_memory_available_bytes(void)
{
    static unsigned calls;
    static uint64_t available;
    if (calls++ % CALLS_PER_QUESTION == 0)
        available = __real_memory_available_bytes();
    return available;
}

unsigned __wrap_parallel_threads(unsigned most)
{
    return most < THREADS ? most : THREADS;
}

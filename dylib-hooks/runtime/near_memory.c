/* Libraries are close together below the stack, with free space below them. So addresses are tried
 * from near to far, on both sides in turn, and the kernel refuses those in use
 * (MAP_FIXED_NOREPLACE). That needs no list of mappings, which another thread could be changing.
 */
#include "near_memory.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
/* Elsewhere the address is a hint, and the result is compared with it. */
#define MAP_FIXED_NOREPLACE 0
#endif
#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

#if defined(__aarch64__)
#define REACH ((int64_t)127 << 20) /* of B: ±128 MB */
#else
#define REACH ((int64_t)2047 << 20) /* of JMP rel32: ±2 GB */
#endif
#define STEP ((int64_t)64 << 10)

static uint8_t *try_at(uint64_t place, size_t bytes, void **ret_pages, size_t *ret_page_bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = place & ~(page - 1);
    uint64_t end = (place + bytes + page - 1) & ~(page - 1);
    void *pages = mmap((void *)first, end - first, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (pages != (void *)first) {
        munmap(pages, end - first);
        return NULL;
    }
    *ret_pages = pages;
    *ret_page_bytes = end - first;
    return (uint8_t *)place;
}

/* The displacement nearest to `wanted` that has the required bits. */
static int64_t as_wished(int64_t wanted, const struct near_wish *wish)
{
    return (int32_t)(((uint32_t)wanted & ~wish->mask) | wish->value);
}

static bool is_in_reach(uint64_t from, int64_t displacement)
{
    return displacement > -REACH && displacement < REACH &&
           (displacement >= 0 || from > (uint64_t)-displacement);
}

uint8_t *near_memory_map(uint64_t from, size_t bytes, const struct near_wish *wish,
                         void **ret_pages, size_t *ret_page_bytes)
{
    for (int64_t distance = STEP; distance < REACH; distance += STEP) {
        for (int side = -1; side <= 1; side += 2) {
            int64_t displacement = as_wished(side * distance, wish);
            uint8_t *place = NULL;
            if (is_in_reach(from, displacement))
                place = try_at((from + (uint64_t)displacement) & (wish->mask ? ~0ull : ~15ull),
                               bytes, ret_pages, ret_page_bytes);
            if (place)
                return place;
        }
    }
    return NULL;
}

/* The backend of macOS under the recorder's own core: the file that a recording of a simulated
 * kernel produces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argus/trace.h"
#include "category.h"
#include "libargus/event/images.h"
#include "macos/kdebug_backend.h"
#include "server/clocks.h"
#include "server/recording.h"
#include "simulated_kdebug.h"

enum { RECORDS = 3000, THREADS = 9000 };

static const struct kdebug_region regions[] = {
    {.start = 0x100000000, .bytes = 0x4000, .inode = 7, .device = 0x01000002, .path = "/bin/zsh"},
    {.start = 0x180000000, .bytes = 0x8000, .file_offset = 0x4000, .path = "/usr/lib/dyld"},
};

/* The mapping of the cache in a process, which says nothing of the libraries in it, comes after the
 * other regions. The last library lies outside, as in a damaged answer. */
static const struct kdebug_region mapped_cache = {
    .start = 0x190000000,
    .bytes = 0x40000,
    .path = "/System/Cryptexes/OS/dyld_shared_cache_arm64e"};
static const struct kdebug_cache cache = {
    .start = 0x190000000, .bytes = 0x100000, .uuid = {0xab, 1, 2, 3}};
static const struct kdebug_cached_image cached[] = {
    {0x190010000, 0x5000, {1}, "/usr/lib/system/libdispatch.dylib"},
    {0x190020000, 0x9000, {2}, "/System/Library/Frameworks/AppKit.framework/AppKit"},
    {0x290020000, 0x9000, {3}, "/damaged"},
};

static void fill_threads(struct simulated_kdebug *kernel)
{
    for (uint64_t i = 0; i < THREADS; i++) /* more than there is room for at the first reading */
        kernel->threads[kernel->thread_count++] =
            (struct kdebug_thread){.tid = 1000 + i, .pid = 300, .name = "zsh"};
    kernel->threads[kernel->thread_count++] =
        (struct kdebug_thread){.tid = 1, .pid = 1, .name = "kernel_task"};
    kernel->threads[kernel->thread_count++] =
        (struct kdebug_thread){.tid = 2, .pid = 1, .name = "launchd"};
    kernel->threads[kernel->thread_count++] =
        (struct kdebug_thread){.tid = 0, .pid = 0, .name = ""}; /* padding */
}

static void record(const char *path, const struct recording_options *wanted)
{
    struct simulated_kdebug *kernel = simulated_kdebug_create();
    struct kdebug_os os = simulated_kdebug_os(kernel);
    struct backend_options options = {.ring_bytes = 16 << 20, .categories = CATEGORIES_ALL};
    struct backend *backend = NULL;
    struct recording *recording = NULL;
    fill_threads(kernel);
    const struct kdebug_region all[] = {regions[0], regions[1], mapped_cache};
    kernel->regions = all;
    kernel->region_count = 3;
    kernel->cache = cache;
    kernel->cached = cached;
    kernel->cached_count = 3;
    kernel->now_ticks = clock_ns(TRACE_CLOCK);
    assert_null(kdebug_backend_create(&os, &options, &backend));
    FILE *file = fopen(path, "w+");
    const struct outlet_source source = {.socket = -1, .fd = dup(fileno(file))};
    struct outlet *outlet;
    assert_null(outlet_create(&source, getuid(), NULL, &outlet));
    assert_null(recording_create(wanted, backend, outlet, &recording));
    fclose(file);
    int wait_ms;
    for (uint64_t i = 0; i < RECORDS; i++) {
        simulated_kdebug_emit(kernel, 0x01400000u, 1000 + i % 50, i % SIM_CPUS, i);
        if (i % 500 == 0)
            assert_null(recording_step(recording, &wait_ms));
    }
    kernel->lost = true;
    simulated_kdebug_emit(kernel, 0x01400000u, 1000, 0, RECORDS);
    assert_null(recording_stop(recording));
    recording_destroy(recording);
    assert_false(kernel->enabled);
    assert_int_equal(kernel->owner, 0);
    simulated_kdebug_destroy(kernel);
}

static void check_names(const struct argus_trace *trace)
{
    const struct argus_thread_entry *threads;
    size_t count = argus_trace_threads(trace, &threads), kernels = 0, shells = 0, launchds = 0;
    for (size_t i = 0; i < count; i++) {
        kernels += threads[i].kernel && threads[i].pid == 0 && threads[i].tid == 1;
        shells += threads[i].pid == 300 && !strcmp(threads[i].name, "zsh");
        launchds +=
            threads[i].pid == 1 && !threads[i].kernel && !strcmp(threads[i].name, "launchd");
        assert_int_not_equal(threads[i].tid, 0);
    }
    assert_true(kernels >= 1);
    assert_true(launchds >= 1);
    assert_true(shells >= THREADS);
}

static void check_images(const struct argus_trace *trace)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(trace, &images), found = 0;
    for (size_t i = 0; i < count; i++)
        found += images[i].pid == 300 && images[i].start == regions[1].start &&
                 images[i].end == regions[1].start + regions[1].bytes &&
                 images[i].file_offset == 0x4000 && !strcmp(images[i].path, "/usr/lib/dyld");
    assert_true(found >= 1);
}

static size_t count_path(const struct argus_trace *trace, const char *path, uint64_t start)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(trace, &images), found = 0;
    for (size_t i = 0; i < count; i++)
        found += !strcmp(images[i].path, path) && images[i].start == start &&
                 (images[i].build_id_bytes == 16 || !*path);
    return found;
}

/* A frame of any process in the cache has the library's name. */
static void check_cache(const struct argus_trace *trace)
{
    assert_true(count_path(trace, "dyld shared cache UUID AB010203-0000-0000-0000-000000000000",
                           cache.start) >= 1);
    assert_true(count_path(trace, cached[0].path, cached[0].start) >= 1);
    assert_true(count_path(trace, cached[1].path, cached[1].start) >= 1);
    assert_int_equal(count_path(trace, "/damaged", cached[2].start), 0);
    struct images found;
    const struct argus_process shell = {.pid = 300};
    assert_null(images_init(&found, trace, &shell, 1));
    uint32_t image = images_find(&found, 0, UINT64_MAX, 0x190021000);
    assert_true(image != UINT32_MAX);
    assert_string_equal(found.entries[image].path, cached[1].path);
    images_deinit(&found);
}

static void check_file(const char *path)
{
    struct argus_trace *trace = NULL;
    const struct argus_chunk *chunks;
    assert_null(argus_trace_open(path, &trace));
    assert_int_equal(argus_trace_header(trace)->os, ARGUS_OS_DARWIN);
    uint64_t records = 0, lost = 0;
    size_t count = argus_trace_chunks(trace, &chunks);
    for (size_t i = 0; i < count; i++) {
        records += chunks[i].count;
        lost += chunks[i].lost;
    }
    assert_int_equal(records, RECORDS + 1);
    assert_int_equal(lost, 1);
    check_names(trace);
    check_images(trace);
    check_cache(trace);
    argus_trace_close(trace);
}

static void test_stream(void **state)
{
    (void)state;
    const struct recording_options stream = {.mode = RECORDING_STREAM};
    record("kdebug_stream.argus", &stream);
    check_file("kdebug_stream.argus");
}

static void test_ring_file(void **state)
{
    (void)state;
    const struct recording_options ring = {.mode = RECORDING_RING, .file_ring_bytes = 8 << 20};
    record("kdebug_ring.argus", &ring);
    check_file("kdebug_ring.argus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_ring_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

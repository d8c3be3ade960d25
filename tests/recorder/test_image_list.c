/* A process that maps code again and again must not make the recorder grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recorder/linux/image_list.h"

#define HOSTILE 7u
#define OTHER   8u

static void add(struct image_list *list, uint32_t pid, uint64_t start, const char *path)
{
    const struct argus_image_entry image = {.pid = pid, .start = start, .end = start + 4096};
    assert_null(image_list_add(list, &image, path, strlen(path)));
}

static size_t count_of(const struct image_list *list, uint32_t pid)
{
    size_t count = 0;
    for (size_t i = 0; i < list->entries.length; i++)
        count += list->entries.data[i].pid == pid;
    return count;
}

static int create(void **state)
{
    static struct image_list list;
    *state = &list;
    return image_list_init(&list) ? 1 : 0;
}

static int destroy(void **state)
{
    image_list_deinit(*state);
    return 0;
}

static void what_is_replaced_is_forgotten(void **state)
{
    struct image_list *list = *state;
    char path[32];
    add(list, OTHER, 4096, "/lib/other");
    for (uint32_t i = 0; i < 3 * IMAGE_LIST_MOST; i++) {
        snprintf(path, sizeof(path), "/tmp/%u", i);
        add(list, HOSTILE, 4096 * (i % 10), path);
    }
    assert_true(count_of(list, HOSTILE) <= IMAGE_LIST_MOST);
    assert_true(strtab_count(list->paths) <= IMAGE_LIST_MOST + 2);
    assert_int_equal(list->left_out, 0);
    assert_int_equal(count_of(list, OTHER), 1);
    assert_string_equal(strtab_get(list->paths, list->path_ids.data[0]), "/lib/other");
    assert_string_equal(strtab_get(list->paths, list->path_ids.data[list->path_ids.length - 1]),
                        path);
}

static void one_process_has_a_limit(void **state)
{
    struct image_list *list = *state;
    for (uint32_t i = 0; i < 2 * IMAGE_LIST_MOST; i++)
        add(list, HOSTILE, 4096ull * i, "//anon");
    add(list, OTHER, 4096, "/lib/other");
    assert_int_equal(count_of(list, HOSTILE), IMAGE_LIST_MOST);
    assert_int_equal(list->left_out, IMAGE_LIST_MOST);
    assert_int_equal(count_of(list, OTHER), 1);
}

static bool keeps_none(void *context, const struct image_list *list, size_t i)
{
    (void)context, (void)list, (void)i;
    return false;
}

static void paths_of_dropped_images_are_freed(void **state)
{
    struct image_list *list = *state;
    add(list, OTHER, 4096, "/lib/other");
    list->written = 1;
    assert_true(image_list_keep(list, keeps_none, NULL));
    assert_int_equal(strtab_count(list->paths), 1);
    assert_int_equal(list->written, 0);
    assert_int_equal(list->entries.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_replaced_is_forgotten, create, destroy),
        cmocka_unit_test_setup_teardown(one_process_has_a_limit, create, destroy),
        cmocka_unit_test_setup_teardown(paths_of_dropped_images_are_freed, create, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

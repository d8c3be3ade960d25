/* Plans: a flag of an image, to be watched in each process that maps it. The front end has looked
 * up the flag's offset from the start of the image's code. So the recorder computes the address by
 * one addition and reads no ELF file. An image is identified by its build ID, or by its path on
 * kernels that do not report build IDs (before 5.12).
 *
 * The kernel reports a mapping through a buffer that is read every few milliseconds. Accesses to
 * the flag before that are not recorded. A pointer to the flag may stay null for longer; it is
 * checked at the same interval.
 */
#include "linux/flags/flag_table.h"

#include <string.h>

#include "base/process_owner.h"
#include "linux/flags/flag_memory.h"

struct argus_error *flag_plan_add(struct flags *flags, const struct request_flag *wanted,
                                  uid_t owner, uint32_t *ret_number)
{
    for (uint32_t i = 0; i < FLAG_PLANS; i++) {
        if (flags->plans[i].wanted.bytes)
            continue;
        flags->plans[i] = (struct flag_plan){.wanted = *wanted, .owner = owner};
        *ret_number = FLAG_LIMIT + i + 1;
        return NULL;
    }
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "limit reached: at most %d flags of future processes", FLAG_PLANS);
}

void flag_plan_remove(struct flags *flags, uint32_t place)
{
    flags->plans[place] = (struct flag_plan){0};
    for (uint32_t i = 0; i < FLAG_LIMIT; i++)
        if (flags->flags[i].plan == FLAG_LIMIT + place + 1)
            flag_table_clear(flags, i);
}

static bool is_meant(const struct request_flag *wanted, const struct argus_image_entry *image,
                     const char *path)
{
    if (image->file_offset != wanted->code_offset)
        return false;
    if (image->build_id_bytes && wanted->build_id_bytes)
        return image->build_id_bytes == wanted->build_id_bytes &&
               memcmp(image->build_id, wanted->build_id, wanted->build_id_bytes) == 0;
    return strcmp(path, wanted->image) == 0;
}

static bool is_watched(const struct flags *flags, uint32_t pid, uint32_t plan)
{
    for (uint32_t i = 0; i < FLAG_LIMIT; i++)
        if (flags->flags[i].wanted.bytes && flags->flags[i].wanted.pid == pid &&
            flags->flags[i].plan == plan)
            return true;
    return false;
}

static void carry_out(struct flags *flags, uint32_t place, const struct argus_image_entry *image)
{
    struct flag_plan *plan = &flags->plans[place];
    struct request_flag wanted = plan->wanted;
    uint32_t number = FLAG_LIMIT + place + 1;
    wanted.pid = (uint32_t)image->pid;
    wanted.address += image->start;
    struct argus_error *error = process_check_owner("watch", wanted.pid, plan->owner);
    if (!error) {
        error = flag_table_watch(flags, &wanted, number, &number);
        /* Otherwise the process has ended already. */
        if (error && error->code != ARGUS_ERROR_NOT_FOUND)
            backend_note(flags->notes, "%s is not watched in process %u: %s", wanted.label,
                         wanted.pid, error->message);
        plan->watched += !error;
    }
    argus_error_destroy(error);
}

void flags_on_image(struct flags *flags, const struct argus_image_entry *image, const char *path)
{
    if (!flags || !flags->program || image->pid > INT32_MAX)
        return;
    for (uint32_t i = 0; i < FLAG_PLANS; i++)
        if (flags->plans[i].wanted.bytes && is_meant(&flags->plans[i].wanted, image, path) &&
            !is_watched(flags, (uint32_t)image->pid, FLAG_LIMIT + i + 1))
            carry_out(flags, i, image);
}

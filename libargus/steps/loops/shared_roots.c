#include "steps/loops/shared_roots.h"

#include <string.h>

#include "steps/loops/code_slice.h"
#include "steps/loops/code_writers.h"

enum { MOST_WORK = 8000000 }; /* instructions that are looked at, over all searches */

struct search {
    struct code_library *library;
    struct code_budget budget;
    const struct code_image *image;
    struct shared_roots *found;
};

static bool is_same(const struct loop_flag *a, const struct loop_flag *b)
{
    bool is_same_name =
        a->foreign && b->foreign ? strcmp(a->foreign, b->foreign) == 0 : a->foreign == b->foreign;
    return is_same_name && a->address == b->address && a->links == b->links &&
           memcmp(a->offsets, b->offsets, a->links * sizeof(a->offsets[0])) == 0;
}

static void add_root(struct search *search, const struct code_path *pointer, uint64_t place)
{
    struct shared_root root = {
        .pointer = {.file = search->image->file,
                    .foreign = pointer->root == CODE_FOREIGN ? pointer->name : NULL,
                    .address = pointer->address,
                    .links = pointer->links},
        .place = place};
    memcpy(root.pointer.offsets, pointer->offsets, sizeof(root.pointer.offsets));
    for (uint32_t i = 0; i < search->found->count; i++)
        if (is_same(&search->found->all[i].pointer, &root.pointer))
            return;
    if (search->found->count < SHARED_ROOTS_MAX)
        search->found->all[search->found->count++] = root;
}

static void look_at_store(struct search *search, const struct code_scope *scope, uint32_t node)
{
    struct code_path stored, pointer;
    if (!code_path_find_stored(&search->budget, scope, node, &stored) ||
        stored.root != CODE_MAPPED || stored.links || stored.elements)
        return;
    code_path_find(&search->budget, scope, node, 0, &pointer);
    if ((pointer.root == CODE_ADDRESS || pointer.root == CODE_FOREIGN) &&
        pointer.links < CODE_PATH_LINKS && !pointer.elements)
        add_root(search, &pointer, stored.address);
}

static void look_at_function(struct search *search, uint64_t start)
{
    const struct code_function *function =
        code_library_function(search->library, search->image, start);
    struct code_scope scope = {.function = function, .head = CODE_NONE};
    for (uint32_t node = 0; function && node < function->nodes.length; node++)
        look_at_store(search, &scope, node);
}

static void look_at_callers(struct search *search)
{
    struct code_caller callers[CODE_CALLERS_MAX];
    uint32_t count = code_callers_of_mapping(search->image->file, callers);
    for (uint32_t i = 0; i < count; i++)
        look_at_function(search, callers[i].start);
}

void shared_roots_find(struct elf_file *file, bool is_arm64, struct shared_roots *ret)
{
    struct instruction_decoder *decoder;
    *ret = (struct shared_roots){.count = 0};
    struct argus_error *error =
        instruction_decoder_create(is_arm64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &decoder);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    struct search search = {
        .library = code_library_create(decoder), .budget = {.left = MOST_WORK}, .found = ret};
    search.budget.library = search.library;
    search.image = search.library ? code_library_image(search.library, file) : NULL;
    if (search.image)
        look_at_callers(&search);
    code_library_destroy(search.library);
    instruction_decoder_destroy(decoder);
}

bool shared_roots_place(const struct shared_roots *roots, const struct loop_flag *flag,
                        uint64_t *ret)
{
    struct loop_flag pointer = *flag;
    *ret = flag->address;
    if (flag->elements)
        return false;
    if (flag->is_mapped)
        return flag->links == 0;
    if (!flag->links || flag->is_thread_local)
        return false;
    pointer.links--;
    for (uint32_t i = 0; i < roots->count; i++)
        if (is_same(&roots->all[i].pointer, &pointer)) {
            *ret = roots->all[i].place + (uint64_t)flag->offsets[pointer.links];
            return true;
        }
    return false;
}

bool shared_roots_flag(const struct shared_roots *roots, uint32_t index, struct elf_file *file,
                       const struct loop_flag *flag, uint64_t place, struct loop_flag *ret)
{
    if (index > roots->count)
        return false;
    *ret = (struct loop_flag){.file = file, .is_mapped = true, .address = place};
    if (index > 0) {
        *ret = roots->all[index - 1].pointer;
        ret->offsets[ret->links++] = (int64_t)(place - roots->all[index - 1].place);
    }
    ret->size_bytes = flag->size_bytes;
    ret->tests = flag->tests;
    return true;
}

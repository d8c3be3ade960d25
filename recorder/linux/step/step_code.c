/* Code pages, read once; and application code by address. */
#include <stdlib.h>
#include <string.h>

#include "base/code_address.h"
#include "linux/step/stepper.h"

static uint32_t add_page(struct stepper *stepper, uint64_t address)
{
    struct step_page page = {.address = address, .code = malloc(STEP_CODE_BYTES)};
    if (!page.code)
        return IDMAP_NONE;
    page.bytes = step_memory_read(stepper->memory_fd, address, page.code, STEP_CODE_BYTES);
    uint32_t number = (uint32_t)stepper->pages.length;
    if (!vec_push(&stepper->pages, page)) {
        free(page.code);
        return IDMAP_NONE;
    }
    if (!idmap_put(&stepper->page_by_address, address / STEP_CODE_BYTES, number))
        return IDMAP_NONE;
    if (page.bytes)
        step_output_put(stepper->output, STEP_ITEM_CODE, &address, sizeof(address), page.code,
                        page.bytes);
    return number;
}

static const struct step_page *page_of(struct stepper *stepper, uint64_t address)
{
    address -= address % STEP_CODE_BYTES;
    if (stepper->last_page < stepper->pages.length &&
        stepper->pages.data[stepper->last_page].address == address)
        return &stepper->pages.data[stepper->last_page];
    uint32_t number = idmap_get(&stepper->page_by_address, address / STEP_CODE_BYTES);
    if (number == IDMAP_NONE)
        number = add_page(stepper, address);
    if (number == IDMAP_NONE)
        return NULL;
    stepper->last_page = number;
    return &stepper->pages.data[number];
}

/* Copies the available bytes; an instruction may extend to the next page. */
static size_t code_at(struct stepper *stepper, uint64_t address, uint8_t *ret, size_t room)
{
    size_t done = 0;
    while (done < room) {
        const struct step_page *page = page_of(stepper, address + done);
        size_t offset = (size_t)((address + done) % STEP_CODE_BYTES);
        if (!page || offset >= page->bytes)
            break;
        size_t bytes = page->bytes - offset < room - done ? page->bytes - offset : room - done;
        memcpy(ret + done, page->code + offset, bytes);
        done += bytes;
    }
    return done;
}

struct step_instruction step_instruction_at(struct stepper *stepper, uint64_t address)
{
    const struct step_page *page = page_of(stepper, address);
    size_t offset = (size_t)(address % STEP_CODE_BYTES);
    if (page && offset + STEP_INSTRUCTION_ROOM <= page->bytes)
        return step_instruction(page->code + offset, STEP_INSTRUCTION_ROOM);
    uint8_t code[STEP_INSTRUCTION_ROOM];
    size_t bytes = code_at(stepper, address, code, sizeof(code));
    return bytes ? step_instruction(code, bytes) : (struct step_instruction){.kind = STEP_PLAIN};
}

void step_pages_deinit(struct stepper *stepper)
{
    for (size_t i = 0; i < stepper->pages.length; i++)
        free(stepper->pages.data[i].code);
    vec_deinit(&stepper->pages);
    idmap_deinit(&stepper->page_by_address);
}

bool step_is_stepped(struct stepper *stepper, uint64_t address)
{
    if (address >= stepper->stepped_start && address < stepper->stepped_end)
        return true;
    const struct step_map *map = step_maps_find(&stepper->maps, address);
    /* The map is outdated: a library was loaded or code was generated. */
    if (!map || !(map->flags & STEP_MAP_EXECUTABLE)) {
        if (!step_maps_read(&stepper->maps))
            return false;
        step_maps_put(&stepper->maps, stepper->output);
        map = step_maps_find(&stepper->maps, address);
    }
    if (!map || !(map->flags & STEP_MAP_STEPPED))
        return false;
    stepper->stepped_start = map->start;
    stepper->stepped_end = map->end;
    return true;
}

/* --- callers --- */

#if defined(__x86_64__)
/* Whether a call instruction precedes the return address. Tries all lengths that a call can
 * have. */
static bool is_behind_call(struct stepper *stepper, uint64_t address)
{
    uint8_t code[8];
    if (address < 8 ||
        step_memory_read(stepper->memory_fd, address - 8, code, sizeof(code)) != sizeof(code))
        return false;
    if (code[3] == 0xe8)
        return true;
    for (size_t bytes = 2; bytes <= 7; bytes++) {
        uint8_t modrm = code[8 - bytes + 1];
        if (code[8 - bytes] == 0xff && (modrm >> 3 & 7) == 2)
            return true;
    }
    return false;
}
#else
static bool is_behind_call(struct stepper *stepper, uint64_t address)
{
    uint8_t code[4];
    return address >= 4 && address % 4 == 0 &&
           step_memory_read(stepper->memory_fd, address - 4, code, sizeof(code)) == sizeof(code) &&
           step_instruction_aarch64(code, sizeof(code)).kind == STEP_IS_CALL;
}
#endif

bool step_may_return_to(struct stepper *stepper, uint64_t address, uint64_t start, uint64_t end)
{
    const struct step_map *map = step_maps_find(&stepper->maps, address);
    return address >= start && address < end && map && map->flags & STEP_MAP_STEPPED &&
           is_behind_call(stepper, address);
}

uint64_t step_find_caller(struct stepper *stepper, const uint64_t *registers, uint64_t start,
                          uint64_t end)
{
    enum { MOST_WORDS = STEP_STACK_BYTES / 8 };
    uint64_t *words = malloc(MOST_WORDS * sizeof(*words));
    if (!words)
        return 0;
    size_t count = step_memory_read(stepper->memory_fd, step_stack_pointer(registers), words,
                                    MOST_WORDS * sizeof(*words)) /
                   sizeof(*words);
    uint64_t found = 0;
#if defined(__aarch64__)
    if (step_may_return_to(stepper, code_address_arm64(registers[30]), start, end))
        found = code_address_arm64(registers[30]);
    for (size_t i = 0; i < count; i++)
        words[i] = code_address_arm64(words[i]);
#endif
    for (size_t i = 0; i < count && !found; i++)
        if (step_may_return_to(stepper, words[i], start, end))
            found = words[i];
    free(words);
    return found;
}

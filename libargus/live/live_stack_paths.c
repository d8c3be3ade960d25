#include "live/live_stack_paths.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 8, WORDS = 1024, PATH_BYTES = 512, STEP = 64, USER_BITS = 47 };

/* The memory of a process, as far as it is there. */
struct memory {
    uint32_t pid;
    int pages; /* /proc/PID/pagemap: a word for each page (Documentation/admin-guide/mm/pagemap.rst)
                */
    uint64_t page_bytes;
    uint64_t page; /* the number of the page that was asked for last */
    bool is_there;
};

static bool is_there(struct memory *memory, uint64_t address)
{
    enum { PRESENT = 63 };
    uint64_t page = address / memory->page_bytes, word;
    if (page != memory->page) {
        memory->page = page;
        memory->is_there = pread(memory->pages, &word, sizeof(word),
                                 (off_t)(page * sizeof(word))) == (ssize_t)sizeof(word) &&
                           word >> PRESENT;
    }
    return memory->is_there;
}

/* How many bytes of it are there. */
static size_t read_there(struct memory *memory, uint64_t address, void *ret, size_t bytes)
{
    size_t got = 0;
    while (got < bytes && is_there(memory, address + got)) {
        uint64_t left = memory->page_bytes - (address + got) % memory->page_bytes;
        size_t part = left < bytes - got ? (size_t)left : bytes - got;
        if (!live_memory(memory->pid, address + got, (uint8_t *)ret + got, part))
            break;
        got += part;
    }
    return got;
}

static bool read_text(struct memory *memory, uint64_t address, char ret[PATH_BYTES])
{
    for (size_t at = 0; at + STEP <= PATH_BYTES; at += STEP) {
        size_t got = read_there(memory, address + at, ret + at, STEP);
        if (memchr(ret + at, '\0', got))
            return true;
        if (got < STEP || ret[0] != '/')
            break;
    }
    return false;
}

/* Where the main thread's stack begins: behind it are the program's arguments, with which it was
 * started, and environment. 0: unknown. Field 28 of /proc/PID/stat (proc(5)). */
static uint64_t start_of_stack(uint32_t pid)
{
    enum { FIELD = 28 };
    char text[1024];
    uint64_t start = 0;
    const char *at = live_stat_field(pid, 0, FIELD, text, sizeof(text));
    return at && sscanf(at, "%" SCNu64, &start) == 1 ? start : 0;
}

/* The innermost words of the stack; fewer near its end. */
static size_t stack_words(struct memory *memory, uint64_t sp, uint64_t ret[WORDS])
{
    uint64_t start = start_of_stack(memory->pid);
    size_t words = WORDS;
    if (sp < start && (start - sp) / WORD < WORDS)
        words = (size_t)((start - sp) / WORD);
    return read_there(memory, sp & ~(uint64_t)(WORD - 1), ret, words * WORD) / WORD;
}

/* "/x", and no control characters. */
static bool is_path(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ')
            return false;
    return text[0] == '/' && text[1] && text[1] != '/';
}

static void keep(struct argus_live *live, const char *text, struct live_paths *ret)
{
    for (size_t i = 0; i < ret->count; i++)
        if (strcmp(strtab_get(live->texts, ret->texts[i]), text) == 0)
            return;
    if (ret->count < LIVE_PATHS)
        ret->texts[ret->count++] = live_text(live, text);
}

void live_stack_paths(struct argus_live *live, uint32_t pid, uint64_t sp, struct live_paths *ret)
{
    char name[48], text[PATH_BYTES];
    uint64_t words[WORDS];
    struct memory memory = {.pid = pid, .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
    snprintf(name, sizeof(name), "/proc/%u/pagemap", pid);
    ret->count = 0;
    if (!sp || (memory.pages = open(name, O_RDONLY | O_CLOEXEC)) < 0)
        return;
    size_t count = stack_words(&memory, sp, words);
    for (size_t i = 0; i < count; i++)
        if (words[i] >= memory.page_bytes && !(words[i] >> USER_BITS) &&
            read_text(&memory, words[i], text) && is_path(text))
            keep(live, text, ret);
    close(memory.pages);
}

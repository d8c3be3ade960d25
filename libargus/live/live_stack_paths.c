#include "live/live_stack_paths.h"

#include <string.h>

enum { WORD = 8, WORDS = 1024, PAGE = 4096, PATH_BYTES = 512, USER_BITS = 47 };

/* The innermost words of the stack; fewer near its end. */
static size_t stack_words(struct argus_live *live, uint32_t thread, uint64_t ret[WORDS])
{
    uint32_t pid = live_pid_of(live, thread);
    uint64_t sp = live->threads.data[thread].sp & ~(uint64_t)(WORD - 1);
    size_t got = 0;
    while (sp && got < WORDS) {
        uint64_t at = sp + got * WORD, left = (PAGE - at % PAGE) / WORD;
        size_t words = left < WORDS - got ? (size_t)left : WORDS - got;
        if (!live_memory(pid, at, ret + got, words * WORD))
            break;
        got += words;
    }
    return got;
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
    if (!live_paths_have(live, ret, text) && ret->count < LIVE_PATHS)
        ret->texts[ret->count++] = live_text(live, text);
}

void live_stack_paths(struct argus_live *live, uint32_t thread, struct live_paths *ret)
{
    uint64_t words[WORDS];
    char text[PATH_BYTES];
    uint32_t pid = live_pid_of(live, thread);
    size_t count = stack_words(live, thread, words);
    ret->count = 0;
    for (size_t i = 0; i < count; i++)
        if (words[i] >= PAGE && !(words[i] >> USER_BITS) &&
            live_memory_text(pid, words[i], text, sizeof(text)) && is_path(text))
            keep(live, text, ret);
}

bool live_paths_have(const struct argus_live *live, const struct live_paths *paths,
                     const char *path)
{
    for (size_t i = 0; i < paths->count; i++)
        if (strcmp(strtab_get(live->texts, paths->texts[i]), path) == 0)
            return true;
    return false;
}

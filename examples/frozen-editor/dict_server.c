/* dict-server CLIENT_FD - BUSY_MS: looks words up, and rebuilds its index after the tenth.
 * It rebuilds after the answer, when nobody seems to wait: the next question comes while it is at it.
 * The index is hashed by hand: stacks by frame pointer do not get through the C library. */
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define INDEX_SLOTS   65536 /* a power of two, twice the words at least */
#define FILLER_WORDS  30000
#define REBUILD_AFTER 10

static const char *const common_words[] = {
    "the", "every", "and", "asks", "about", "each", "word", "it", "because", "matters", "to",
};

static struct word slots[INDEX_SLOTS];

static unsigned hash_word(const struct word *word)
{
    unsigned hash = 2166136261u;
    for (int i = 0; i < WORD_BYTES; i++)
        hash = (hash ^ (unsigned char)word->text[i]) * 16777619u;
    return hash;
}

/* The slot that has the word, or the free one where it belongs. */
static struct word *find_slot(const struct word *word)
{
    unsigned at = hash_word(word) % INDEX_SLOTS;
    while (slots[at].text[0] != '\0' && memcmp(&slots[at], word, sizeof(*word)) != 0)
        at = (at + 1) % INDEX_SLOTS;
    return &slots[at];
}

static void add_word(const char *text)
{
    struct word word = {{0}};
    memcpy(word.text, text, strlen(text));
    *find_slot(&word) = word;
}

static void add_filler_word(unsigned number)
{
    char text[] = "aaaaaaaa";
    for (int i = 0; i < 8; i++, number >>= 4)
        text[i] = (char)('a' + number % 16);
    add_word(text);
}

static void fill_index(void)
{
    memset(slots, 0, sizeof(slots));
    for (size_t i = 0; i < sizeof(common_words) / sizeof(common_words[0]); i++)
        add_word(common_words[i]);
    for (unsigned i = 0; i < FILLER_WORDS; i++)
        add_filler_word(i * 2654435761u);
}

/* The culprit. */
static void rebuild_index(unsigned busy_ms)
{
    uint64_t end_ms = message_now_ms() + busy_ms;
    do
        fill_index();
    while (message_now_ms() < end_ms);
}

static uint32_t is_known(const struct word *word)
{
    return find_slot(word)->text[0] != '\0';
}

int main(int argc, char **argv)
{
    int client_fd = message_fd_argument(argc, argv, 1);
    unsigned busy_ms = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    struct word word;
    fill_index();
    for (unsigned asked = 1; message_receive(client_fd, &word, sizeof(word)); asked++) {
        struct verdict verdict = {.known = is_known(&word)};
        if (!message_send(client_fd, &verdict, sizeof(verdict)))
            break;
        if (asked == REBUILD_AFTER)
            rebuild_index(busy_ms);
    }
    return 0;
}

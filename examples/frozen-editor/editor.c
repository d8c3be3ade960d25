/* editor KEYS_FD SPELL_FD: the window. Its main thread is an event loop over the keyboard; a letter is laid out at
 * once, and at the end of a word the window waits until the word is known to be right or wrong. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "spell_check.h"

#define LAYOUT_ROUNDS 400000

struct editor {
    struct word word;
    size_t length;
    unsigned layout; /* what the layout came to; it has to go somewhere */
    unsigned words, marked;
};

/* About a millisecond of work for one key. */
static void lay_out_line(struct editor *editor, char key)
{
    unsigned width = (unsigned char)key;
    for (unsigned i = 0; i < LAYOUT_ROUNDS; i++)
        width = width * 1664525u + 1013904223u;
    editor->layout ^= width;
}

static void end_word(struct editor *editor)
{
    if (editor->length == 0)
        return;
    editor->words++;
    if (!spell_check_word(&editor->word))
        editor->marked++;
    memset(&editor->word, 0, sizeof(editor->word));
    editor->length = 0;
}

static void handle_key(struct editor *editor, char key)
{
    lay_out_line(editor, key);
    if (key == ' ')
        end_word(editor);
    else if (editor->length < WORD_BYTES - 1)
        editor->word.text[editor->length++] = key;
}

/* Ends when the keyboard is gone. */
static void run_event_loop(struct editor *editor, int keys_fd)
{
    struct pollfd keyboard = {.fd = keys_fd, .events = POLLIN};
    char key;
    while (poll(&keyboard, 1, -1) > 0 && message_receive(keys_fd, &key, 1))
        handle_key(editor, key);
}

int main(int argc, char **argv)
{
    struct editor editor = {.length = 0};
    int keys_fd = message_fd_argument(argc, argv, 1);
    spell_check_start(message_fd_argument(argc, argv, 2));
    run_event_loop(&editor, keys_fd);
    spell_check_stop();
    printf("editor: %u words, %u marked, layout %08x\n", editor.words, editor.marked,
           editor.layout);
    return 0;
}

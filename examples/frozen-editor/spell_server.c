/* spell-server EDITOR_FD DICT_FD: asks the dictionary server for each word, waiting for the answer. */
#include "message.h"

static bool look_up(int dict_fd, const struct word *word, struct verdict *ret)
{
    return message_send(dict_fd, word, sizeof(*word)) &&
           message_receive(dict_fd, ret, sizeof(*ret));
}

int main(int argc, char **argv)
{
    int editor_fd = message_fd_argument(argc, argv, 1);
    int dict_fd = message_fd_argument(argc, argv, 2);
    struct word word;
    struct verdict verdict;
    while (message_receive(editor_fd, &word, sizeof(word)) && look_up(dict_fd, &word, &verdict))
        message_send(editor_fd, &verdict, sizeof(verdict));
    return 0;
}

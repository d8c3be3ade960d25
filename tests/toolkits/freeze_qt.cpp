/* freeze_qt MODE: a window of Qt that freezes at F5.
 *
 *   own        owns the clipboard; others wait for it when it is stopped
 *   clipboard  F5 asks for the text of the clipboard
 *   excluded   F5 runs a loop of its own for 3 s that excludes the user's input
 *   nested     the same, but with the user's input: no freeze
 */
#include <QApplication>
#include <QClipboard>
#include <QEventLoop>
#include <QKeyEvent>
#include <QTextEdit>
#include <QTimer>
#include <cstdio>
#include <cstring>
#include <sys/prctl.h>

static const char *mode;

static void say(const char *word)
{
    std::printf("%s\n", word);
    std::fflush(stdout);
}

static void run_loop(QEventLoop::ProcessEventsFlags flags)
{
    QEventLoop loop;
    QTimer::singleShot(3000, &loop, &QEventLoop::quit);
    loop.exec(flags);
}

class Editor : public QTextEdit
{
  protected:
    void keyPressEvent(QKeyEvent *event) override
    {
        if (event->key() != Qt::Key_F5) {
            QTextEdit::keyPressEvent(event);
            return;
        }
        if (std::strcmp(mode, "clipboard") == 0)
            insertPlainText(QApplication::clipboard()->text());
        else
            run_loop(std::strcmp(mode, "excluded") == 0 ? QEventLoop::ExcludeUserInputEvents
                                                        : QEventLoop::AllEvents);
        say("done");
    }
};

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    QApplication application(argc, argv);
    Editor editor;
    editor.show();
    if (std::strcmp(mode, "own") == 0) {
        prctl(PR_SET_NAME, "slowowner");
        QApplication::clipboard()->setText("text");
    }
    QTimer::singleShot(500, [] { say(std::strcmp(mode, "own") == 0 ? "serves" : "ready"); });
    return QApplication::exec();
}

/* settings.c with a window: while it waits it calls processEvents(), so that the window is drawn; but nobody comes back to
 * the main loop. */
#include "settings_link.h"

#include <QApplication>
#include <QPushButton>
#include <QSocketNotifier>
#include <QThread>
#include <cstdio>

static volatile int did_reconfigure;

void on_reconfigured(void)
{
    did_reconfigure = 1;
}

static bool wait_until_reconfigured()
{
    for (int i = 0; i < GIVE_UP_AFTER; i++) {
        if (did_reconfigure)
            return true;
        QCoreApplication::processEvents(QEventLoop::ExcludeSocketNotifiers);
        QThread::usleep(POLL_US);
    }
    return false;
}

static void on_click()
{
    char name[64];
    if (!link_read_line(name, sizeof(name))) {
        QCoreApplication::quit();
        return;
    }
    did_reconfigure = 0;
    link_ask(name);
    puts(wait_until_reconfigured() ? "done" : "gave up");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    QApplication application(argc, argv);
    if (argc != 2) {
        fprintf(stderr, "usage: settings-qt SOCKET-FOLDER\n");
        return 2;
    }
    QPushButton button("Change");
    button.show();
    link_open(argv[1]);
    QSocketNotifier input(0, QSocketNotifier::Read);
    QObject::connect(&input, &QSocketNotifier::activated, [] { on_click(); });
    int code = QApplication::exec();
    link_close();
    return code;
}

/* A Qt 5 or Qt 6 window that is one button. A click makes on_clicked() run, which leaves work to a posted event, to a queued
 * call and to a timer. */
#include <QApplication>
#include <QEvent>
#include <QPushButton>
#include <QTimer>

#include "use_cpu.h"

static const QEvent::Type WORK = QEvent::User;

class Worker : public QObject
{
  public:
    void do_queued_work()
    {
        work(20);
        say("queued");
    }

    void do_timer_work()
    {
        work(20);
        say("timer");
    }

  protected:
    void customEvent(QEvent *event) override
    {
        if (event->type() != WORK)
            return;
        work(40);
        say("posted");
    }
};

static void on_clicked(Worker *worker)
{
    work(10);
    say("clicked");
    QCoreApplication::postEvent(worker, new QEvent(WORK));
    QMetaObject::invokeMethod(
        worker, [worker] { worker->do_queued_work(); }, Qt::QueuedConnection);
    QTimer::singleShot(100, worker, &Worker::do_timer_work);
}

int main(int argc, char **argv)
{
    QApplication application(argc, argv);
    Worker worker;
    QPushButton button("click");
    QObject::connect(&button, &QPushButton::clicked, [&worker] { on_clicked(&worker); });
    button.resize(300, 200);
    button.move(0, 0);
    button.show();
    say("ready");
    return QApplication::exec();
}

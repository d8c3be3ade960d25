/* freeze_gtk MODE [FOLDER]: a GTK 3 window that freezes because another process is slow.
 *
 *   serve   the other process: it answers on the session bus, after 3 s
 *   call    F5 opens a dialog, in whose loop a call to that process waits for the answer
 *   start   the same call, with the window on the screen, before the loop's first turn
 *   folder  F5 reads FOLDER
 *   own        owns the clipboard; others wait for it when it is stopped
 *   clipboard  F5 asks for the text of the clipboard, which runs the loop again until it comes
 *   dialog     F5 opens a dialog that draws at each frame, for 5 s: no freeze
 */
#include <gtk/gtk.h>
#include <string.h>
#include <sys/prctl.h>

#define SERVICE "org.example.Slow"
#define PATH    "/slow"

static const char *mode, *folder;

static void say(const char *word)
{
    printf("%s\n", word);
    fflush(stdout);
}

/* --- the service --- */

static void answer(GDBusConnection *connection, const gchar *sender, const gchar *path,
                   const gchar *interface, const gchar *method, GVariant *parameters,
                   GDBusMethodInvocation *invocation, gpointer unused)
{
    (void)connection, (void)sender, (void)path, (void)interface, (void)method, (void)parameters;
    (void)unused;
    g_usleep(3000000);
    g_dbus_method_invocation_return_value(invocation, NULL);
}

static void serve(GDBusConnection *connection, const gchar *name, gpointer unused)
{
    static const GDBusInterfaceVTable functions = {.method_call = answer};
    GDBusNodeInfo *info = g_dbus_node_info_new_for_xml(
        "<node><interface name='" SERVICE "'><method name='Ping'/></interface></node>", NULL);
    (void)name, (void)unused;
    g_dbus_connection_register_object(connection, PATH, info->interfaces[0], &functions, NULL, NULL,
                                      NULL);
    say("serves");
}

static void call(void)
{
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    g_dbus_connection_call_sync(bus, SERVICE, PATH, SERVICE, "Ping", NULL, NULL,
                                G_DBUS_CALL_FLAGS_NONE, 10000, NULL, NULL);
}

/* --- the window --- */

static void call_inside(GtkWidget *dialog, gpointer unused)
{
    (void)unused;
    call();
    gtk_dialog_response(GTK_DIALOG(dialog), GTK_RESPONSE_OK);
}

static gboolean click(gpointer dialog)
{
    gtk_button_clicked(GTK_BUTTON(gtk_dialog_get_widget_for_response(dialog, GTK_RESPONSE_APPLY)));
    return G_SOURCE_REMOVE;
}

static void run_dialog(GtkWidget *window)
{
    GtkWidget *dialog = gtk_dialog_new_with_buttons("slow", GTK_WINDOW(window), GTK_DIALOG_MODAL,
                                                    "_Call", GTK_RESPONSE_APPLY, NULL);
    GtkWidget *button = gtk_dialog_get_widget_for_response(GTK_DIALOG(dialog), GTK_RESPONSE_APPLY);
    g_signal_connect_swapped(button, "clicked", G_CALLBACK(call_inside), dialog);
    g_timeout_add(700, click, dialog);
    while (gtk_dialog_run(GTK_DIALOG(dialog)) == GTK_RESPONSE_APPLY)
        continue;
    gtk_widget_destroy(dialog);
}

static void read_folder(void)
{
    GDir *files = g_dir_open(folder, 0, NULL);
    while (files && g_dir_read_name(files))
        continue;
    if (files)
        g_dir_close(files);
}

static void read_clipboard(void)
{
    g_free(gtk_clipboard_wait_for_text(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD)));
}

static gboolean respond(gpointer dialog)
{
    gtk_dialog_response(GTK_DIALOG(dialog), GTK_RESPONSE_OK);
    return G_SOURCE_REMOVE;
}

static void run_spinner(GtkWidget *window)
{
    GtkWidget *dialog = gtk_dialog_new_with_buttons("idle", GTK_WINDOW(window), GTK_DIALOG_MODAL,
                                                    "_OK", GTK_RESPONSE_OK, NULL);
    GtkWidget *spinner = gtk_spinner_new(), *entry = gtk_entry_new();
    gtk_container_add(GTK_CONTAINER(gtk_dialog_get_content_area(GTK_DIALOG(dialog))), entry);
    gtk_container_add(GTK_CONTAINER(gtk_dialog_get_content_area(GTK_DIALOG(dialog))), spinner);
    gtk_spinner_start(GTK_SPINNER(spinner));
    gtk_widget_show_all(dialog);
    g_timeout_add(5000, respond, dialog);
    gtk_dialog_run(GTK_DIALOG(dialog));
    gtk_widget_destroy(dialog);
}

static gboolean on_key(GtkWidget *window, GdkEventKey *key, gpointer unused)
{
    (void)unused;
    if (key->keyval != GDK_KEY_F5)
        return FALSE;
    if (strcmp(mode, "call") == 0)
        run_dialog(window);
    else if (strcmp(mode, "folder") == 0)
        read_folder();
    else if (strcmp(mode, "clipboard") == 0)
        read_clipboard();
    else if (strcmp(mode, "dialog") == 0)
        run_spinner(window);
    say("done");
    return TRUE;
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "";
    folder = argc > 2 ? argv[2] : "/";
    if (strcmp(mode, "serve") == 0) {
        prctl(PR_SET_NAME, "slowservice");
        g_bus_own_name(G_BUS_TYPE_SESSION, SERVICE, 0, serve, NULL, NULL, NULL, NULL);
        g_main_loop_run(g_main_loop_new(NULL, FALSE));
    }
    gtk_init(&argc, &argv);
    GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
    gtk_container_add(GTK_CONTAINER(window), gtk_text_view_new());
    g_signal_connect(window, "key-press-event", G_CALLBACK(on_key), NULL);
    g_signal_connect(window, "destroy", gtk_main_quit, NULL);
    gtk_widget_show_all(window);
    if (strcmp(mode, "own") == 0) {
        prctl(PR_SET_NAME, "slowowner");
        gtk_clipboard_set_text(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD), "text", -1);
        say("serves");
    }
    if (strcmp(mode, "start") == 0) {
        gdk_display_flush(gdk_display_get_default());
        say("ready");
        call();
        say("done");
    } else {
        say("ready");
    }
    gtk_main();
    return 0;
}

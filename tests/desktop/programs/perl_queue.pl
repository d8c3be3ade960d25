# A text field; F2 receives from the System V message queue of the first argument.
use Tk;
my $top = MainWindow->new;
my $text = $top->Text->pack;
my ($key) = @ARGV;
$text->focusForce;
$top->bind('<F2>', sub { msgrcv(msgget($key, 0), my $message, 100, 0, 0) or die "msgrcv: $!"; });
MainLoop;

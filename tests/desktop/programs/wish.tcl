# A text field; F2 runs the command of the arguments, and waits for it.
pack [text .text]
focus -force .text
bind .text <F2> {exec {*}$argv; break}

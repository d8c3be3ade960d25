#compdef argus
# zsh completion of argus(1). Every answer comes from the program itself (argus --complete), so nothing here has to know its
# commands and options.

_argus() {
    local line word help pattern= program=${words[1]/#\~/$HOME}
    local -a lines plain joined
    local -i found=1
    lines=("${(@f)$($program --complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    for line in $lines; do
        word=${line%%$'\t'*}
        help=${line#*$'\t'}
        case $word in
        :files) pattern=$help ;;
        :command) # counted from 0 behind the program's name
            shift $((help + 1)) words
            ((CURRENT -= help + 1))
            _normal
            return
            ;;
        --*=) joined+=("${word//:/\\:}:$help") ;;
        *) plain+=("${word//:/\\:}:$help") ;;
        esac
    done
    # Both where both fit: 'argus graph' takes a trace, and is the beginning of 'argus graph show'.
    _describe -t argus argus plain -- joined -S '' && found=0
    if [[ -n $pattern ]]; then
        compset -P '--*='
        _files -g "$pattern" && found=0
    fi
    return found
}

_argus "$@"

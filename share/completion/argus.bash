# bash completion of argus(1). Every answer comes from the program itself (argus --complete), so nothing here has to know its
# commands and options. Works in bash 3.2 and later, with and without the package bash-completion.

# Words up to the cursor without the program into `words`, and into `starts` where each begins in COMP_WORDS: bash takes
# "--format=dot" apart at the "=".
_argus_read_words() {
    local i glue=
    words=()
    starts=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        local word=${COMP_WORDS[i]} last=$((${#words[@]} - 1))
        if [[ $word == = && $last -ge 0 && ${words[last]:-} == --* && ${words[last]} != *=* ]]; then
            words[last]+="="
            glue=1
        elif [[ $glue ]]; then
            words[last]+=$word
            glue=
        else
            words+=("$word")
            starts+=("$i")
        fi
    done
}

# File names that match the pattern and folders; when there is none, all names.
_argus_files() {
    local pattern=$1 value=$2 name
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen -f -X "!$pattern" -- "$value"; [[ $pattern == '*' ]] || compgen -d -- "$value")
    [[ ${#COMPREPLY[@]} -gt 0 || $pattern == '*' ]] || _argus_files '*' "$value"
}

# The command line of another program, which begins at COMP_WORDS[$1].
_argus_command() {
    local name
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        while IFS= read -r name; do
            COMPREPLY+=("$name")
        done < <(if ((COMP_CWORD == $1)); then compgen -c -- "${COMP_WORDS[COMP_CWORD]}"
                 else compgen -f -- "${COMP_WORDS[COMP_CWORD]}"; fi)
    fi
}

_argus() {
    local words starts word help value program=${COMP_WORDS[0]/#\~/$HOME}
    _argus_read_words
    local typed=${words[${#words[@]} - 1]} prefix=
    value=$typed
    if [[ $typed == --*=* ]]; then
        value=${typed#*=}
        [[ $COMP_WORDBREAKS != *=* ]] || prefix=${typed%%=*}=
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r word help; do
        case $word in
        :files) _argus_files "$help" "$value" ;;
        :command) _argus_command "${starts[help]:-$COMP_CWORD}" ;;
        *) COMPREPLY+=("${word#"$prefix"}") ;;
        esac
    done < <("$program" --complete "${words[@]}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != --*= ]] || compopt -o nospace 2>/dev/null
}

complete -F _argus argus

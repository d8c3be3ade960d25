# fish completion of argus(1). Every answer comes from the program itself (argus --complete), so nothing here has to know its
# commands and options.

# File names that match the regular expression and folders, for the part of the word behind "--option="; when there is none,
# all names.
function __argus_files --argument-names pattern token
    set -l value (string replace --regex -- '^--[a-z-]+=' '' $token)
    set -l prefix (string match --regex -- '^--[a-z-]+=' $token)
    set -l names (complete -C "__fish_command_without_completions $value" | string replace --regex -- '\t.*' '')
    set -l fitting (string match --regex -- $pattern'|.*/$' $names)
    test (count $fitting) -gt 0; and set names $fitting
    for name in $names
        echo -- "$prefix$name"
    end
end

function __argus_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l program (string replace --regex -- '^~' $HOME $words[1])
    set -e words[1]
    for line in ($program --complete $words "$token" 2>/dev/null)
        set -l parts (string split --max 1 -- \t $line)
        switch $parts[1]
            case ':files'
                __argus_files (string escape --style=regex -- $parts[2] | string replace --all -- '\\*' '.*')'$' "$token"
            case ':command' # counted from 0 behind the program's name
                set -l first (math $parts[2] + 1)
                set -l rest
                test $first -le (count $words); and set rest (string escape -- $words[$first..-1])
                complete -C (string join ' ' -- $rest "$token")
            case '*'
                echo -- $line
        end
    end
end

complete -c argus -f -a '(__argus_complete)'

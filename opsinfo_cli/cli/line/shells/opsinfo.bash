# Completion of opsinfo in bash 4 and later.

_opsinfo() {
    local line=${COMP_LINE:0:COMP_POINT} kind value _ files=
    local typed=${line##*[[:space:]]}
    local before=${typed%"$2"} # bash ends words at `=` and `:`; opsinfo does not

    COMPREPLY=()
    while IFS=$'\t' read -r kind value _; do
        case $kind in
            plain) COMPREPLY+=("${value#"$before"}") ;;
            file) files=yes ;;
        esac
    done < <(_OPSINFO_COMPLETE=bash_complete COMP_WORDS=$line COMP_CWORD='' "$1" 2>/dev/null)

    [[ $files ]] || return
    if ((${#COMPREPLY[@]})); then
        while IFS= read -r value; do
            COMPREPLY+=("$value")
        done < <(compgen -f -- "$2")
        compopt -o filenames 2>/dev/null
    else
        compopt -o default 2>/dev/null
    fi
}

complete -F _opsinfo opsinfo

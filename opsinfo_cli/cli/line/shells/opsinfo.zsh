#compdef opsinfo
# Completion of opsinfo in zsh.

_opsinfo() {
    local line kind value help files=
    local -a fields plain described

    for line in "${(@f)$(_OPSINFO_COMPLETE=zsh_complete COMP_WORDS="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" COMP_CWORD= \
        "${words[1]}" 2>/dev/null)}"; do
        fields=("${(@ps:\t:)line}")
        case ${fields[1]} in
            plain)
                value=${fields[2]} help=${fields[3]}
                if [[ -n $help ]]; then
                    described+=("${value//:/\\:}:$help")
                else
                    plain+=("$value")
                fi
                ;;
            file) files=yes ;;
        esac
    done

    (( ${#described} )) && _describe -V -t values opsinfo described -U
    (( ${#plain} )) && compadd -U -V values -a plain
    [[ -n $files ]] && _files
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _opsinfo "$@"
else
    compdef _opsinfo opsinfo
fi

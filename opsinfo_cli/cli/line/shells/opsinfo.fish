# Completion of opsinfo in fish 3 and later.

function __opsinfo_complete
    set -l tokens (commandline -opc)
    set -l answer (_OPSINFO_COMPLETE=fish_complete COMP_WORDS=(commandline -cp | string collect) COMP_CWORD= $tokens[1] 2>/dev/null)
    for line in $answer
        set -l fields (string split \t -- $line)
        switch $fields[1]
            case plain
                printf '%s\t%s\n' $fields[2] "$fields[3]"
            case file
                complete --do-complete "'' "(commandline -ct)
        end
    end
end

complete --command opsinfo --no-files --arguments '(__opsinfo_complete)'

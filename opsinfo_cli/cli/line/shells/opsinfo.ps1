# Completion of opsinfo in PowerShell 5.1 and later.

Register-ArgumentCompleter -Native -CommandName opsinfo -ScriptBlock {
    param($word, $ast, $cursor)

    $length = $cursor - $ast.Extent.StartOffset
    $before = $env:_OPSINFO_COMPLETE, $env:COMP_WORDS, $env:COMP_CWORD
    $env:_OPSINFO_COMPLETE = 'powershell_complete'
    $env:COMP_WORDS = $ast.ToString().PadRight($length).Substring(0, $length)
    $env:COMP_CWORD = ''
    try {
        $answer = @(& $ast.CommandElements[0].ToString() 2>$null)
    } finally {
        $env:_OPSINFO_COMPLETE, $env:COMP_WORDS, $env:COMP_CWORD = $before
    }

    foreach ($line in $answer) {
        $kind, $value, $help = $line -split "`t"
        if ($kind -eq 'plain') {
            $tip = if ($help) { $help } else { $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $tip)
        } elseif ($kind -eq 'file') {
            Get-ChildItem -Path "$word*" -ErrorAction SilentlyContinue | ForEach-Object {
                $path = $_ | Resolve-Path -Relative
                $shown = if ($path -match '\s') { "'" + $path.Replace("'", "''") + "'" } else { $path }
                [System.Management.Automation.CompletionResult]::new($shown, $_.Name, 'ProviderItem', $_.FullName)
            }
        }
    }
}

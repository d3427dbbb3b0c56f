"""Scripts by which shells complete commands, options and files of the command line."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

Options = Mapping[str, Sequence[str]]

SHELLS = ("bash", "zsh", "fish")


def completion(shell: str, commands: Options, general: Sequence[str]) -> str:
    """The script for a shell.

    Parameters
    ----------
    shell : str
        One of :data:`SHELLS`.
    commands : dict of sequence of str by str
        The options of each command.
    general : sequence of str
        Options in front of commands.

    Examples
    --------
    >>> print(completion("fish", {"info": []}, ["--help"]))
    complete -c dl4py -n __fish_use_subcommand -a 'info' -f
    complete -c dl4py -n __fish_use_subcommand -l help
    """
    if shell == "fish":
        lines = [f"complete -c dl4py -n __fish_use_subcommand -a '{' '.join(commands)}' -f"]
        lines += [f"complete -c dl4py -n __fish_use_subcommand {_fish(o)}" for o in general]
        lines += [f"complete -c dl4py -n '__fish_seen_subcommand_from {name}' {_fish(o)}" for name, own in commands.items() for o in own]
        return "\n".join(lines)
    cases = "\n".join(f"        {name}) words='{' '.join(own)}' ;;" for name, own in commands.items())
    script = f"""_dl4py() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words='{' '.join([*commands, *general])}'
    if [ "$COMP_CWORD" -gt 1 ]; then
        words=''
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _dl4py dl4py"""
    return script if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{script}"


def _fish(option: str) -> str:
    return f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"

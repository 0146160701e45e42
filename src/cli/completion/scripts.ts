/** The scripts that complete command lines in a shell. Each asks crawlnode what to offer, and leaves files to the shell. */

const bash = `# Completion of crawlnode for bash, written by "crawlnode completion bash".
_crawlnode() {
  local line=\${COMP_LINE:0:COMP_POINT} words word before offer
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  word=\${words[\${#words[@]}-1]}
  # bash replaces only what follows the last "=" or ":".
  before=\${word%"\${word##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r offer _; do
    COMPREPLY+=("\${offer#"$before"}")
    [[ $offer == *= ]] && compopt -o nospace 2>/dev/null
  done < <(crawlnode completion words -- "\${words[@]:1}" 2>/dev/null)
}
complete -o bashdefault -o default -F _crawlnode crawlnode`;

const zsh = `#compdef crawlnode
# Completion of crawlnode for zsh, written by "crawlnode completion zsh".
_crawlnode() {
  local -a offers
  offers=(\${(f)"$(crawlnode completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ! $#offers )); then _files
  elif [[ $offers[1] == *= ]]; then compadd -S '' -a offers
  else
    offers=("\${(@)offers//:/\\\\:}")
    offers=("\${(@)offers/$'\\t'/:}")
    _describe word offers
  fi
}
if [[ $funcstack[1] == _crawlnode ]]; then _crawlnode "$@"; else compdef _crawlnode crawlnode; fi`;

const fish = `# Completion of crawlnode for fish, written by "crawlnode completion fish".
function __crawlnode_complete
    set -l words (commandline -opc)
    set -l offers (crawlnode completion words -- $words[2..] "$(commandline -ct)" 2>/dev/null)
    if set -q offers[1]
        printf '%s\\n' $offers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c crawlnode -f -a '(__crawlnode_complete)'`;

export const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

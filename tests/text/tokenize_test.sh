# The program tokenize: ids, pairs, and what bad input gets.
set -u
program=$GFLOW_BIN_DIR/tokenize
[ -x "$program" ] || { echo "skipped: tokenize is not built"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\nthe\n' > "$folder/vocab.txt"
vocab="--tokenizer wordpiece:$folder/vocab.txt"
failures=0

# claim <what> <expected> <got>
claim() {
    [ "$2" = "$3" ] && return
    printf 'FAILED: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}
# refuses <what> <status> <part of the message> <input> <arguments>...
refuses() {
    what=$1 status=$2 part=$3 input=$4
    shift 4
    message=$(printf "$input" | "$program" "$@" 2>&1 > /dev/null)
    claim "$what: exit status" "$status" $?
    claim "$what: lines of the message" 1 "$(printf '%s\n' "$message" | wc -l)"
    case $message in
        tokenize:*"$part"*) ;;
        *) claim "$what: message" "tokenize: …$part…" "$message" ;;
    esac
}

claim 'lines' '3 4 5 6||6' "$(printf 'Unaffable the\n\nTHE\n' | "$program" $vocab | paste -sd '|')"
claim 'last line without an end' '6' "$(printf 'the' | "$program" $vocab)"
claim 'nothing' '' "$("$program" $vocab < /dev/null)"
claim 'pairs' '1 6 2 3 2' "$(printf 'the\tun\n' | "$program" $vocab --pair)"
claim 'unk' '6 0 6' "$(printf 'the <unk> the\n' | "$program" $vocab --unk-as-token)"
claim 'help' 'Examples:' "$("$program" --help | grep Examples)"

refuses 'no tokenizer' 2 'tokenizer' ''
refuses 'unknown option' 2 'tokenize --help' '' $vocab --bogus
refuses 'unknown kind' 2 'got tokenizer=bpe:x' '' --tokenizer bpe:x
refuses 'training' 2 'train:SIZE' '' --tokenizer train:100
refuses 'pairs without wordpiece' 2 '--pair' '' --tokenizer sentencepiece:x --pair
refuses 'missing vocabulary' 1 'file=/no/such' '' --tokenizer wordpiece:/no/such
refuses 'wrong model' 1 'must be a SentencePiece model' '' --tokenizer "sentencepiece:$folder/vocab.txt"
refuses 'not UTF-8' 1 'line 2, byte 4' 'the\nthe\377\n' $vocab
refuses 'no tab' 1 'line 2' 'a\tb\nab\n' $vocab --pair
refuses 'two tabs' 1 'line 1' 'a\tb\tc\n' $vocab --pair

printf 'the\n' | "$program" $vocab > /dev/full 2> /dev/null
claim 'full disk' 1 $?
[ "$failures" = 0 ]

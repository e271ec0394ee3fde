# Who ends the servers of a host that was killed? Reads "set COOKIE [GROUP]" and "drop COOKIE" until
# the end of input, which is the end of the host. Then SIGTERM, up to 1 s of patience, SIGKILL.
trap '' TERM INT HUP QUIT
entries=

forget() {
    kept=
    for entry in $entries; do
        case $entry in
        "$1":*) ;;
        *) kept="$kept $entry" ;;
        esac
    done
    entries=$kept
}

while read -r word cookie group; do
    forget "$cookie"
    case $word in
    set) entries="$entries $cookie:$group" ;;
    esac
done
[ -n "$entries" ] || exit 0

cookies=
for entry in $entries; do
    cookies="$cookies${cookies:+
}${entry%%:*}"
done

signal_groups() {
    reached=1
    for entry in $entries; do
        group=${entry#*:}
        [ -n "$group" ] && kill -s "$1" -- "-$group" && reached=0
    done 2>/dev/null
    return $reached
}

# A grep that stops at NUL bytes (busybox) would miss the cookie: it gets text, one process after the
# other, which takes longer, so that there are fewer turns.
pace=1
if printf 'a\000b' | grep -qF b; then
    bearers() { grep -lF -e "$cookies" /proc/[0-9]*/environ 2>/dev/null; }
else
    pace=4
    bearers() {
        for file in /proc/[0-9]*/environ; do
            echo "=$file" && tr '\000' '\n' <"$file"
        done 2>/dev/null | grep -F -e '=/proc/' -e "$cookies" | while read -r line; do
            case $line in
            =/proc/*) file=${line#=} ;;
            TOOLSPAN_COOKIE=*) echo "$file" ;;
            esac
        done
    }
fi

signal_stragglers() {
    reached=1
    for file in $(bearers); do
        pid=${file#/proc/}
        kill -s "$1" "${pid%/environ}" 2>/dev/null && reached=0
    done
    return $reached
}

turns=0
signal_groups TERM
signal_stragglers TERM
while [ $turns -lt 10 ]; do
    signal_groups 0 || signal_stragglers 0 || exit 0
    sleep 0.1 2>/dev/null || { sleep 1; turns=10; }
    turns=$((turns + pace))
done
signal_groups KILL
turns=0
while [ $turns -lt 10 ]; do
    signal_stragglers KILL || exit 0
    sleep 0.05 2>/dev/null || turns=10
    turns=$((turns + pace))
done
